"""Losses of labels, each of which is right or wrong by itself."""

from __future__ import annotations

from typing import Any

from mt_nn.core.arguments import check_alike, checked
from mt_nn.core.losses import Reduction, check_classes, for_one_sample
from mt_nn.errors import InputError
from mt_nn.losses.differences import check_floating, check_one_shape, reduce
from mt_nn.losses.soft_targets import check_class_weights
from mt_nn.utils.settings import check
from mt_tensor import Function, Tensor, arange, fuse, ones, stack
from mt_tensor.extending import as_one_call

# --- Probabilities --------------------------------------------------------------------------------


@checked
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return `-(target log(input) + (1 - target) log(1 - input))`.

    Logarithms count as -100 at least, as in torch, and the gradient's divisor as 1e-12, so that
    both are finite where a probability is 0 or 1. `binary_cross_entropy_with_logits` is exact
    there.

    Args:
        input: probabilities, from 0 to 1.
        target: how probable each should be, of the same shape.
        weight: what each element counts, of a shape that broadcasts to that.
        reduction: mean or sum over all, or none.

    Raises:
        InputError: the shapes differ, or the input or the target is not from 0 to 1.
        DTypeError: the dtypes differ.
        SettingError: there is no such reduction.
    """
    check_one_shape("binary_cross_entropy", input, target)
    check_floating("binary_cross_entropy", target)
    check_alike("binary_cross_entropy", input, target)
    _check_probabilities(input, target)
    return _reduced(_BinaryCrossEntropy.apply(input, target), weight, reduction)


class _BinaryCrossEntropy(Function):
    """The loss with bounded logarithms; its gradient is not that of the bounds, which is 0."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of each element."""
        ctx.save_for_backward(input, target)
        return _bounded_cross_entropy(input, target)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the gradients of probabilities and targets."""
        input, target = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            _slope(grad, input, target) if needs[0] else None,
            grad * (_bounded_log(1 - input) - _bounded_log(input)) if needs[1] else None,
        )


def _bounded_log(x: Tensor) -> Tensor:
    return x.log().clamp_min(-100.0)


@fuse
def _bounded_cross_entropy(input: Tensor, target: Tensor) -> Tensor:
    wrong = (-input).log1p().clamp_min(-100.0)
    loss: Tensor = -(target * _bounded_log(input) + (1.0 - target) * wrong)
    return loss


@fuse
def _slope(grad: Tensor, input: Tensor, target: Tensor) -> Tensor:
    slope: Tensor = grad * (input - target) / (input * (1.0 - input)).clamp_min(1e-12)
    return slope


@as_one_call
def _check_probabilities(input: Tensor, target: Tensor) -> None:
    """Raise unless both are from 0 to 1, for which a device is waited for once."""
    if not input.numel():
        return
    bounds = stack([bound for x in (input, target) for bound in x.detach().aminmax()])
    least, largest = stack(bounds.aminmax()).tolist()
    if least >= 0 and largest <= 1:
        return
    for what, (lowest, highest) in (
        ("binary_cross_entropy() takes probabilities", bounds[:2].tolist()),
        ("targets of binary_cross_entropy() are probabilities", bounds[2:].tolist()),
    ):
        if not (lowest >= 0 and highest <= 1):
            raise InputError(
                f"{what}, from 0 to 1; they are from {lowest:g} to {highest:g}. "
                "Apply sigmoid() first, or use binary_cross_entropy_with_logits()."
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
    """Return the binary cross-entropy of `sigmoid(input)`, exact also for huge scores.

    Args:
        input: scores, any real numbers.
        target: how probable each label should be, of the same shape.
        weight: what each element counts, of a shape that broadcasts to that.
        reduction: mean or sum over all, or none.
        pos_weight: what labels that are right count, against those that are not; it broadcasts,
            too, and so has an element for each label in most cases.

    Raises:
        InputError: the shapes differ, or a tensor is not floating-point.
        SettingError: there is no such reduction.
    """
    check_one_shape("binary_cross_entropy_with_logits", input, target)
    check_floating("binary_cross_entropy_with_logits", target)
    _check_broadcasts("pos_weight", pos_weight, input)
    losses = _logistic_loss(input, target, 1.0 if pos_weight is None else pos_weight)
    return _reduced(losses, weight, reduction)


@fuse
def _logistic_loss(input: Tensor, target: Tensor, pos_weight: Tensor | float) -> Tensor:
    right, wrong = input.logsigmoid().neg(), input.neg().logsigmoid().neg()
    loss: Tensor = pos_weight * target * right + (1.0 - target) * wrong
    return loss


@checked
def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: Reduction = "mean") -> Tensor:
    """Return `log(1 + exp(-target * input))`, for targets that are 1 or -1.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: there is no such reduction.
    """
    check_one_shape("soft_margin_loss", input, target)
    return reduce(-(target * input).logsigmoid(), reduction)


@checked
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return the mean over the labels of their binary cross-entropies.

    Args:
        input: scores, shape (*batch, labels).
        target: 1 for the labels that are right and 0 for the others, of the same shape.
        weight: what each label counts, of a shape that broadcasts to that.
        reduction: mean or sum over the batch, or none.

    Raises:
        InputError: the shapes differ or have no dimensions, or the input is not floating-point.
        SettingError: there is no such reduction.
    """
    check_one_shape("multilabel_soft_margin_loss", input, target)
    if not input.ndim:
        raise InputError("multilabel_soft_margin_loss() takes labels; a single number was given.")
    losses = _reduced(_logistic_loss(input, target, 1.0), weight, "none")
    return reduce(losses.mean(-1), reduction)


