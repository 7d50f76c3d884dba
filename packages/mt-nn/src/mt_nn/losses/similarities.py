"""Losses for similarities, distances and rankings."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mt_nn.core.arguments import checked
from mt_nn.core.losses import Reduction
from mt_nn.errors import InputError
from mt_nn.losses.differences import check_floating, check_one_shape, reduce
from mt_nn.utils.settings import check
from mt_tensor import Tensor, elementwise, fuse, get_default_dtype, pairwise_distance

_SMALL = 1e-12
"""Added to squared norms before a division by them."""


@checked
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return `1 - cos` for similar pairs of vectors, and `max(0, cos - margin)` for others.

    Args:
        input1: vectors, shape (batch, size), or (size,).
        input2: vectors, of the same shape.
        target: 1 for similar pairs, -1 for dissimilar ones; shape (batch,), or ().
        margin: the largest cosine of dissimilar pairs that has no loss.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: a shape or dtype is invalid.
        SettingError: the reduction is invalid.
    """
    check_one_shape("cosine_embedding_loss", input1, input2)
    if input1.ndim not in (1, 2) or target.shape != input1.shape[:-1]:
        raise InputError(
            "cosine_embedding_loss() takes vectors of shape (batch, size) or (size,) and a target "
            f"for each pair; shapes {input1.shape} and {target.shape} were given."
        )
    first, second = (_floating(x.square().sum(-1)) for x in (input1, input2))
    products = (input1 * input2).sum(-1)
    similar, dissimilar = target == 1, target + 1 == 0  # unsigned integers wrap around
    losses = _cosine_loss(products, first, second, similar, dissimilar, margin)
    return reduce(losses, reduction)


def _floating(x: Tensor) -> Tensor:
    """Convert integers to the default dtype."""
    return x if x.is_floating_point() else x.to(get_default_dtype())


@fuse
def _cosine_loss(
    products: Tensor,
    squares1: Tensor,
    squares2: Tensor,
    similar: Tensor,
    dissimilar: Tensor,
    margin: float,
) -> Tensor:
    cosine = products * ((squares1 + _SMALL) * (squares2 + _SMALL)).rsqrt()
    exceeding = elementwise("where", dissimilar != 0, (cosine - margin).clamp_min(0.0), 0.0)
    return elementwise("where", similar != 0, 1.0 - cosine, exceeding)


@checked
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return the distance of similar pairs, and `max(0, margin - distance)` of dissimilar ones.

    Args:
        input: distances.
        target: 1 for similar pairs, -1 for dissimilar ones; of the same shape.
        margin: the smallest distance of dissimilar pairs that has no loss.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: the reduction is invalid.
    """
    check_one_shape("hinge_embedding_loss", input, target)
    dissimilar = (margin - input).clamp_min(0.0).masked_fill(target == 1, 0.0)
    similar = input.masked_fill(target == -1, 0.0)
    return reduce(similar + dissimilar, reduction)


@checked
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return `max(0, margin - target * (input1 - input2))`.

    Args:
        input1: scores.
        input2: scores, with the same number of dimensions; all tensors are broadcast.
        target: 1 if the first score should be higher, -1 if the second should be.
        margin: the required difference.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: the numbers of dimensions differ, or the scores are not floating-point.
        IndexingError: the shapes do not broadcast.
        SettingError: the reduction is invalid.
    """
    check_floating("margin_ranking_loss", input1, input2)
    _check_dimensions("margin_ranking_loss", input1, input2, target)
    return reduce((-target * (input1 - input2) + margin).clamp_min(0.0), reduction)


@checked
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return `max(0, margin + distance to the positive - distance to the negative)`.

    Args:
        anchor: vectors, shape (batch, size), or (size,).
        positive: vectors that should be closer to the anchor.
        negative: vectors that should be further away.
        margin: the required difference of the distances.
        p: the exponent of the norm.
        eps: added to each difference of elements.
        swap: whether to use the distance of negative and positive if it is smaller than that of
            negative and anchor (Balntas et al. 2016).
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: the numbers of dimensions differ, or a tensor is not floating-point.
        IndexingError: the shapes do not broadcast.
        SettingError: the reduction is invalid, or the margin is not positive.
    """
    distance = functools.partial(pairwise_distance, p=p, eps=eps)
    triplet = (anchor, positive, negative)
    return _triplet("triplet_margin_loss", distance, triplet, margin, swap, reduction)


@checked
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return the loss of `triplet_margin_loss` with a given distance.

    The errors are those of `triplet_margin_loss`.

    Args:
        anchor: a batch of samples.
        positive: samples that should be closer to the anchor.
        negative: samples that should be further away.
        distance_function: returns the distances of two batches; `pairwise_distance` if None.
        margin: the required difference of the distances.
        swap: whether to use the distance of negative and positive if it is smaller than that of
            negative and anchor.
        reduction: "mean", "sum" or "none".
    """
    name = "triplet_margin_with_distance_loss"
    distance, triplet = distance_function or pairwise_distance, (anchor, positive, negative)
    return _triplet(name, distance, triplet, margin, swap, reduction)


def _triplet(
    name: str,
    distance: Callable[[Tensor, Tensor], Tensor],
    triplet: tuple[Tensor, Tensor, Tensor],
    margin: float,
    swap: bool,
    reduction: Reduction,
) -> Tensor:
    check("margin", margin, margin > 0, "above 0")
    check_floating(name, *triplet)
    _check_dimensions(name, *triplet)
    anchor, positive, negative = triplet
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduce((margin + near - far).clamp_min(0.0), reduction)


def _check_dimensions(name: str, *tensors: Tensor) -> None:
    if len({tensor.ndim for tensor in tensors}) > 1:
        shapes = ", ".join(str(tensor.shape) for tensor in tensors)
        raise InputError(
            f"{name}() takes tensors with the same number of dimensions; shapes {shapes} were "
            "given."
        )
