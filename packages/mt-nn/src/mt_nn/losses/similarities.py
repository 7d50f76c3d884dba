"""Losses of comparisons: what should be near and is not, or lower and is not."""

from __future__ import annotations

from collections.abc import Callable

from mt_nn.core.arguments import checked
from mt_nn.core.losses import Reduction
from mt_nn.errors import InputError
from mt_nn.losses.differences import check_floating, check_one_shape, reduce
from mt_nn.utils.settings import check
from mt_tensor import Tensor, elementwise, fuse, pairwise_distance

_SMALL = 1e-12
"""What is added to squared lengths before they divide."""


@checked
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return `1 - cos` of vectors that should be alike, and `max(0, cos - margin)` of others.

    Args:
        input1: vectors, shape (batch, size), or (size,).
        input2: vectors to compare them with, of the same shape.
        target: 1 for pairs that should be alike, -1 for others; shape (batch,), or ().
        margin: how alike the others may be.
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        SettingError: there is no such reduction.
    """
    check_one_shape("cosine_embedding_loss", input1, input2)
    if input1.ndim not in (1, 2) or target.shape != input1.shape[:-1]:
        raise InputError(
            "cosine_embedding_loss() takes vectors of shape (batch, size) or (size,) and a target "
            f"for each pair; shapes {input1.shape} and {target.shape} were given."
        )
    lengths = input1.square().sum(-1), input2.square().sum(-1)
    products = (input1 * input2).sum(-1)
    return reduce(_unlikeness(products, *lengths, target, margin), reduction)


@fuse
def _unlikeness(
    products: Tensor, squares1: Tensor, squares2: Tensor, target: Tensor, margin: float
) -> Tensor:
    cosine = products * ((squares1 + _SMALL) * (squares2 + _SMALL)).rsqrt()
    unlike = elementwise("where", target == -1, (cosine - margin).clamp_min(0.0), 0.0)
    return elementwise("where", target == 1, 1.0 - cosine, unlike)


@checked
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return distances of pairs that should be alike, and `max(0, margin - distance)` of others.

    Args:
        input: distances.
        target: 1 for pairs that should be alike, -1 for others; of the same shape.
        margin: how far apart the others should be.
        reduction: mean or sum over all, or none.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: there is no such reduction.
    """
    check_one_shape("hinge_embedding_loss", input, target)
    unlike = (margin - input).clamp_min(0.0).masked_fill(target == 1, 0.0)
    alike = input.masked_fill(target == -1, 0.0)
    return reduce(alike + unlike, reduction)


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
        input2: scores to rank them against.
        target: 1 where the first should be higher, -1 where the second should.
        margin: by how much.
        reduction: mean or sum over all, or none.

    All three have one number of dimensions, and are broadcast together.

    Raises:
        InputError: they have not, or the scores are not floating-point.
        IndexingError: the shapes do not broadcast.
        SettingError: there is no such reduction.
    """
    check_floating("margin_ranking_loss", input1, input2)
    _check_dimensions("margin_ranking_loss", input1, input2, target)
    return reduce((margin - target * (input1 - input2)).clamp_min(0.0), reduction)


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
        positive: vectors that should be near them.
        negative: vectors that should be further away.
        margin: by how much.
        p: the exponent of the norm that distances are.
        eps: what is added to each difference.
        swap: whether the negative's distance to the positive counts, if it is smaller than that to
            the anchor (Balntas et al. 2016).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: the numbers of dimensions differ, or a tensor is not floating-point.
        IndexingError: the shapes do not broadcast.
        SettingError: there is no such reduction, or the margin is not above 0.
    """

    def distance(first: Tensor, second: Tensor) -> Tensor:
        return _difference(first, second, eps).norm(p, -1)

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
    """Return `triplet_margin_loss` with a distance of one's own; Euclid's if it is None."""
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
    return reduce(_excess(near, far, margin), reduction)


@fuse
def _difference(first: Tensor, second: Tensor, eps: float) -> Tensor:
    return first - second + eps


@fuse
def _excess(near: Tensor, far: Tensor, margin: float) -> Tensor:
    return (margin + near - far).clamp_min(0.0)


def _check_dimensions(name: str, *tensors: Tensor) -> None:
    if len({tensor.ndim for tensor in tensors}) > 1:
        shapes = ", ".join(str(tensor.shape) for tensor in tensors)
        raise InputError(
            f"{name}() takes tensors of one number of dimensions; shapes {shapes} were given."
        )
