"""Evenly spaced numbers, identity matrices, and indices of triangles."""

from __future__ import annotations

import functools
import math
from typing import Any, Unpack

import numpy as np

from mt_tensor.checks import checked_length
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.creation import (
    IgnoredOptions,
    Placement,
    dtype_or_default,
    from_values,
    new_shape,
)
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
from mt_tensor.core.registry import Backend, Device, as_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import not_an_array
from mt_tensor.creation.formats import with_options
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
    **others: Unpack[IgnoredOptions],
) -> Tensor:
    """Return the numbers `start`, `start + step` and so on, up to but excluding `end`.

    `arange(end)` starts from 0.

    Args:
        start: the first number.
        end: the bound, exclusive.
        step: the difference of consecutive numbers, which may be negative.
        dtype: the dtype; by default int64 if all three are integers, else the default dtype. For an
            integer dtype, the three are truncated first.
        backend: a backend or its name; by default the current one.
        device: a device instead of a backend; see `mt_tensor.device`.
        requires_grad: whether the tensor requires grad.
        **others: `layout` and `pin_memory`, as in `tensor`.

    Raises:
        ShapeError: `step` is zero or has the wrong sign, an argument is infinite or nan, or there
            would be too many numbers.
        DTypeError: the dtype is bool, or the numbers are out of its range.
        TypeError: a bound or `step` is not a number.
    """
    if end is None:
        start, end = 0, start
    first = one_number("arange(): start", 0 if start is None else start)
    bound = one_number("arange(): end", end)
    each = one_number("arange(): step", step)
    exact = isinstance(first, int) and isinstance(bound, int) and isinstance(each, int)
    finite = exact or all(map(math.isfinite, (first, bound, each)))
    kind = int64 if exact else get_default_dtype()
    if dtype is not None:
        kind = _numeric("arange", dtype)
    sequence = _sequence(first, bound, each, kind) if finite else None
    if sequence is None:
        raise ShapeError(f"arange() cannot reach {end} from {start} in steps of {step}.")
    chosen = as_backend(backend, device)
    numbers = _arange(Tensor._make(chosen.empty((0,), kind), chosen), *sequence)
    if others:
        numbers = with_options(numbers, others)
    return numbers if requires_grad is False else numbers.requires_grad_(requires_grad)