# --- Weights --------------------------------------------------------------------------------------


def _check_broadcasts(name: str, weight: Tensor | None, input: Tensor) -> None:
    """Raise InputError unless a weight's shape broadcasts to that of the input."""
    if weight is None:
        return
    sizes = (1,) * (input.ndim - weight.ndim) + weight.shape
    pairs = zip(sizes, input.shape, strict=False)
    if len(sizes) > input.ndim or any(size not in (1, other) for size, other in pairs):
        raise InputError(
            f"{name} must broadcast to shape {input.shape}; shape {weight.shape} was given."
        )


def _reduced(losses: Tensor, weight: Tensor | None, reduction: Reduction) -> Tensor:
    """Put losses together, weighted; the mean is over all elements, as in torch."""
    _check_broadcasts("weight", weight, losses)
    return reduce(losses if weight is None else losses * weight, reduction)


# --- Margins --------------------------------------------------------------------------------------


@as_one_call
def _check_labels(target: Tensor, labels: int) -> None:
    if target.numel() and not ((target >= -1) & (target < labels)).all():
        raise InputError(f"targets are numbers of labels from 0 to {labels - 1}, or -1.")


@checked
def multilabel_margin_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return by how much the scores of right labels are not 1 above those of all others.

    It is the sum over all right labels `j` and all wrong ones `i` of `max(0, 1 - x[j] + x[i])`,
    divided by how many labels there are.

    Args:
        input: scores, shape (batch, labels), or (labels,) of one sample.
        target: numbers of the right labels and then -1; int64 of the same shape. What follows the
            first -1 does not count.
        reduction: mean or sum over the batch, or none.

    Raises:
        InputError: shapes or dtypes do not fit, or a label does not exist.
        SettingError: there is no such reduction.
    """
    check_one_shape("multilabel_margin_loss", input, target)
    if input.ndim not in (1, 2) or target.dtype.name != "int64":
        raise InputError(
            "multilabel_margin_loss() takes scores of shape (batch, labels) or (labels,) and "
            f"numbers of labels of int64; shape {input.shape} and {target.dtype.name} were given."
        )
    labels = input.shape[-1]
    _check_labels(target, labels)
    scores, numbers = input.reshape(-1, labels), target.reshape(-1, labels)
    listed = (numbers >= 0).to(input.dtype).cumprod(1)  # 1 up to the first -1
    numbers = numbers.clamp_min(0)
    all_labels = arange(labels, backend=input.backend)
    named = (numbers.unsqueeze(2) == all_labels).to(input.dtype) * listed.unsqueeze(2)
    wrong = 1.0 - named.amax(1)
    lacking = (1.0 - scores.gather(1, numbers).unsqueeze(2) + scores.unsqueeze(1)).relu()
    losses = (lacking * listed.unsqueeze(2) * wrong.unsqueeze(1)).sum((1, 2)) / labels
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
    """Return by how much the right class's score is not `margin` above those of all others.

    For scores `x` and the class `y` it is the sum over the classes `i != y` of
    `max(0, margin - x[y] + x[i])^p`, times `weight[y]`, divided by how many classes there are.

    Args:
        input: scores, shape (batch, classes), or (classes,) of one sample.
        target: the right class of each, int64 of shape (batch,), or ().
        p: the exponent, 1 or 2.
        margin: how far apart scores should be.
        weight: what each class counts, shape (classes,).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        DTypeError: the weights have another dtype than the scores.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction or exponent.
    """
    check("p", p, p in (1, 2), "1 or 2")
    check_classes("multi_margin_loss", input, target)
    check_class_weights("multi_margin_loss", input, weight)
    if input.ndim > 2:
        raise InputError(
            "multi_margin_loss() takes scores of shape (batch, classes) or (classes,); shape "
            f"{input.shape} was given."
        )

    def loss(input: Tensor, target: Tensor) -> Tensor:
        right = target.unsqueeze(1)
        lacking = (margin - input.gather(1, right) + input).relu()
        lacking = lacking if p == 1 else lacking.square()
        others = ones(*input.shape, dtype=input.dtype, backend=input.backend).scatter(1, right, 0.0)
        losses = (lacking * others).sum(1) / input.shape[1]
        return reduce(losses if weight is None else losses * weight[target], reduction)

    return for_one_sample(loss, input, target)
