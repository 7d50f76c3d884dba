"""torch's legacy constructors: one for each dtype, which takes sizes or data.

New programs use `tensor`, `empty` and the other functions instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_tensor.core import dtypes
from mt_tensor.core.dtypes import DType
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.from_numbers import of_sizes_or_data


def _maker(name: str, dtype: DType) -> Callable[..., Tensor]:
    def make(*sizes_or_data: Any) -> Tensor:
        return of_sizes_or_data(sizes_or_data, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Return a {dtype.name} tensor of the given sizes or data; see `tensor`."""
    return make


BFloat16Tensor = _maker("BFloat16Tensor", dtypes.bfloat16)
BoolTensor = _maker("BoolTensor", dtypes.bool_)
ByteTensor = _maker("ByteTensor", dtypes.uint8)
CharTensor = _maker("CharTensor", dtypes.int8)
DoubleTensor = _maker("DoubleTensor", dtypes.float64)
FloatTensor = _maker("FloatTensor", dtypes.float32)
HalfTensor = _maker("HalfTensor", dtypes.float16)
IntTensor = _maker("IntTensor", dtypes.int32)
LongTensor = _maker("LongTensor", dtypes.int64)
ShortTensor = _maker("ShortTensor", dtypes.int16)
