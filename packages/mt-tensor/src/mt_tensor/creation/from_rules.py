"""Making tensors from a rule: filled with a number, or evenly spaced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from mt_tensor.arguments import as_integer, as_shape, check_addressable
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.devices import Backend, Device, place
from mt_tensor.creation.from_data import from_values, new_leaf
from mt_tensor.dtypes import (
    Array,
    DType,
    Number,
    as_dtype,
    as_number,
    bool_,
    get_default_dtype,
    int64,
    type_of_number,
)
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.public import function
from mt_tensor.recording.function import require_tensors
from mt_tensor.strides import Shape
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import not_an_array


def new_shape(extents: tuple[Any, ...], named: Any = None) -> Shape:
    """Return the shape of a new tensor; see `arguments.as_shape`.

    Raises:
        ShapeError: an extent is negative, or there would be too many elements.
        TypeError: they were given in two ways.
    """
    shape = as_shape(extents, named)
    check_addressable(shape)
    return shape


def _number(name: str, value: Any) -> Number:
    """Return a number, which may be the only element of a tensor."""
    return as_number(name, value.item() if isinstance(value, Tensor) else value)


def _or_default(dtype: Any) -> DType:
    """Return the element type that was asked for, or the default."""
    return get_default_dtype() if dtype is None else as_dtype(dtype)


# --- Filled -------------------------------------------------------------------------------------


@function
def empty(
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return a tensor with arbitrary elements, to be overwritten.

    Raises:
        ShapeError: an extent is negative.
    """
    chosen = place(backend, device)
    data = chosen.empty(new_shape(sizes, size), _or_default(dtype))
    return new_leaf(data, chosen, requires_grad)


