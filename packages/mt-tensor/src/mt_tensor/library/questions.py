"""What code asks of a tensor: its rank and type under all of torch's names."""

from __future__ import annotations

from typing import Any

from mt_tensor.errors import ShapeError
from mt_tensor.public import function, method, operation
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensor import Tensor


@function
def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Tensor)


@function
def numel(input: Tensor) -> int:
    """Return the number of elements."""
    require_tensors("numel", input)
    return input.numel()


@function
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    require_tensors("is_floating_point", input)
    return input.is_floating_point()


@operation
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers, which tensors here never have."""
    require_tensors("is_complex", input)
    return False


@operation
def is_signed(input: Tensor) -> bool:
    """Whether the elements may be negative."""
    require_tensors("is_signed", input)
    return input.dtype.is_signed


@operation
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero.

    Raises:
        ShapeError: there is not exactly one element.
    """
    require_tensors("is_nonzero", input)
    if input.numel() != 1:
        raise ShapeError(f"is_nonzero() asks for one element; shape {input.shape} was given.")
    return bool(input)


@operation
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    require_tensors("is_same_size", input, other)
    return input.shape == other.shape


@method
def ndimension(self: Tensor) -> int:
    """Return the number of dimensions."""
    return self.ndim


@method
def nelement(self: Tensor) -> int:
    """Return the number of elements."""
    return self.numel()
