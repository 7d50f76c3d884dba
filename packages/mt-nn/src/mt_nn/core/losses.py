"""Cross-entropy loss, and accuracy.

The losses of the samples of a batch are reduced to their mean or sum, or not at all. torch's
deprecated arguments `size_average` and `reduce` are not supported; the arguments after them are
keyword-only. `mt_nn.losses` has more losses, and weights and soft targets for this one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mt_nn.core.arguments import checked
from mt_nn.core.errors import InputError, SettingError
from mt_nn.core.extensions import extension
from mt_tensor import Tensor, elementwise, fused, int64, uint8
from mt_tensor.core.conversion import cast
from mt_tensor.core.operands import common_backend
from mt_tensor.core.sums import fold

Reduction = Literal["mean", "sum", "none"]

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda losses: losses.mean(),
    "sum": lambda losses: losses.sum(),
    "none": lambda losses: losses,
}


def check_reduction(reduction: Reduction) -> None:
    """Raise SettingError unless `reduction` is valid."""
    if reduction not in tuple(REDUCTIONS):
        raise SettingError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")


@checked
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the negative log of the softmax probability of the correct class.

    Args:
        input: scores (logits), shape (batch, classes, *rest), or (classes,) for one sample.
        target: the correct classes, int64 or uint8 of shape (batch, *rest), or () for one sample;
            or class probabilities, floating-point with the shape of the scores.
        weight: a weight for each class, shape (classes,). The mean divides by the sum of the
            weights of all targets, or by their number if they are probabilities.
        ignore_index: the target of samples to ignore; it need not be a class.
        reduction: "mean", "sum" or "none".
        label_smoothing: from 0 to 1, the fraction of the target that is distributed evenly over all
            classes (Szegedy et al. 2016, "Rethinking the Inception Architecture").

    Raises:
        InputError: the shapes do not match, or a dtype is invalid.
        DTypeError: the weights have another dtype than the scores.
        IndexingError: a class is out of range.
        SettingError: a setting is invalid, or `ignore_index` is given for probabilities.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    if weight is not None or label_smoothing or target.is_floating_point():
        settings = (weight, ignore_index, reduction, label_smoothing)
        return extension("weights and soft targets")(input, target, *settings)  # type: ignore[no-any-return]
    target = checked_classes("cross_entropy", input, target)
    return for_one_sample(_cross_entropy, input, target, ignore_index, reduction)


@fused("cross_entropy")
def _cross_entropy(
    input: Tensor, target: Tensor, ignore_index: int, reduction: Reduction
) -> Tensor:
    """Compute `cross_entropy` of a batch, without weights.

    Subtract the largest score of each sample first, so that exp does not overflow.
    """
    scores = cast(input, input.dtype.computed)
    shifted = scores - fold("maximum", scores, (1,)) if scores.numel() else scores
    log_probabilities = shifted - shifted.exp().sum(1, keepdim=True).log()
    return _nll_loss(cast(log_probabilities, input.dtype), target, ignore_index, reduction)


def _nll_loss(input: Tensor, target: Tensor, ignore_index: int, reduction: Reduction) -> Tensor:
    """Return the negative log-probability of the correct class, reduced over a batch."""
    counted = target != ignore_index
    classes = elementwise("where", counted, target, 0)
    losses = -input.gather(1, classes.unsqueeze(1)).squeeze(1)
    return reduced(losses, None, counted, reduction)


def reduced(
    losses: Tensor, weights: Tensor | None, counted: Tensor, reduction: Reduction
) -> Tensor:
    """Reduce the counted losses; the mean divides by the sum of their weights."""
    losses = elementwise("where", counted, losses, 0.0)
    if reduction != "mean":
        return REDUCTIONS[reduction](losses)
    weights = counted if weights is None else elementwise("where", counted, weights, 0.0)
    return losses.sum() / weights.sum(dtype=losses.dtype)


def for_one_sample(loss: Any, input: Tensor, target: Tensor, *settings: Any) -> Tensor:
    """Compute a loss; a sample without a batch dimension becomes a batch of one."""
    if input.ndim > 1:
        return loss(input, target, *settings)  # type: ignore[no-any-return]
    result: Tensor = loss(input.unsqueeze(0), target.unsqueeze(0), *settings)
    return result.reshape(())


def checked_classes(name: str, input: Tensor, target: Tensor) -> Tensor:
    """Return the targets as int64, after a check of the shapes and dtypes of scores and targets.

    Raises:
        InputError: a shape or dtype is invalid.
    """
    shape = input._tensor.layout.shape
    if not shape or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point scores of shape (batch, classes, ...) or (classes,); "
            f"shape {input.shape} and {input.dtype.name} were given."
        )
    if target._tensor.layout.shape != (shape[:1] + shape[2:] if len(shape) > 1 else ()):
        raise InputError(
            f"{name}() takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {input.shape} and {target.shape} were given."
        )
    if target.dtype not in (int64, uint8):
        raise InputError(
            f"{name}() takes class indices of int64 or uint8 as targets; {target.dtype.name} was "
            "given. Convert with target.long()."
        )
    if target.backend is not input.backend:
        common_backend(input, target)
    return cast(target, int64)


@checked
def accuracy(input: Tensor, target: Tensor) -> float:
    """Return the fraction of samples for which the correct class has the largest score.

    Args:
        input: scores, shape (batch, classes, *rest).
        target: the correct classes, int64 of shape (batch, *rest).

    Raises:
        InputError: the shapes do not match.
    """
    if input.ndim < 2 or target.shape != (input.shape[0], *input.shape[2:]):
        raise InputError(
            "accuracy() takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {input.shape} and {target.shape} were given."
        )
    guesses = input._numbers().argmax(1)
    return float((guesses == target._numbers()).sum()) / max(target.numel(), 1)