@function
def full(
    size: Sequence[int],
    fill_value: Any,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return a tensor in which every element is `fill_value`.

    Args:
        size: the shape, as one sequence.
        fill_value: a number, or a tensor of one element.
        dtype: the element type; by default a tensor's own, float32 for a Python float, int64 for
            an integer, bool for a truth value.
        backend: a backend or its name; by default the current one.
        requires_grad: whether a gradient is wanted.
        device: a device instead of a backend; see `mt_tensor.device`.

    Raises:
        ShapeError: `size` is no sequence of non-negative integers.
        DTypeError: `fill_value` does not fit the element type.
        TypeError: it is no number.
    """
    if not isinstance(size, Sequence):
        raise ShapeError(f"full() takes its shape as one sequence, as in ({size},).")
    number = _number("fill_value", fill_value)
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else type_of_number(number)
    kind = as_dtype(dtype)
    return _filled(
        new_shape(tuple(size)), kind.checked(number), kind, place(backend, device), requires_grad
    )


def _filled(
    shape: Shape, value: Number, dtype: DType, backend: TensorBackend, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of a shape that has been checked, filled with a number that fits."""
    return new_leaf(backend.full(shape, dtype, value), backend, requires_grad)


@function
def zeros(
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return a tensor of zeros, by default of float32."""
    return _filled(
        new_shape(sizes, size), 0, _or_default(dtype), place(backend, device), requires_grad
    )


@function
def ones(
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return a tensor of ones, by default of float32."""
    return _filled(
        new_shape(sizes, size), 1, _or_default(dtype), place(backend, device), requires_grad
    )


# --- Like another tensor ------------------------------------------------------------------------


class Options(TypedDict, total=False):
    """What a tensor made after the model of another may differ in; the rest is the model's.

    Attributes:
        dtype: the element type.
        backend: a backend or its name.
        requires_grad: whether a gradient is wanted; False if not given.
        device: a device instead of a backend.
    """

    dtype: Any
    backend: Backend
    requires_grad: bool
    device: Device


def after(model: Tensor, options: Options) -> dict[str, Any]:
    """Return options in which what is left out, or None, is the model's."""
    if not options:
        return {"dtype": model.dtype, "backend": model.backend}
    chosen: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    backend, device = chosen.pop("backend", None), chosen.pop("device", None)
    chosen["backend"] = place(backend, device, model.backend)
    chosen["dtype"] = as_dtype(chosen["dtype"]) if "dtype" in chosen else model.dtype
    return chosen


@function
def empty_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Return arbitrary elements, by default of the shape, type and backend of `input`."""
    require_tensors("empty_like", input)
    return empty(input.shape, **after(input, options))


@function
def full_like(input: Tensor, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """Return a number everywhere, by default of the shape, type and backend of `input`.

    Args:
        input: the model.
        fill_value: a number, or a tensor of one element.
        **options: another `dtype` or `backend`, and `requires_grad`, as in `full`.
    """
    require_tensors("full_like", input)
    chosen = after(input, options)
    number = chosen["dtype"].checked(_number("fill_value", fill_value))
    return _filled(input.shape, number, **chosen)


@function
def zeros_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Return zeros, by default of the shape, type and backend of `input`."""
    require_tensors("zeros_like", input)
    return _filled(input.shape, 0, **after(input, options))


@function
def ones_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Return ones, by default of the shape, type and backend of `input`."""
    require_tensors("ones_like", input)
    return _filled(input.shape, 1, **after(input, options))


# --- Evenly spaced ------------------------------------------------------------------------------


def _numeric(name: str, dtype: Any) -> DType:
    """Return an element type that a sequence of numbers can have."""
    kind = as_dtype(dtype)
    if kind is bool_:
        raise DTypeError(f"{name}() makes numbers; dtype bool was given. Compare them, as in > 0.")
    return kind


@function
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return the numbers from `start` on, `step` apart, below `end`; from 0 if one is given.

    Args:
        start: the first number.
        end: the bound, itself left out.
        step: the distance, which may be negative.
        dtype: the element type; by default int64 if all three are integers, else float32. For an
            integer type their fractions are dropped first.
        backend: a backend or its name; by default the current one.
        requires_grad: whether a gradient is wanted.
        device: a device instead of a backend; see `mt_tensor.device`.

    Raises:
        ShapeError: `step` is zero or leads away from `end`, or there would be too many numbers.
        DTypeError: the element type is bool, or too small for the numbers.
        TypeError: a bound or `step` is no number.
    """
    if end is None:
        start, end = 0, start
    given = {"start": 0 if start is None else start, "end": end, "step": step}
    bounds = [_number(name, value) for name, value in given.items()]
    if not all(map(math.isfinite, bounds)):
        raise ShapeError(f"arange() cannot reach {end} from {start} in steps of {step}.")
    if dtype is None:
        dtype = int64 if all(isinstance(number, int) for number in bounds) else get_default_dtype()
    kind = _numeric("arange", dtype)
    first, bound, each = map(int, bounds) if kind.kind == "integer" else bounds
    if each == 0 or (bound - first) / each < 0:
        raise ShapeError(f"arange() cannot reach {end} from {start} in steps of {step}.")
    integers = [number for number in (first, bound, each) if isinstance(number, int)]
    if len(integers) == 3:  # exact beyond 2**53, too
        count = -((integers[0] - integers[1]) // integers[2])
    else:
        count = math.ceil((bound - first) / each)
    if count:
        kind.checked(first)
        kind.checked(first + (count - 1) * each)
    try:
        if kind.kind == "integer":  # beyond int64, too: they wrap around, and so does what follows
            first, each = int64.convert(first), int64.convert(each)
        numbers = np.arange(count)
        if len(numbers) != count:  # NumPy's own count has wrapped around
            raise ValueError(count)
        values = first + each * numbers
    except (ValueError, OverflowError) as error:
        raise not_an_array((count,)) from error
    return from_values(values, kind, place(backend, device), requires_grad)


def _spaced(start: Any, end: Any, steps: int) -> Array:
    (count,) = new_shape(([steps],))
    return np.linspace(float(_number("start", start)), float(_number("end", end)), count)


@function
def linspace(
    start: Any,
    end: Any,
    steps: int,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return `steps` numbers evenly spaced from `start` to `end`, both included.

    Raises:
        ShapeError: `steps` is negative or no integer.
        DTypeError: the element type is bool.
    """
    values = _spaced(start, end, steps)
    return from_values(
        values, _numeric("linspace", _or_default(dtype)), place(backend, device), requires_grad
    )


@function
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return `base` to the power of `steps` numbers evenly spaced from `start` to `end`.

    Raises:
        ShapeError: `steps` is negative or no integer.
        DTypeError: the element type is bool.
    """
    with np.errstate(all="ignore"):
        values = np.power(float(as_number("base", base)), _spaced(start, end, steps))
    return from_values(
        values, _numeric("logspace", _or_default(dtype)), place(backend, device), requires_grad
    )


@function
def eye(
    n: int,
    m: int | None = None,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return the n×m matrix with ones on the diagonal and zeros elsewhere; square without `m`.

    Raises:
        ShapeError: an extent is negative.
    """
    rows, columns = new_shape((n, n if m is None else m))
    return from_values(
        np.eye(rows, columns), _or_default(dtype), place(backend, device), requires_grad
    )


@function
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    backend: Backend = None,
    device: Device = None,
) -> Tensor:
    """Return where the elements of a matrix on and below a diagonal are: rows, then columns.

    Args:
        row: how many rows the matrix has.
        col: how many columns.
        offset: how far to the right of the main diagonal; negative below it.
        dtype: the element type, by default int64.
        backend: a backend or its name; by default the current one.
        device: a device instead of a backend; see `mt_tensor.device`.

    Returns:
        Shape (2, n), row by row; its two rows index such a matrix.

    Raises:
        ShapeError: an extent is negative.
        DTypeError: the element type is neither int32 nor int64.
    """
    return _triangle(
        "tril_indices", np.tril_indices, row, col, offset, dtype, place(backend, device)
    )


@function
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    backend: Backend = None,
    device: Device = None,
) -> Tensor:
    """Return where the elements on and above a diagonal are; see `tril_indices`."""
    return _triangle(
        "triu_indices", np.triu_indices, row, col, offset, dtype, place(backend, device)
    )


def _triangle(
    name: str, find: Any, row: int, col: int, offset: int, dtype: Any, backend: TensorBackend
) -> Tensor:
    rows, columns = new_shape((row, col))
    kind = int64 if dtype is None else as_dtype(dtype)
    if kind.name not in ("int32", "int64"):
        raise DTypeError(f"{name}() makes indices of int32 or int64; {kind.name} was given.")
    offset = max(-rows - 1, min(as_integer("offset", offset), columns + 1))
    return from_values(np.stack(find(rows, offset, columns)), kind, backend, False)
