"""Losses of numbers: how far predictions are from what they should be."""

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
    """Return the mean or the sum of losses, or these; raise SettingError for another reduction."""
    check_reduction(reduction)
    return REDUCTIONS[reduction](losses)


# --- Losses ---------------------------------------------------------------------------------------


@checked
def mse_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean", weight: Tensor | None = None
) -> Tensor:
    """Return the squared difference between `input` and `target`, which have the same shape.

    Args:
        input: predictions.
        target: the correct values.
        reduction: mean or sum over all, or none.
        weight: a weight for each element; the mean is divided by their sum.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: there is no such reduction.
    """
    check_one_shape("mse_loss", input, target)
    return weighted_mean("mse_loss", _squared_difference(input, target), weight, reduction)


@fuse
def _squared_difference(input: Tensor, target: Tensor) -> Tensor:
    return (input - target).square()


def weighted_mean(name: str, losses: Tensor, weight: Tensor | None, reduction: Reduction) -> Tensor:
    """Reduce weighted losses; the mean is divided by the sum of the weights."""
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
    """Return the absolute difference between `input` and `target`; see `mse_loss`."""
    check_one_shape("l1_loss", input, target)
    return weighted_mean("l1_loss", _absolute_difference(input, target), weight, reduction)


@fuse
def _absolute_difference(input: Tensor, target: Tensor) -> Tensor:
    return (input - target).abs()


@checked
def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean", beta: float = 1.0
) -> Tensor:
    """Return the absolute difference, rounded off below `beta` (Girshick 2015, "Fast R-CNN").

    For a difference `d` it is `d^2 / (2 beta)` if that is below `beta`, else `d - beta / 2`.

    Args:
        input: predictions.
        target: what they should be, of the same shape.
        reduction: mean or sum over all, or none.
        beta: where the parabola ends; at 0 there is none.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: there is no such reduction, or `beta` is negative.
    """
    check("beta", beta, beta >= 0, "at least 0")
    check_one_shape("smooth_l1_loss", input, target)
    if beta == 0:
        return reduce(_absolute_difference(input, target), reduction)
    return reduce(_smooth_difference(input, target, beta), reduction)


@checked
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return half the squared difference, continued by lines from `delta` on (Huber 1964).

    For a difference `d` it is `d^2 / 2` if that is below `delta`, else `delta (d - delta / 2)`.

    Args:
        input: predictions.
        target: what they should be, of the same shape.
        reduction: mean or sum over all, or none.
        delta: where the lines begin.
        weight: what each element counts, of the same shape; the mean is over all elements, as in
            torch.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: there is no such reduction, or `delta` is not above 0.
    """
    check("delta", delta, delta > 0, "above 0")
    check_one_shape("huber_loss", input, target)
    losses = _huber(input, target, delta)
    if weight is not None:
        losses = weighted_mean("huber_loss", losses, weight, "none")
    return reduce(losses, reduction)


@fuse
def _huber(input: Tensor, target: Tensor, delta: float) -> Tensor:
    """Write the parabola and the lines as one: `s (d - s / 2)`, with `s` as `d` within `delta`."""
    difference = input - target
    short = elementwise("clamp", difference, -delta, delta)
    return short * (difference - 0.5 * short)


@fuse
def _smooth_difference(input: Tensor, target: Tensor, beta: float) -> Tensor:
    return _huber(input, target, beta) / beta
