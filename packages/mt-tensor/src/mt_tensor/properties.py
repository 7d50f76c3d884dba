"""What code asks of a tensor: shape, strides, rank and type under all of torch's names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import numpy_names
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.subscripts import Select
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.tape import refuse_to_capture


def __len__(self: Tensor) -> int:
    """Return the size of the first dimension."""
    if not self.shape:
        raise TypeError("a 0-dimensional tensor has no length.")
    return self.shape[0]


def __iter__(self: Tensor) -> Iterator[Tensor]:
    """Iterate over the slices of the first dimension."""
    if not self.shape:
        raise TypeError("a 0-dimensional tensor cannot be iterated over.")
    return (Select.apply(self, (i,)) for i in range(self.shape[0]))


def dim(self: Tensor) -> int:
    """Return the number of dimensions."""
    return self.ndim


@numpy_names
def size(self: Tensor, dim: int | None = None) -> Any:
    """Return the shape, or the size of one dimension."""
    return self.shape if dim is None else _extent(self.shape, dim)


@numpy_names
def stride(self: Tensor, dim: int | None = None) -> Any:
    """Return how many elements of the storage lie between neighbours in each dimension."""
    strides = self._tensor.layout.strides
    return strides if dim is None else _extent(strides, dim)


def storage_offset(self: Tensor) -> int:
    """Return where in the storage the first element lies."""
    refuse_to_capture("looks at where in memory elements lie")
    return self._tensor.layout.offset


def _extent(sizes: tuple[int, ...], dim: int) -> int:
    """Return what belongs to a dimension; there is none in a 0-dimensional tensor."""
    normal = normalize_dim(dim, len(sizes))
    if not sizes:
        raise IndexingError(f"a 0-dimensional tensor has no dimension {dim}.")
    return sizes[normal]


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Tensor)


@validate_call
def numel(input: Tensor) -> int:
    """Return the number of elements."""
    return input.numel()


@validate_call
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return input.is_floating_point()


@validate_call
def is_complex(input: Tensor) -> bool:  # noqa: ARG001 - whatever it is
    """Whether the elements are complex numbers, which tensors here never have."""
    return False


@validate_call
def is_signed(input: Tensor) -> bool:
    """Whether the elements may be negative."""
    return input.dtype.is_signed


@validate_call
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero.

    Raises:
        ShapeError: there is not exactly one element.
    """
    if input.numel() != 1:
        raise ShapeError(f"is_nonzero() asks for one element; shape {input.shape} was given.")
    return bool(input)


@validate_call
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input.shape == other.shape
