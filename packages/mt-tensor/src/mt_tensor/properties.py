"""Properties of tensors under torch's names: shape, strides, number of dimensions, dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import numpy_names
from mt_tensor.core.layout import row_major
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.subscripts import Select
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.tape import refuse_to_capture


def __len__(self: Tensor) -> int:
    """Return the size of the first dimension.

    Raises:
        TypeError: the tensor is 0-D.
    """
    if not self.shape:
        raise TypeError(
            "len() needs a tensor with at least one dimension; a 0-dimensional one was given."
        )
    return self.shape[0]


def __iter__(self: Tensor) -> Iterator[Tensor]:
    """Iterate over the slices along the first dimension.

    Raises:
        TypeError: the tensor is 0-D.
    """
    if not self.shape:
        raise TypeError("a 0-dimensional tensor cannot be iterated over.")
    return (Select.apply(self, (i,)) for i in range(self.shape[0]))


def dim(self: Tensor) -> int:
    """Return the number of dimensions."""
    return self.ndim


@numpy_names
def size(self: Tensor, dim: int | None = None) -> Any:
    """Return the shape, or the size of one dimension.

    Raises:
        IndexingError: `dim` is out of range, or the tensor is 0-D.
    """
    return self.shape if dim is None else _of_dimension("size", self.shape, dim)


@numpy_names
def stride(self: Tensor, dim: int | None = None) -> Any:
    """Return the strides in elements, or the stride of one dimension.

    Raises:
        IndexingError: `dim` is out of range, or the tensor is 0-D.
    """
    strides = self._tensor.layout.strides
    return strides if dim is None else _of_dimension("stride", strides, dim)


def storage_offset(self: Tensor) -> int:
    """Return the position of the first element in the storage, in elements.

    Raises:
        CompileError: a program is being recorded.
    """
    refuse_to_capture("reads the address of elements")
    return self._tensor.layout.offset


def get_device(self: Tensor) -> int:
    """Return the index of the device: 0 for a GPU, -1 for the CPU."""
    return -1 if self.backend.device == "cpu" else 0


def is_unsupported(self: Tensor) -> bool:  # noqa: ARG001 - the same for all tensors
    """Return False: tensors are dense, real and stored in ordinary memory."""
    return False


def itself(self: Tensor) -> Tensor:
    """Return the tensor itself: it is real and dense, and needs no pinning or sharing of memory."""
    return self


def storage(self: Tensor) -> Tensor:
    """Return a one-dimensional tensor of the entire storage, which views of the tensor share."""
    data = self._tensor
    count = data.storage.nbytes // data.dtype.itemsize
    return self._with(data.with_layout(row_major((count,), data.dtype)))


def _of_dimension(name: str, sizes: tuple[int, ...], dim: int) -> int:
    """Return the size or stride of a dimension.

    Raises:
        IndexingError: the dimension is out of range, or the tensor is 0-D.
    """
    normal = normalize_dim(dim, len(sizes))
    if not sizes:
        raise IndexingError(f"{name}(): a 0-dimensional tensor has no dimension {dim}.")
    return sizes[normal]


def is_tensor(obj: Any) -> bool:
    """Return whether an object is a tensor."""
    return isinstance(obj, Tensor)


@validate_call
def numel(input: Tensor) -> int:
    """Return the number of elements."""
    return input.numel()


@validate_call
def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is floating-point."""
    return input.is_floating_point()


@validate_call
def is_complex(input: Tensor) -> bool:  # noqa: ARG001 - no dtype is complex
    """Return False: complex numbers are not supported."""
    return False


@validate_call
def is_signed(input: Tensor) -> bool:
    """Return whether the dtype can represent negative numbers."""
    return input.dtype.is_signed


@validate_call
def is_nonzero(input: Tensor) -> bool:
    """Return whether a single element is nonzero.

    Raises:
        ShapeError: there is not exactly one element.
    """
    if input.numel() != 1:
        raise ShapeError(f"is_nonzero() needs a single element; shape {input.shape} was given.")
    return bool(input)


@validate_call
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape."""
    return input.shape == other.shape
