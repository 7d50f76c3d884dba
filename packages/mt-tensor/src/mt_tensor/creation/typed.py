"""torch's oldest way to make tensors: a name for each element type, of sizes or of data.

`tensor`, `empty` and the rest say which of the two is meant, and are what new programs use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_tensor.core.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.from_numbers import of_sizes_or_data


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
