"""Elements in kernels: the storage type and the computation type of each dtype."""

from __future__ import annotations

from typing import Literal

from mt_cuda.core.kernel import Parameter
from mt_tensor import DType, bfloat16, bool_, float32, int64

_STORED = {bool_: "uint8", bfloat16: "uint16"}
"""Storage types that differ from the dtype: a bool is 0 or 1, and a bfloat16 its bits."""


def stored_type(dtype: DType) -> str:
    """Return the name of the type in which elements are stored."""
    return _STORED.get(dtype, dtype.name)


def computed(dtype: DType) -> DType:
    """Return the dtype of computations: float32 for 16-bit floats, int64 for bool."""
    return int64 if dtype is bool_ else dtype.computed


def load(element: str, dtype: DType, wanted: DType) -> str:
    """Return the expression that converts an element of `dtype` to the dtype `wanted`."""
    if dtype is bfloat16:
        number = f"float_of_bfloat16({element})"
        return number if wanted is float32 else f"{wanted.name}({number})"
    return element if stored_type(dtype) == wanted.name else f"{wanted.name}({element})"


def store(value: str, dtype: DType) -> str:
    """Return the expression that converts a value, of dtype `dtype` or a bool, for storing."""
    return f"uint8({value})" if dtype is bool_ else value


def operand(name: str, dtype: DType, array: bool = False) -> list[Parameter]:
    """Return parameters `name`, a pointer or an array of `dtype`, and `{name}_at`, its start."""
    passed: Literal["pointer", "array"] = "array" if array else "pointer"
    return [Parameter(name, stored_type(dtype), passed), Parameter(f"{name}_at")]
