"""Free functions for the methods that rearrange elements, as in torch: `mt.flip(x, (0,))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.tensor import Tensor


@validate_call
def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the same elements in another shape, copying only if necessary."""
    return input.reshape(shape)


@validate_call
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return a view with one dimension split into several; one of the sizes may be -1."""
    return input.unflatten(dim, sizes)


@validate_call
def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return a view with the dimensions in another order."""
    return input.permute(dims)


@validate_call
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped."""
    return input.transpose(dim0, dim1)


@validate_call
def broadcast_to(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a view in which sizes of 1 are expanded to another shape."""
    return input.expand(size=shape)


@validate_call
def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Drop dimensions of size 1: all of them, or those among `dim`."""
    return input.squeeze(dim)


@validate_call
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return a view with a new dimension of size 1 at position `dim`."""
    return input.unsqueeze(dim)


@validate_call
def flip(input: Tensor, dims: Any) -> Tensor:
    """Return a copy with the order of elements reversed along dimensions."""
    return input.flip(dims=dims)


@validate_call
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a differentiable copy, contiguous or in a memory format."""
    return input.clone(memory_format=memory_format)


@validate_call
def detach(input: Tensor) -> Tensor:
    """Return a view that is not part of the graph."""
    return input.detach()
