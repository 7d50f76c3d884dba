"""How users make tensors: of numbers, sequences and arrays, of zeros, and of random numbers.

So far tensors were made of other tensors. Here is how users make the first ones, and what all
functions that do so have in common: which dtype a tensor has, on which backend it lives, and
whether its gradient is wanted. The folder `creation/` has more such functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import numpy as np

from mt_tensor.core.arguments import as_shape, check_addressable, check_floating
from mt_tensor.core.casting import cast_array
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import Array, DType, Number, as_dtype, get_default_dtype
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.generator import Generator, drawing
from mt_tensor.core.host import no_warnings
from mt_tensor.core.registry import Backend, Device, place
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


class Placement(TypedDict, total=False):
    """The options of all functions that make tensors.

    Attributes:
        backend: a backend or its name; by default the current one.
        device: a device instead of a backend; see `mt_tensor.device`.
        requires_grad: whether a gradient is wanted.
    """

    backend: Backend
    device: Device
    requires_grad: bool


def from_values(
    values: Array,
    dtype: DType,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
    own: TensorBackend | None = None,
) -> Tensor:
    """Return a tensor of the elements of an array, converted; may share its memory.

    Its backend is chosen by `place`; the elements are on the backend `own` now, if on any.
    """
    if values.dtype != dtype.numpy:
        values = no_warnings().run(cast_array, values, dtype)
    chosen = place(backend, device, own)
    return new_leaf(chosen.from_host(values), chosen, requires_grad)


def new_leaf(data: TensorData, backend: TensorBackend, requires_grad: bool) -> Tensor:
    """Return a tensor of elements on a backend, a leaf that may require grad.

    Raises:
        DTypeError: it is, but the elements are no floating-point numbers.
        TypeError: `requires_grad` is no bool.
    """
    result = Tensor._make(data, backend)
    return result if requires_grad is False else result.requires_grad_(requires_grad)


def tensor(
    data: Any,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return a new tensor with a copy of `data`.

    Args:
        data: a number, nested sequences of numbers, a NumPy array or scalar, or a tensor; arrays
            and tensors may stand in sequences, too.
        dtype: the dtype; by default float32 for Python floats, int64 for integers, bool
            for bools, the own one of an array or tensor, and what these promote to where
            they are mixed.
        backend: a backend or its name; by default a tensor's own, else the current one.
        requires_grad: whether a gradient is wanted.
        device: a device instead of a backend; see `mt_tensor.device`.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is no number, or the dtype has no counterpart.
    """
    backend_of_data = None
    if isinstance(data, Tensor):
        backend_of_data = data.backend
        values, own = np.array(data.backend.to_host(data._tensor)), data._tensor.layout.dtype
    elif hasattr(type(data), "__array__"):  # an array, or what another library has for one
        values = np.array(np.asarray(data))
        own = as_dtype(values.dtype)
    else:
        read: Callable[..., tuple[Array, DType]] = EXTENSIONS.get("nested sequences", of_numbers)
        values, own = read(data, dtype)
    kind = own if dtype is None else as_dtype(dtype)
    return from_values(values, kind, backend, requires_grad, device, backend_of_data)


def of_numbers(data: Any, _: Any) -> tuple[Array, DType]:
    """Return a number, or nested sequences of numbers, as an array, and their dtype."""
    values = np.array(data)
    return values, get_default_dtype() if values.dtype.kind == "f" else as_dtype(values.dtype)


def new_shape(sizes: tuple[Any, ...], named: Any = None) -> Shape:
    """Return the shape of a new tensor; see `arguments.as_shape`.

    Raises:
        ShapeError: a size is negative, or there would be too many elements.
        TypeError: they were given in two ways.
    """
    shape = as_shape(sizes, named)
    check_addressable(shape)
    return shape


def dtype_or_default(dtype: Any) -> DType:
    """Return a dtype, by default the default dtype."""
    return get_default_dtype() if dtype is None else as_dtype(dtype)


def filled(
    shape: Shape,
    value: Number | None,
    dtype: DType,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
) -> Tensor:
    """Return a tensor of a shape that has been checked, filled with a number that fits.

    None leaves the elements arbitrary.
    """
    chosen = place(backend, device)
    data = chosen.empty(shape, dtype) if value is None else chosen.full(shape, dtype, value)
    return new_leaf(data, chosen, requires_grad)


def zeros(*sizes: Any, size: Any = None, dtype: Any = None, **options: Unpack[Placement]) -> Tensor:
    """Return a tensor of zeros, by default of float32."""
    return filled(new_shape(sizes, size), 0, dtype_or_default(dtype), **options)


def unit(generator: Generator | None, shape: Shape, dtype: DType, backend: TensorBackend) -> Tensor:
    """Return numbers from 0 to below 1: multiples of the spacing below 1, so none rounds to 1."""
    with drawing(generator) as numbers:
        return Tensor._make(backend.random(numbers, shape, dtype), backend)


def rand(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    backend: Backend = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random numbers, uniform from 0 (included) to 1 (excluded), by default of float32.

    Raises:
        ShapeError: a size is negative.
        DTypeError: the dtype is not floating-point.
    """
    kind, shape = dtype_or_default(dtype), new_shape(sizes, size)
    check_floating("rand", kind)
    numbers = unit(generator, shape, kind, place(backend, device))
    return numbers if requires_grad is False else numbers.requires_grad_(requires_grad)
