"""Regression losses: differences between predictions and targets."""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.losses import REDUCTIONS, Reduction, check_reduction
from mt_nn.errors import InputError
from mt_nn.utils.settings import check
from mt_tensor import Tensor, elementwise, fuse


def check_floating(name: str, *tensors: Tensor) -> None:
    """Raise InputError unless all tensors are floating-point."""
    for tensor in tensors:
        if not tensor.is_floating_point():
            raise InputError(
                f"{name}() takes floating-point tensors; {tensor.dtype.name} was given. Convert "
                "with x.float()."
            )


def check_one_shape(name: str, input: Tensor, target: Tensor) -> None:
    """Raise InputError unless the input is floating-point and the target has its shape.

    A shape that only broadcasts would compare each prediction with the targets of others.
    """
    check_floating(name, input)
    if input.shape != target.shape:
        raise InputError(
            f"{name}() takes two tensors of one shape; {input.shape} and {target.shape} were given."
        )


def reduce(losses: Tensor, reduction: Reduction) -> Tensor:
    """Reduce losses; raise SettingError unless `reduction` is valid."""
    check_reduction(reduction)
    return REDUCTIONS[reduction](losses)


# --- Losses ---------------------------------------------------------------------------------------


@checked
def mse_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean", weight: Tensor | None = None
) -> Tensor:
    """Return the mean squared difference between `input` and `target`, of the same shape.

    Args:
        input: predictions, floating-point, any shape.
        target: the correct values.
        reduction: "mean", "sum" or "none".
        weight: a weight for each element, of the same shape; the mean divides by the sum of the
            weights.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: the reduction is invalid.
    """
    check_one_shape("mse_loss", input, target)
    return weighted_mean("mse_loss", _squared_difference(input, target), weight, reduction)


@fuse
def _squared_difference(input: Tensor, target: Tensor) -> Tensor:
    return (input - target).square()


def weighted_mean(name: str, losses: Tensor, weight: Tensor | None, reduction: Reduction) -> Tensor:
    """Reduce weighted losses; the mean divides by the sum of the weights."""
    if weight is None:
        return reduce(losses, reduction)
    if weight.shape != losses.shape:
        raise InputError(
            f"{name}() takes a weight for each element, of shape {losses.shape}; {weight.shape} "
            "was given."
        )
    if reduction == "mean":
        return (losses * weight).sum() / weight.sum()
    return reduce(losses * weight, reduction)


@checked
def l1_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean", weight: Tensor | None = None
) -> Tensor:
    """Return the mean absolute difference between `input` and `target`.

    The arguments and errors are those of `mse_loss`.
    """
    check_one_shape("l1_loss", input, target)
    return weighted_mean("l1_loss", _absolute_difference(input, target), weight, reduction)


@fuse
def _absolute_difference(input: Tensor, target: Tensor) -> Tensor:
    return (input - target).abs()


@checked
def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean", beta: float = 1.0
) -> Tensor:
    """Return the smooth L1 loss (Girshick 2015, "Fast R-CNN").

    For an absolute difference d, it is `d**2 / (2 * beta)` if d is below `beta`, and `d - beta / 2`
    otherwise.

    Args:
        input: predictions, floating-point, any shape.
        target: the correct values, of the same shape.
        reduction: "mean", "sum" or "none".
        beta: the difference at which the quadratic part ends; 0 for the L1 loss.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: the reduction is invalid, or `beta` is negative.
    """
    check("beta", beta, beta >= 0, "at least 0")
    check_one_shape("smooth_l1_loss", input, target)
    if beta == 0:
        return reduce(_absolute_difference(input, target), reduction)
    return reduce(_huber(input, target, beta) / beta, reduction)


@checked
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return the Huber loss (Huber 1964).

    For an absolute difference d, it is `d**2 / 2` if d is below `delta`, and
    `delta * (d - delta / 2)` otherwise.

    Args:
        input: predictions, floating-point, any shape.
        target: the correct values, of the same shape.
        reduction: "mean", "sum" or "none".
        delta: the difference at which the linear part starts.
        weight: a weight for each element, of the same shape; the mean divides by the number of
            elements, as in torch.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: the reduction is invalid, or `delta` is not positive.
    """
    check("delta", delta, delta > 0, "above 0")
    check_one_shape("huber_loss", input, target)
    losses = _huber(input, target, delta)
    if weight is not None:
        losses = weighted_mean("huber_loss", losses, weight, "none")
    return reduce(losses, reduction)


@fuse
def _huber(input: Tensor, target: Tensor, delta: float) -> Tensor:
    """Compute both parts with one formula: `s (d - s / 2)`, with s = d clamped to `delta`."""
    difference = input - target
    clamped = elementwise("clamp", difference, -delta, delta)
    return clamped * (difference - 0.5 * clamped)
