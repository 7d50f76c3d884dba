"""The precision that a block of a program asks for, and what operations make of it.

A network trains in half of the memory, and on some processors in a fraction of the time, where its
products are computed in 16 bits; sums, exponentials and losses need the digits and the range of
float32. `autocast` knows which operations are of which kind. While a block is active, operations
give their name and their arguments to these functions, and compute with what they return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mt_autodiff import is_grad_enabled
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import DType, float64
from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor

Kept = dict[tuple[int, int, DType, bool], tuple[Tensor, Tensor]]
"""Parameters that have been converted, and what to; found by what would make them others."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What a block asks for on one kind of device.

    Attributes:
        dtype: the type of operations that are computed in 16 bits.
        lower: the names of these.
        float32: the names of those that are computed in float32.
        rounded: the names of those that are, too, but for their result.
        kept: the parameters that have been converted meanwhile; None to convert them each time.
    """

    dtype: DType
    lower: frozenset[str]
    float32: frozenset[str]
    rounded: frozenset[str]
    kept: Kept | None


asked: ContextVar[Mapping[str, Precision | None]] = ContextVar(
    "mt_tensor_precision", default=MappingProxyType({})
)
"""What is asked for on each kind of device, in this thread or task."""


@extends("call under autocast")
def in_precision(
    name: str, function: Callable[..., Any], args: Sequence[Any], settings: dict[str, Any]
) -> Any:
    """Call a function, the operation called `name`, in the precision that is asked for."""
    given = [*args, *settings.values()]
    first = next((value for value in given if isinstance(value, Tensor)), None)
    result = function(
        *[adjusted(name, value) for value in args],
        **{label: adjusted(name, value) for label, value in settings.items()},
    )
    if first is not None and isinstance(result, Tensor) and first.dtype.is_narrow:
        precision = asked.get().get(first.backend.device)
        if precision is not None and name in precision.rounded:
            return cast(result, first.dtype)
    return result


@extends("argument under autocast")
def adjusted(name: str, value: Any) -> Any:
    """Return an argument of an operation in the precision that is asked for.

    Args:
        name: the operation.
        value: a floating-point tensor is converted, as are those in a list or tuple; all else, and
            float64, stays.
    """
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        return [adjusted(name, each) for each in value]
    if not isinstance(value, Tensor):
        return value
    dtype, precision = value.dtype, asked.get().get(value.backend.device)
    if precision is None or not dtype.is_floating_point or dtype is float64:
        return value
    if name in precision.lower:
        return _converted(value, precision)
    raised = name in precision.float32 or name in precision.rounded
    return cast(value, dtype.computed) if raised else value


def _converted(x: Tensor, precision: Precision) -> Tensor:
    """Return a tensor in 16 bits; a parameter is converted once in a block."""
    kept, dtype = precision.kept, precision.dtype
    if kept is None or x.dtype is dtype or not (x.requires_grad and x.is_leaf):
        return cast(x, dtype)
    key = (id(x), x._tensor.version, dtype, is_grad_enabled())
    if key not in kept:
        kept[key] = x, cast(x, dtype)
    return kept[key][1]
