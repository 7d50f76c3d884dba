"""Making tensors: from Python numbers, NumPy arrays, or a rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.registry import get_backend
from mt_tensor.dtypes import DType, Number, as_dtype, float32, type_of_number
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.strides import Shape
from mt_tensor.tensors import Tensor

Backend = str | TensorBackend | None


def unpack_sizes(sizes: tuple[Any, ...]) -> Shape:
    """Accept `f(2, 3)` as well as `f((2, 3))`, and check the extents.

    Raises:
        ShapeError: an extent is no integer, or negative.
    """
    if len(sizes) == 1 and isinstance(sizes[0], Sequence):
        sizes = tuple(sizes[0])
    for extent in sizes:
        if not isinstance(extent, int | np.integer) or extent < 0:
            raise ShapeError(f"a shape is made of non-negative integers; {sizes} was given.")
    return tuple(int(extent) for extent in sizes)


def from_values(
    values: npt.NDArray[Any], dtype: Any, backend: Backend, requires_grad: bool
) -> Tensor:
    """Return a tensor of the elements of an array, converted; may share its memory."""
    chosen = get_backend(backend)
    with np.errstate(all="ignore"):
        converted = values.astype(as_dtype(dtype).numpy, copy=False)
    result = Tensor._make(chosen.upload(converted), chosen)
    return result.requires_grad_() if requires_grad else result


def tensor(
    data: Any, dtype: Any = None, backend: Backend = None, requires_grad: bool = False
) -> Tensor:
    """Return a new tensor with a copy of `data`.

    Args:
        data: a number, nested sequences of numbers, a NumPy array or scalar, or a tensor.
        dtype: the element type; by default float32 for Python floats, int64 for integers, bool
            for truth values, and an array's own.
        backend: a backend or its name; by default the current one.
        requires_grad: whether a gradient is wanted.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is no number, or the element type has no counterpart.
    """
    if isinstance(data, Tensor):
        chosen = data.backend if backend is None else backend
        return from_values(
            np.array(data.detach().numpy()), dtype or data.dtype, chosen, requires_grad
        )
    typed = isinstance(data, np.ndarray | np.generic)
    try:
        values = np.array(data)
    except ValueError as error:
        raise ShapeError(
            f"nested sequences must have equal lengths at each level ({error})."
        ) from None
    if dtype is None:
        dtype = as_dtype(values.dtype) if typed else _type_of_list(values)
    elif values.dtype.kind not in "biuf":
        raise DTypeError(f"{data!r} holds something that is no number, or too large a one.")
    if not typed and values.size:
        for extreme in (values.min(), values.max()):
            as_dtype(dtype).checked(extreme.item())
    return from_values(values, dtype, backend, requires_grad)


def _type_of_list(values: npt.NDArray[Any]) -> DType:
    """Return torch's element type for Python numbers that NumPy has read."""
    if values.size == 0:
        return float32
    first = values.reshape(-1).tolist()[0]
    if values.dtype.kind not in "biuf":
        raise DTypeError(
            f"a tensor is made of numbers of at most 64 bits; {first!r} of type "
            f"{type(first).__name__} was given."
        )
    return type_of_number(first)


def from_numpy(array: npt.NDArray[Any], backend: Backend = None) -> Tensor:
    """Return a tensor that shares the memory of a contiguous array, if the backend is on the host.

    Raises:
        DTypeError: the array's element type has no counterpart.
    """
    return from_values(array, as_dtype(array.dtype), backend, False)


def full(
    size: Sequence[int],
    fill_value: Number,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor in which every element is `fill_value`."""
    chosen = get_backend(backend)
    kind = type_of_number(fill_value) if dtype is None else as_dtype(dtype)
    value = kind.checked(fill_value)
    result = Tensor._make(chosen.full(unpack_sizes(tuple(size)), kind, value), chosen)
    return result.requires_grad_() if requires_grad else result


def zeros(
    *size: Any, dtype: Any = "float32", backend: Backend = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of zeros."""
    return full(unpack_sizes(size), 0, dtype or "float32", backend, requires_grad)


def ones(
    *size: Any, dtype: Any = "float32", backend: Backend = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of ones."""
    return full(unpack_sizes(size), 1, dtype or "float32", backend, requires_grad)


def full_like(x: Tensor, fill_value: Number, dtype: Any = None) -> Tensor:
    """Return a tensor of the shape, element type and backend of `x` filled with a number."""
    return full(x.shape, fill_value, dtype or x.dtype, x.backend)


def zeros_like(x: Tensor, dtype: Any = None) -> Tensor:
    """Return zeros of the shape, element type and backend of `x`."""
    return full_like(x, 0, dtype)


def ones_like(x: Tensor, dtype: Any = None) -> Tensor:
    """Return ones of the shape, element type and backend of `x`."""
    return full_like(x, 1, dtype)


def arange(
    start: Number,
    end: Number | None = None,
    step: Number = 1,
    dtype: Any = None,
    backend: Backend = None,
) -> Tensor:
    """Return the numbers from `start` on, `step` apart, below `end`; from 0 if one is given.

    Raises:
        ShapeError: `step` is zero or leads away from `end`.
    """
    start, end = (0, start) if end is None else (start, end)
    finite = all(math.isfinite(number) for number in (start, end, step))
    if not finite or step == 0 or (end - start) / step < 0:
        raise ShapeError(f"arange() cannot reach {end} from {start} in steps of {step}.")
    if dtype is None:
        integers = all(isinstance(number, int) for number in (start, end, step))
        dtype = "int64" if integers else "float32"
    return from_values(np.arange(start, end, step), dtype, backend, False)


def linspace(
    start: float, end: float, steps: int, dtype: Any = "float32", backend: Backend = None
) -> Tensor:
    """Return `steps` numbers evenly spaced from `start` to `end`, both included."""
    (steps,) = unpack_sizes((steps,))
    return from_values(np.linspace(start, end, steps), dtype, backend, False)


def eye(n: int, m: int | None = None, dtype: Any = "float32", backend: Backend = None) -> Tensor:
    """Return the matrix with ones on the diagonal and zeros elsewhere."""
    n, m = unpack_sizes((n, n if m is None else m))
    return from_values(np.eye(n, m), dtype, backend, False)
