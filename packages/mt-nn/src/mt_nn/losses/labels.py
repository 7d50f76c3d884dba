"""Losses for binary labels, and margin losses for classes."""

from __future__ import annotations

from typing import Any

from mt_nn.core.arguments import check_compatible, checked
from mt_nn.core.losses import Reduction, checked_classes, for_one_sample
from mt_nn.errors import InputError
from mt_nn.losses.differences import check_floating, check_one_shape, reduce
from mt_nn.losses.soft_targets import check_class_weights
from mt_nn.utils.settings import check
from mt_tensor import Function, Tensor, arange, fuse, ones, stack
from mt_tensor.extending import as_one_call

# --- Probabilities --------------------------------------------------------------------------------


@checked
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return `-(target * log(input) + (1 - target) * log(1 - input))`.

    As in torch, logarithms are clamped to at least -100, and the divisor of the gradient to at
    least 1e-12, so that both are finite for probabilities of 0 and 1.
    `binary_cross_entropy_with_logits` is exact without clamping.

    Args:
        input: probabilities, from 0 to 1.
        target: the correct probabilities, of the same shape.
        weight: a weight for each element, of a shape that broadcasts to that of the input.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: a shape is invalid, a tensor is not floating-point, or a probability is not from
            0 to 1.
        DTypeError: the dtypes differ.
        SettingError: the reduction is invalid.
    """
    check_one_shape("binary_cross_entropy", input, target)
    check_floating("binary_cross_entropy", target)
    check_compatible("binary_cross_entropy", input, target)
    _check_probabilities(input, target)
    return _reduced(_BinaryCrossEntropy.apply(input, target), weight, reduction)


class _BinaryCrossEntropy(Function):
    """The loss with clamped logarithms, but with a nonzero gradient where they are clamped."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of each element."""
        ctx.save_for_backward(input, target)
        return _clamped_cross_entropy(input, target)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the gradients of the probabilities and the targets."""
        input, target = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            _input_gradient(grad, input, target) if needs[0] else None,
            grad * (_clamped_log(1 - input) - _clamped_log(input)) if needs[1] else None,
        )


def _clamped_log(x: Tensor) -> Tensor:
    return x.log().clamp_min(-100.0)


@fuse
def _clamped_cross_entropy(input: Tensor, target: Tensor) -> Tensor:
    log_complement = (-input).log1p().clamp_min(-100.0)
    loss: Tensor = -(target * _clamped_log(input) + (1.0 - target) * log_complement)
    return loss


@fuse
def _input_gradient(grad: Tensor, input: Tensor, target: Tensor) -> Tensor:
    gradient: Tensor = grad * (input - target) / (input * (1.0 - input)).clamp_min(1e-12)
    return gradient


@as_one_call
def _check_probabilities(input: Tensor, target: Tensor) -> None:
    """Raise InputError unless both are from 0 to 1; wait for the device only once."""
    if not input.numel():
        return
    bounds = stack([bound for x in (input, target) for bound in x.detach().aminmax()]).tolist()
    for name, lowest, highest in (("input", *bounds[:2]), ("target", *bounds[2:])):
        if not (lowest >= 0 and highest <= 1):
            raise InputError(
                f"binary_cross_entropy() takes probabilities from 0 to 1 as {name}; they are from "
                f"{lowest:g} to {highest:g}. Apply sigmoid() first, or use "
                "binary_cross_entropy_with_logits()."
            )


# --- Scores ---------------------------------------------------------------------------------------


@checked
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the binary cross-entropy of `sigmoid(input)`, which is also exact for large scores.

    Args:
        input: scores (logits), floating-point, any shape.
        target: the correct probabilities, of the same shape.
        weight: a weight for each element, of a shape that broadcasts to that of the input.
        reduction: "mean", "sum" or "none".
        pos_weight: a weight for positive targets, in most cases one per label, of a shape that
            broadcasts to that of the input.

    Raises:
        InputError: the shapes differ, or a tensor is not floating-point.
        SettingError: the reduction is invalid.
    """
    check_one_shape("binary_cross_entropy_with_logits", input, target)
    check_floating("binary_cross_entropy_with_logits", target)
    _check_broadcasts("pos_weight", pos_weight, input)
    losses = _logistic_loss(input, target, 1.0 if pos_weight is None else pos_weight)
    return _reduced(losses, weight, reduction)


@fuse
def _logistic_loss(input: Tensor, target: Tensor, pos_weight: Tensor | float) -> Tensor:
    positive, negative = input.logsigmoid().neg(), input.neg().logsigmoid().neg()
    loss: Tensor = pos_weight * target * positive + (1.0 - target) * negative
    return loss


@checked
def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: Reduction = "mean") -> Tensor:
    """Return `log(1 + exp(-target * input))`, for targets that are 1 or -1.

    Args:
        input: scores, floating-point, any shape.
        target: 1 or -1, of the same shape.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: the reduction is invalid.
    """
    check_one_shape("soft_margin_loss", input, target)
    return reduce(-(target * input).logsigmoid(), reduction)


