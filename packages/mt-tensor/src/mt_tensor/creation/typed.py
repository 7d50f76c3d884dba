"""torch's legacy constructors: one for each dtype, which takes sizes or data.

New programs use `tensor`, `empty` and the other functions instead.
"""

from __future__ import annotations

from typing import Any

from mt_tensor.core import dtypes
from mt_tensor.core.dtypes import DType
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.from_numbers import of_sizes_or_data


class TensorType(type):
    """The metaclass of the constructors; the instances of each are the tensors of its dtype."""

    dtype: DType

    def __call__(cls, *sizes_or_data: Any) -> Tensor:
        """Return a tensor of the given sizes or data; see `tensor`."""
        return of_sizes_or_data(cls.__name__, sizes_or_data, cls.dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        """Return whether an object is a tensor of the dtype."""
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


def _maker(name: str, dtype: DType) -> TensorType:
    text = f"Return a tensor of dtype {dtype.name} of the given sizes or data; see `tensor`."
    return TensorType(name, (), {"dtype": dtype, "__doc__": text, "__module__": __name__})


def name_of(dtype: DType) -> str:
    """Return the name of the constructor of a dtype, such as `FloatTensor`."""
    for name, each in globals().items():
        if isinstance(each, TensorType) and each.dtype is dtype:
            return name
    return f"{dtype.name.replace('uint', 'UInt')}Tensor"  # torch has no constructor for it either


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
