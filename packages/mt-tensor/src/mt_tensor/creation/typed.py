"""torch's oldest way to make tensors: a name for each element type, of sizes or of data.

`tensor`, `empty` and the rest say which of the two is meant, and are what new programs use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_tensor.core.devices import Backend
from mt_tensor.core.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from mt_tensor.core.filled import empty
from mt_tensor.core.from_data import tensor
from mt_tensor.core.strides import is_integer
from mt_tensor.core.tensor import Tensor


def of_sizes_or_data(arguments: tuple[Any, ...], dtype: DType, backend: Backend = None) -> Tensor:
    """Return a tensor with arbitrary elements, of sizes, or one with a copy of data.

    Args:
        arguments: integers, which are a shape, or one sequence, array or tensor.
        dtype: the element type.
        backend: a backend or its name; by default a tensor's own, else the current one.

    Raises:
        ShapeError: a size is negative, or sequences are ragged.
        DTypeError: an element is no number.
        TypeError: more than one thing was given, and they are no sizes.
    """
    if all(is_integer(each) and not isinstance(each, Tensor) for each in arguments):
        return empty(*(arguments or (0,)), dtype=dtype, backend=backend)
    if len(arguments) > 1:
        raise TypeError(f"a tensor is made of sizes, or of one sequence; {arguments!r} were given.")
    return tensor(arguments[0], dtype, backend)


def _initialize(self: Tensor, sizes_or_data: tuple[Any, ...]) -> None:
    self._become(of_sizes_or_data(sizes_or_data, get_default_dtype()))


def _maker(name: str, dtype: DType) -> Callable[..., Tensor]:
    def make(*sizes_or_data: Any) -> Tensor:
        return of_sizes_or_data(sizes_or_data, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Return a tensor of {dtype.name}, of sizes or of data; see `tensor`."""
    return make


BFloat16Tensor = _maker("BFloat16Tensor", bfloat16)
BoolTensor = _maker("BoolTensor", bool_)
ByteTensor = _maker("ByteTensor", uint8)
CharTensor = _maker("CharTensor", int8)
DoubleTensor = _maker("DoubleTensor", float64)
FloatTensor = _maker("FloatTensor", float32)
HalfTensor = _maker("HalfTensor", float16)
IntTensor = _maker("IntTensor", int32)
LongTensor = _maker("LongTensor", int64)
ShortTensor = _maker("ShortTensor", int16)
