"""Free functions for the methods that rearrange elements, as in torch: `mt.flip(x, (0,))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.tensor import Tensor


@validate_call
def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the same elements in another shape, copying only if necessary.

    Raises:
        ShapeError: the product of the sizes, of which one may be -1, is not the number of elements.
    """
    return input.reshape(shape)


@validate_call
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return a view with one dimension split into several; one of the sizes may be -1.

    Raises:
        ShapeError: the product of the sizes is not the size of the dimension.
        IndexingError: `dim` is out of range, or `input` is 0-D.
    """
    return input.unflatten(dim, sizes)


@validate_call
def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return a view with the dimensions in another order.

    Raises:
        IndexingError: `dims` is not a permutation of the dimensions.
    """
    return input.permute(dims)


@validate_call
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped.

    Raises:
        IndexingError: a dimension is out of range.
    """
    return input.transpose(dim0, dim1)


@validate_call
def broadcast_to(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a view in which sizes of 1 are expanded to another shape.

    Raises:
        ShapeError: the shape cannot be expanded to `shape`.
    """
    return input.expand(size=shape)


@validate_call
def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return a view without dimensions of size 1: all of them, or those among `dim`.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    return input.squeeze(dim)


@validate_call
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return a view with a new dimension of size 1 at position `dim`.

    Raises:
        IndexingError: `dim` is out of range.
    """
    return input.unsqueeze(dim)


@validate_call
def flip(input: Tensor, dims: Any) -> Tensor:
    """Return a copy with the order of elements reversed along dimensions.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    return input.flip(dims=dims)


@validate_call
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a differentiable copy, contiguous or in a memory format.

    Raises:
        ShapeError: the memory format is for another number of dimensions.
    """
    return input.clone(memory_format=memory_format)


@validate_call
def detach(input: Tensor) -> Tensor:
    """Return a view that is not part of the graph."""
    return input.detach()