@functools.lru_cache(1024, typed=True)
def _sequence(
    first: Number, bound: Number, step: Number, kind: DType
) -> tuple[int, Number, Number] | None:
    """Return the number of elements of `arange`, the first, and the step.

    The result is None if `bound` cannot be reached: the step is zero or has the wrong sign.

    Raises:
        DTypeError: the numbers are out of the range of the dtype.
    """
    exact = isinstance(first, int) and isinstance(bound, int) and isinstance(step, int)
    if kind.kind == "integer":
        first, bound, step, exact = int(first), int(bound), int(step), True
    if step == 0 or (bound - first) / step < 0:
        return None
    # Integer arithmetic is exact beyond 2**53.
    count = int(-((first - bound) // step)) if exact else math.ceil((bound - first) / step)
    if count:
        kind.checked(first)
        kind.checked(first + (count - 1) * step)
    if kind.kind == "integer":  # uint64 may exceed int64: wrap around, like the elements
        first, step = int64.convert(first), int64.convert(step)
    return count, first, step


@fused("arange")
def _arange(like: Tensor, count: int, first: Number, step: Number) -> Tensor:
    """Return `first + step * i` for i = 0, 1, ..., computed in int64 or float64, like `like`.

    Raises:
        ShapeError: there would be too many numbers.
    """
    try:
        numbers = np.arange(count)
        if len(numbers) != count:  # NumPy's count has overflowed
            raise ValueError(count)
        values = numbers if step == 1 and isinstance(step, int) else step * numbers
        values = values if first == 0 and isinstance(first, int) else first + values
    except (ValueError, OverflowError) as error:
        raise not_an_array((count,)) from error
    return from_values(values, like.dtype, own=like.backend)


def linspace(
    start: Any, end: Any, steps: int, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return `steps` evenly spaced numbers from `start` to `end`, inclusive.

    Args:
        start: the first number.
        end: the last number.
        steps: the number of elements.
        dtype: the dtype; the default one if None.
        **options: `backend`, `device` and `requires_grad`, as in `tensor`.

    Raises:
        ShapeError: `steps` is negative.
        DTypeError: the dtype is bool.
        TypeError: `steps` is not an integer, or `start` or `end` is not a number.
    """
    values = _spaced("linspace", start, end, steps)
    return from_values(values, _numeric("linspace", dtype_or_default(dtype)), **options)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return `base` to the power of `steps` evenly spaced numbers from `start` to `end`.

    `steps`, `dtype` and the options are those of `linspace`.

    Raises:
        ShapeError: `steps` is negative.
        DTypeError: the dtype is bool.
        TypeError: `steps` is not an integer, or another argument is not a number.
    """
    with np.errstate(all="ignore"):
        values = np.power(
            float(as_number("logspace(): base", base)), _spaced("logspace", start, end, steps)
        )
    return from_values(values, _numeric("logspace", dtype_or_default(dtype)), **options)


def _spaced(name: str, start: Any, end: Any, steps: int) -> Array:
    """Return evenly spaced numbers; each half is computed from its own end, as torch does."""
    count = checked_length(name, "number of steps", steps)
    first = float(one_number(f"{name}(): start", start))
    last = float(one_number(f"{name}(): end", end))
    up, down = np.linspace(first, last, count), np.linspace(last, first, count)
    half = (count + 1) // 2
    return np.concatenate([up[:half], down[::-1][half:]])


def _numeric(name: str, dtype: Any) -> DType:
    """Return a dtype, which must not be bool."""
    kind = as_dtype(dtype)
    if kind is bool_:
        raise DTypeError(f"{name}() does not support dtype=bool: compare numbers, as in x > 0.")
    return kind


# --- Matrices -----------------------------------------------------------------------------------


def eye(n: int, m: int | None = None, dtype: Any = None, **options: Unpack[Placement]) -> Tensor:
    """Return an n×m matrix with ones on the diagonal and zeros elsewhere; `m` is n by default.

    `dtype` and the options are those of `ones`.

    Raises:
        ShapeError: a size is negative.
        TypeError: a size is not an integer.
    """
    rows, columns = new_shape((n, n if m is None else m))
    return from_values(np.eye(rows, columns), dtype_or_default(dtype), **options)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return the indices of the elements of a matrix on and below a diagonal.

    Args:
        row: the number of rows of the matrix.
        col: the number of columns.
        offset: the diagonal: 0 for the main one, positive above it, negative below.
        dtype: the dtype, int64 by default.
        **options: `backend` and `device`, as in `tensor`.

    Returns:
        Shape (2, n), in row-major order: the row indices and the column indices.

    Raises:
        ShapeError: a size is negative.
        DTypeError: the dtype is neither int32 nor int64.
        TypeError: a size or `offset` is not an integer.
    """
    indices = _triangle("tril_indices", np.tril_indices, row, col, offset)
    return from_values(indices, _index_type("tril_indices", dtype), **options)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return the indices of the elements of a matrix on and above a diagonal.

    Arguments, results and errors are those of `tril_indices`.
    """
    indices = _triangle("triu_indices", np.triu_indices, row, col, offset)
    return from_values(indices, _index_type("triu_indices", dtype), **options)


def _triangle(name: str, find: Any, row: int, col: int, offset: int) -> Array:
    rows, columns = new_shape((row, col))
    offset = max(-rows - 1, min(as_integer(f"{name}(): offset", offset), columns + 1))
    return np.stack(find(rows, offset, columns))


def _index_type(name: str, dtype: Any) -> DType:
    kind = int64 if dtype is None else as_dtype(dtype)
    if kind.name not in ("int32", "int64"):
        raise DTypeError(f"{name}() supports int32 and int64; dtype={kind.name} was given.")
    return kind
