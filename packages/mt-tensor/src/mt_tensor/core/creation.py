"""Create tensors: from numbers, sequences and arrays, filled with zeros, or random.

All creation functions share the arguments that choose a dtype and a backend, and whether the tensor
requires grad. The folder `creation/` has more of them.
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
from mt_tensor.core.registry import Backend, Device, as_backend
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


class IgnoredOptions(TypedDict, total=False):
    """Options of torch that make no difference here.

    Attributes:
        layout: `strided`, since tensors are dense.
        pin_memory: without effect.
    """

    layout: Any
    pin_memory: bool


class Placement(IgnoredOptions, total=False):
    """The options of all functions that create tensors.

    Attributes:
        backend: a backend or its name; by default the current one.
        device: a device instead of a backend; see `mt_tensor.device`.
        requires_grad: whether the tensor requires grad.
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
    **others: Any,
) -> Tensor:
    """Return a tensor of the elements of an array, converted to `dtype`; may share its memory.

    The backend is chosen by `as_backend`. `own` is the backend that the elements come from, if any.
    `others` are the options of torch that `new_leaf` takes.
    """
    if values.dtype != dtype.numpy:
        values = no_warnings().run(cast_array, values, dtype)
    chosen = as_backend(backend, device, own)
    return new_leaf(chosen.from_host(values), chosen, requires_grad, others)


def new_leaf(
    data: TensorData, backend: TensorBackend, requires_grad: bool, others: Any = None
) -> Tensor:
    """Return a leaf tensor of these elements; `others` are further options by name.

    Raises:
        DTypeError: it requires grad, but its dtype is not floating-point.
        TypeError: `requires_grad` is not a bool, or an option is unknown.
    """
    result = Tensor._make(data, backend)
    if others:
        result = EXTENSIONS["options of a new tensor"](result, others)
    return result if requires_grad is False else result.requires_grad_(requires_grad)


def tensor(
    data: Any,
    dtype: Any = None,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
    **others: Unpack[IgnoredOptions],
) -> Tensor:
    """Return a new tensor with a copy of `data`.

    Args:
        data: a number, nested sequences of numbers, a NumPy array or scalar, or a tensor; sequences
            may also contain arrays and tensors.
        dtype: the dtype; by default the dtype of an array or tensor, the default dtype for
            Python floats, int64 for integers, bool for bools, and the promoted dtype of a mixture.
        backend: a backend or its name; by default the backend of `data`, else the current one.
        requires_grad: whether the tensor requires grad.
        device: a device instead of a backend; see `mt_tensor.device`.
        **others: `layout`, which must be `strided`, and `pin_memory`, which has no effect.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is not a number, or tensors have no such dtype.
    """
    backend_of_data = None
    if isinstance(data, Tensor):
        backend_of_data = data.backend
        values, found = np.array(data.backend.to_host(data._tensor)), data._tensor.layout.dtype
    elif hasattr(type(data), "__array__"):  # an array, possibly of another library
        values = np.array(np.asarray(data))
        found = as_dtype(values.dtype)
    else:
        read: Callable[..., tuple[Array, DType]] = EXTENSIONS.get("nested sequences", of_numbers)
        values, found = read(data, dtype)
    kind = found if dtype is None else as_dtype(dtype)
    return from_values(values, kind, backend, requires_grad, device, backend_of_data, **others)


def of_numbers(data: Any, _: Any) -> tuple[Array, DType]:
    """Return the array and the dtype of a number or of nested sequences of numbers."""
    values = np.array(data)
    return values, get_default_dtype() if values.dtype.kind == "f" else as_dtype(values.dtype)


def new_shape(sizes: tuple[Any, ...], named: Any = None) -> Shape:
    """Return the shape of a new tensor; see `arguments.as_shape`.

    Raises:
        ShapeError: a size is negative, or the shape has too many elements.
        TypeError: both positional and named sizes were given.
    """
    shape = as_shape(sizes, named)
    check_addressable(shape)
    return shape


def dtype_or_default(dtype: Any) -> DType:
    """Return `dtype` as a DType; None is the default dtype."""
    return get_default_dtype() if dtype is None else as_dtype(dtype)


def filled(
    shape: Shape,
    value: Number | None,
    dtype: DType,
    backend: Backend = None,
    requires_grad: bool = False,
    device: Device = None,
    **others: Any,
) -> Tensor:
    """Return a tensor filled with a number, or uninitialized if it is None.

    The shape, and the range of the number, must have been checked.
    """
    chosen = as_backend(backend, device)
    data = chosen.empty(shape, dtype) if value is None else chosen.full(shape, dtype, value)
    return new_leaf(data, chosen, requires_grad, others)


def zeros(*sizes: Any, size: Any = None, dtype: Any = None, **options: Unpack[Placement]) -> Tensor:
    """Return a tensor of zeros; the arguments are those of `ones`."""
    return filled(new_shape(sizes, size), 0, dtype_or_default(dtype), **options)


def unit(generator: Generator | None, shape: Shape, dtype: DType, backend: TensorBackend) -> Tensor:
    """Return random numbers in [0, 1): multiples of the spacing below 1, so none rounds to 1."""
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
    **others: Unpack[IgnoredOptions],
) -> Tensor:
    """Return random numbers, uniform in [0, 1), from `generator`; other arguments as for `ones`.

    Raises:
        ShapeError: a size is negative.
        DTypeError: the dtype is not floating-point.
    """
    kind, shape = dtype_or_default(dtype), new_shape(sizes, size)
    check_floating("rand", kind)
    numbers = unit(generator, shape, kind, as_backend(backend, device))
    if others:
        numbers = EXTENSIONS["options of a new tensor"](numbers, others)
    return numbers if requires_grad is False else numbers.requires_grad_(requires_grad)
