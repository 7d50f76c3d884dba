"""Elements in kernels: how each dtype is stored, and what it is computed with."""

from __future__ import annotations

from typing import Literal

from mt_cuda.core.kernel import Parameter
from mt_tensor import DType, bfloat16, bool_, float32, int64

_STORED = {bool_: "uint8", bfloat16: "uint16"}
"""Dtypes that are others in memory: a bool is 0 or 1, and a bfloat16 its bits."""


def stored_type(dtype: DType) -> str:
    """Return the name of the dtype that elements have in memory."""
    return _STORED.get(dtype, dtype.name)


def computed(dtype: DType) -> DType:
    """Return the dtype that elements are computed with: float32 for 16 bits, int64 for bool."""
    return int64 if dtype is bool_ else dtype.computed


def load(element: str, dtype: DType, wanted: DType) -> str:
    """Return the expression that reads an element of `dtype` as a number of dtype `wanted`."""
    if dtype is bfloat16:
        number = f"float_of_bfloat16({element})"
        return number if wanted is float32 else f"{wanted.name}({number})"
    return element if stored_type(dtype) == wanted.name else f"{wanted.name}({element})"


def store(value: str, dtype: DType) -> str:
    """Return the expression of a value, of dtype `dtype` or a bool, as it is stored."""
    return f"uint8({value})" if dtype is bool_ else value


def operand(name: str, dtype: DType, array: bool = False) -> list[Parameter]:
    """Return the parameters of one operand: its storage, and the position of its first element."""
    passed: Literal["pointer", "array"] = "array" if array else "pointer"
    return [Parameter(name, stored_type(dtype), passed), Parameter(f"{name}_at")]
