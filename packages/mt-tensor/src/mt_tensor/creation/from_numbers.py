"""Constant and uninitialized tensors; see also `core/creation.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from mt_tensor.core.creation import Placement, dtype_or_default, filled, new_shape, tensor
from mt_tensor.core.dtypes import (
    DType,
    Number,
    as_dtype,
    as_number,
    get_default_dtype,
    type_of_number,
)
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.registry import Backend
from mt_tensor.core.strides import is_integer
from mt_tensor.core.tensor import Tensor


def one_number(label: str, value: Any) -> Number:
    """Return a number, given as such or as a tensor of one element.

    Args:
        label: the function and the argument, for error messages.
        value: the value that was given.

    Raises:
        ShapeError: the value is a tensor of another number of elements.
        TypeError: the value is neither a number nor a tensor.
    """
    if value.__class__ is int or value.__class__ is float:
        return value
    if not isinstance(value, Tensor):
        return as_number(label, value)
    if value.numel() != 1:
        raise ShapeError(
            f"{label} must be a number or a tensor of one element; shape {value.shape} was given."
        )
    return as_number(label, value.item())


class InFormat(Placement, total=False):
    """The options of functions that create tensors in any memory format.

    Attributes:
        memory_format: the order of the elements in memory; row-major by default.
    """

    memory_format: Any


def empty(*sizes: Any, size: Any = None, dtype: Any = None, **options: Unpack[InFormat]) -> Tensor:
    """Return an uninitialized tensor.

    Args:
        *sizes: the size of each dimension, or one sequence of them.
        size: the sizes as a sequence, instead.
        dtype: the dtype; the default one if None.
        **options: `memory_format`, the order of the elements in memory, row-major by default; and
            `backend`, `device` and `requires_grad`, as in `tensor`.

    Raises:
        ShapeError: a size is negative, or the memory format is for another number of dimensions.
        TypeError: a size is not an integer, or both `sizes` and `size` were given.
    """
    return filled(new_shape(sizes, size), None, dtype_or_default(dtype), **options)


def full(
    size: Sequence[int], fill_value: Any, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return a tensor in which every element is `fill_value`.

    Args:
        size: the shape, as a sequence.
        fill_value: a number, or a tensor of one element.
        dtype: the dtype; by default that of a tensor, the default dtype for a Python float, int64
            for an integer, bool for a bool.
        **options: `backend`, `device` and `requires_grad`, as in `tensor`.

    Raises:
        ShapeError: `size` is not a sequence, a size is negative, or `fill_value` is a tensor of
            another number of elements.
        DTypeError: `fill_value` is out of the range of the dtype.
        TypeError: a size is not an integer, or `fill_value` is not a number.
    """
    if not isinstance(size, (tuple, list, Sequence)):
        raise ShapeError(f"full() takes the shape as a sequence; size={size!r} was given.")
    number = one_number("full(): fill_value", fill_value)
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else type_of_number(number)
    kind = as_dtype(dtype)
    return filled(new_shape(tuple(size)), kind.checked(number), kind, **options)


def ones(*sizes: Any, size: Any = None, dtype: Any = None, **options: Unpack[Placement]) -> Tensor:
    """Return a tensor of ones.

    Args:
        *sizes: the size of each dimension, or one sequence of them.
        size: the sizes as a sequence, instead.
        dtype: the dtype; the default one if None.
        **options: `backend`, `device` and `requires_grad`, as in `tensor`.

    Raises:
        ShapeError: a size is negative.
        TypeError: a size is not an integer, or both `sizes` and `size` were given.
    """
    return filled(new_shape(sizes, size), 1, dtype_or_default(dtype), **options)


def of_sizes_or_data(
    name: str, arguments: tuple[Any, ...], dtype: DType, backend: Backend = None
) -> Tensor:
    """Return an uninitialized tensor of the given sizes, or a tensor with a copy of data.

    Args:
        name: the function that the user called.
        arguments: integers, which are sizes, or a single sequence, array or tensor.
        dtype: the dtype.
        backend: a backend or its name; by default that of a tensor, else the current one.

    Raises:
        ShapeError: a size is negative, or sequences are ragged.
        DTypeError: an element is not a number.
        TypeError: there are several arguments that are not sizes.
    """
    if all(is_integer(each) and not isinstance(each, Tensor) for each in arguments):
        return empty(*(arguments or (0,)), dtype=dtype, backend=backend)
    if len(arguments) > 1:
        raise TypeError(
            f"{name}() takes integers, the sizes, or a single sequence, array or tensor; "
            f"{arguments!r} were given."
        )
    return tensor(arguments[0], dtype, backend)


def _initialize(self: Tensor, sizes_or_data: tuple[Any, ...]) -> None:
    self._become(of_sizes_or_data("Tensor", sizes_or_data, get_default_dtype()))
