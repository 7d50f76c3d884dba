"""Tensors from a rule: evenly spaced numbers, the identity, and indices of triangles."""

from __future__ import annotations

import functools
import math
from typing import Any, Unpack

import numpy as np

from mt_tensor.core.arguments import as_integer
from mt_tensor.core.creation import Placement, dtype_or_default, from_values, new_shape
from mt_tensor.core.dtypes import (
    Array,
    DType,
    Number,
    as_dtype,
    as_number,
    bool_,
    get_default_dtype,
    int64,
)
from mt_tensor.core.named import fused
from mt_tensor.core.registry import Backend, Device, place
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import not_an_array
from mt_tensor.creation.from_numbers import one_number
from mt_tensor.errors import DTypeError, ShapeError

# --- Evenly spaced ------------------------------------------------------------------------------


def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    backend: Backend = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the numbers from `start` on, `step` apart, below `end`; from 0 if one is given.

    Args:
        start: the first number.
        end: the bound, itself left out.
        step: the distance, which may be negative.
        dtype: the element type; by default int64 if all three are integers, else float32. For an
            integer type their fractions are dropped first.
        backend: a backend or its name; by default the current one.
        device: a device instead of a backend; see `mt_tensor.device`.
        requires_grad: whether a gradient is wanted.

    Raises:
        ShapeError: `step` is zero or leads away from `end`, or there would be too many numbers.
        DTypeError: the element type is bool, or too small for the numbers.
        TypeError: a bound or `step` is not a number.
    """
    if end is None:
        start, end = 0, start
    first, bound = one_number("start", 0 if start is None else start), one_number("end", end)
    each = one_number("step", step)
    exact = isinstance(first, int) and isinstance(bound, int) and isinstance(each, int)
    finite = exact or all(map(math.isfinite, (first, bound, each)))
    if dtype is None:
        dtype = int64 if exact else get_default_dtype()
    kind = _numeric("arange", dtype)
    sequence = _sequence(first, bound, each, kind) if finite else None
    if sequence is None:
        raise ShapeError(f"arange() cannot reach {end} from {start} in steps of {step}.")
    home = place(backend, device)
    numbers = _in_steps(Tensor._make(home.empty((0,), kind), home), *sequence)
    return numbers if requires_grad is False else numbers.requires_grad_(requires_grad)


@functools.lru_cache(1024, typed=True)
def _sequence(
    first: Number, bound: Number, step: Number, kind: DType
) -> tuple[int, Number, Number] | None:
    """Return how many numbers `arange` returns, the first, and the step; None if it has no end.

    Raises:
        DTypeError: the element type is too small for the numbers.
    """
    exact = isinstance(first, int) and isinstance(bound, int) and isinstance(step, int)
    if kind.kind == "integer":
        first, bound, step, exact = int(first), int(bound), int(step), True
    if step == 0 or (bound - first) / step < 0:
        return None
    # Integers are exact beyond 2**53, too.
    count = int(-((first - bound) // step)) if exact else math.ceil((bound - first) / step)
    if count:
        kind.checked(first)
        kind.checked(first + (count - 1) * step)
    if kind.kind == "integer":  # beyond int64, too: they wrap around, and so does what follows
        first, step = int64.convert(first), int64.convert(step)
    return count, first, step


@fused("arange")
def _in_steps(like: Tensor, count: int, first: Number, step: Number) -> Tensor:
    """Return `first + step * i` for i from 0 on, in int64 or else float64, as the type of `like`.

    Raises:
        ShapeError: there would be too many numbers.
    """
    try:
        numbers = np.arange(count)
        if len(numbers) != count:  # NumPy's own count has wrapped around
            raise ValueError(count)
        values = numbers if step == 1 and isinstance(step, int) else step * numbers
        values = values if first == 0 and isinstance(first, int) else first + values
    except (ValueError, OverflowError) as error:
        raise not_an_array((count,)) from error
    return from_values(values, like.dtype, own=like.backend)


def linspace(
    start: Any, end: Any, steps: int, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return `steps` numbers evenly spaced from `start` to `end`, both included.

    Raises:
        ShapeError: `steps` is negative or no integer.
        DTypeError: the element type is bool.
    """
    values = _spaced(start, end, steps)
    return from_values(values, _numeric("linspace", dtype_or_default(dtype)), **options)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return `base` to the power of `steps` numbers evenly spaced from `start` to `end`.

    Raises:
        ShapeError: `steps` is negative or no integer.
        DTypeError: the element type is bool.
    """
    with np.errstate(all="ignore"):
        values = np.power(float(as_number("base", base)), _spaced(start, end, steps))
    return from_values(values, _numeric("logspace", dtype_or_default(dtype)), **options)


def _spaced(start: Any, end: Any, steps: int) -> Array:
    (count,) = new_shape(([steps],))
    return np.linspace(float(one_number("start", start)), float(one_number("end", end)), count)


def _numeric(name: str, dtype: Any) -> DType:
    """Return an element type that a sequence of numbers can have."""
    kind = as_dtype(dtype)
    if kind is bool_:
        raise DTypeError(f"{name}() makes numbers; dtype bool was given. Compare them, as in > 0.")
    return kind


# --- Matrices -----------------------------------------------------------------------------------


def eye(n: int, m: int | None = None, dtype: Any = None, **options: Unpack[Placement]) -> Tensor:
    """Return the n×m matrix with ones on the diagonal and zeros elsewhere; square without `m`.

    Raises:
        ShapeError: a size is negative.
    """
    rows, columns = new_shape((n, n if m is None else m))
    return from_values(np.eye(rows, columns), dtype_or_default(dtype), **options)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return where the elements of a matrix on and below a diagonal are: rows, then columns.

    Args:
        row: how many rows the matrix has.
        col: how many columns.
        offset: how far to the right of the main diagonal; negative below it.
        dtype: the element type, by default int64.
        **options: `backend` or `device`; see `Placement`.

    Returns:
        Shape (2, n), row by row; its two rows index such a matrix.

    Raises:
        ShapeError: a size is negative.
        DTypeError: the element type is neither int32 nor int64.
    """
    indices = _triangle(np.tril_indices, row, col, offset)
    return from_values(indices, _index_type("tril_indices", dtype), **options)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return where the elements on and above a diagonal are; see `tril_indices`."""
    indices = _triangle(np.triu_indices, row, col, offset)
    return from_values(indices, _index_type("triu_indices", dtype), **options)


def _triangle(find: Any, row: int, col: int, offset: int) -> Array:
    rows, columns = new_shape((row, col))
    offset = max(-rows - 1, min(as_integer("offset", offset), columns + 1))
    return np.stack(find(rows, offset, columns))


def _index_type(name: str, dtype: Any) -> DType:
    kind = int64 if dtype is None else as_dtype(dtype)
    if kind.name not in ("int32", "int64"):
        raise DTypeError(f"{name}() makes indices of int32 or int64; {kind.name} was given.")
    return kind