@checked
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return the mean of the binary cross-entropies of the labels.

    Args:
        input: scores (logits), shape (*batch, labels).
        target: 1 for positive labels and 0 for negative ones, of the same shape.
        weight: a weight for each label, of a shape that broadcasts to that of the input.
        reduction: "mean" or "sum" over the batch, or "none".

    Raises:
        InputError: the shapes differ or have no dimensions, or the input is not floating-point.
        SettingError: the reduction is invalid.
    """
    check_one_shape("multilabel_soft_margin_loss", input, target)
    if not input.ndim:
        raise InputError(
            "multilabel_soft_margin_loss() takes scores of shape (*batch, labels); shape () was "
            "given."
        )
    losses = _reduced(_logistic_loss(input, target, 1.0), weight, "none")
    return reduce(losses.mean(-1), reduction)


# --- Weights --------------------------------------------------------------------------------------


def _check_broadcasts(name: str, weight: Tensor | None, input: Tensor) -> None:
    """Raise InputError unless a weight broadcasts to the shape of the input."""
    if weight is None:
        return
    sizes = (1,) * (input.ndim - weight.ndim) + weight.shape
    pairs = zip(sizes, input.shape, strict=False)
    if len(sizes) > input.ndim or any(size not in (1, other) for size, other in pairs):
        raise InputError(
            f"{name} must broadcast to shape {input.shape}; shape {weight.shape} was given."
        )


def _reduced(losses: Tensor, weight: Tensor | None, reduction: Reduction) -> Tensor:
    """Reduce weighted losses; the mean divides by the number of elements, as in torch."""
    _check_broadcasts("weight", weight, losses)
    return reduce(losses if weight is None else losses * weight, reduction)


# --- Margins --------------------------------------------------------------------------------------


@as_one_call
def _check_labels(target: Tensor, labels: int) -> None:
    if target.numel() and not ((target >= -1) & (target < labels)).all():
        lowest, highest = target.min().item(), target.max().item()
        raise InputError(
            f"multilabel_margin_loss() takes labels from 0 to {labels - 1}, or -1, as targets; "
            f"they are from {lowest} to {highest}."
        )


@checked
def multilabel_margin_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return the hinge loss of positive labels against negative ones.

    This is the sum over all positive labels j and all negative ones i of
    `max(0, 1 - x[j] + x[i])`, divided by the number of labels.

    Args:
        input: scores, shape (batch, labels), or (labels,) for one sample.
        target: indices of the positive labels, followed by -1; int64 of the same shape. Elements
            after the first -1 are ignored.
        reduction: "mean" or "sum" over the batch, or "none".

    Raises:
        InputError: a shape or dtype is invalid, or a label is out of range.
        SettingError: the reduction is invalid.
    """
    check_one_shape("multilabel_margin_loss", input, target)
    if input.ndim not in (1, 2) or target.dtype.name != "int64":
        raise InputError(
            "multilabel_margin_loss() takes scores of shape (batch, labels) or (labels,) and "
            f"int64 labels; shape {input.shape} and {target.dtype.name} were given."
        )
    labels = input.shape[-1]
    _check_labels(target, labels)
    scores, indices = input.reshape(-1, labels), target.reshape(-1, labels)
    counted = (indices >= 0).to(input.dtype).cumprod(1)  # 1 up to the first -1
    indices = indices.clamp_min(0)
    all_labels = arange(labels, backend=input.backend)
    one_hot = (indices.unsqueeze(2) == all_labels).to(input.dtype) * counted.unsqueeze(2)
    negative = 1.0 - one_hot.amax(1)
    hinges = (1.0 - scores.gather(1, indices).unsqueeze(2) + scores.unsqueeze(1)).relu()
    losses = (hinges * counted.unsqueeze(2) * negative.unsqueeze(1)).sum((1, 2)) / labels
    return reduce(losses if input.ndim == 2 else losses.reshape(()), reduction)


@checked
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return the hinge loss of the correct class against all others.

    For scores x and the class y, this is the sum over the classes `i != y` of
    `max(0, margin - x[y] + x[i])**p`, times `weight[y]`, divided by the number of classes.

    Args:
        input: scores, shape (batch, classes), or (classes,) for one sample.
        target: the correct classes, int64 or uint8 of shape (batch,), or ().
        p: the exponent, 1 or 2.
        margin: the required difference of scores.
        weight: a weight for each class, shape (classes,).
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: a shape or dtype is invalid.
        DTypeError: the weights have another dtype than the scores.
        IndexingError: a class is out of range.
        SettingError: the reduction or the exponent is invalid.
    """
    check("p", p, p in (1, 2), "1 or 2")
    target = checked_classes("multi_margin_loss", input, target)
    check_class_weights("multi_margin_loss", input, weight)
    if input.ndim > 2:
        raise InputError(
            "multi_margin_loss() takes scores of shape (batch, classes) or (classes,); shape "
            f"{input.shape} was given."
        )

    def loss(input: Tensor, target: Tensor) -> Tensor:
        classes = target.unsqueeze(1)
        hinges = (margin - input.gather(1, classes) + input).relu()
        hinges = hinges if p == 1 else hinges.square()
        others = ones(*input.shape, dtype=input.dtype, backend=input.backend)
        losses = (hinges * others.scatter(1, classes, 0.0)).sum(1) / input.shape[1]
        return reduce(losses if weight is None else losses * weight[target], reduction)

    return for_one_sample(loss, input, target)
