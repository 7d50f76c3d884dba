"""The conversion of arguments inside `autocast` blocks.

With products in 16 bits, a network trains in half of the memory, and on some processors in a
fraction of the time; sums, exponentials and losses need the precision and range of float32.
`autocast` lists the operations of each kind. While a block is active, operations pass their names
and arguments to these functions.
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

CastCache = dict[tuple[int, int, DType, bool], tuple[Tensor, Tensor]]
"""Parameters and their converted copies, by identity, version, dtype and grad mode."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The settings of a block for one device type.

    Attributes:
        dtype: the 16-bit dtype.
        lower: the names of operations in 16 bits.
        float32: the names of operations in float32.
        rounded: the names of operations in float32 whose result has the dtype of the input.
        cache: the cache of converted parameters; None to convert them each time.
    """

    dtype: DType
    lower: frozenset[str]
    float32: frozenset[str]
    rounded: frozenset[str]
    cache: CastCache | None


active_precisions: ContextVar[Mapping[str, Precision | None]] = ContextVar(
    "mt_tensor_precision", default=MappingProxyType({})
)
"""The settings for each device type, in this thread or task."""


@extends("call under autocast")
def in_precision(
    name: str, function: Callable[..., Any], args: Sequence[Any], settings: dict[str, Any]
) -> Any:
    """Call the operation `name` in the precision of the active block."""
    given = [*args, *settings.values()]
    first = next((value for value in given if isinstance(value, Tensor)), None)
    result = function(
        *[converted_argument(name, value) for value in args],
        **{label: converted_argument(name, value) for label, value in settings.items()},
    )
    if first is not None and isinstance(result, Tensor) and first.dtype.is_narrow:
        precision = active_precisions.get().get(first.backend.device)
        if precision is not None and name in precision.rounded:
            return cast(result, first.dtype)
    return result


@extends("argument under autocast")
def converted_argument(name: str, value: Any) -> Any:
    """Convert an argument of an operation to the precision of the active block.

    Args:
        name: the name of the operation.
        value: the argument. Floating-point tensors except float64 are converted, also in a list or
            tuple; other values are returned unchanged.
    """
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        return [converted_argument(name, each) for each in value]
    if not isinstance(value, Tensor):
        return value
    dtype, precision = value.dtype, active_precisions.get().get(value.backend.device)
    if precision is None or not dtype.is_floating_point or dtype is float64:
        return value
    if name in precision.lower:
        return _converted(value, precision)
    raised = name in precision.float32 or name in precision.rounded
    return cast(value, dtype.computed) if raised else value


def _converted(x: Tensor, precision: Precision) -> Tensor:
    """Convert a tensor to 16 bits; a parameter is converted once per block."""
    cache, dtype = precision.cache, precision.dtype
    if cache is None or x.dtype is dtype or not (x.requires_grad and x.is_leaf):
        return cast(x, dtype)
    key = (id(x), x._tensor.version, dtype, is_grad_enabled())
    if key not in cache:
        cache[key] = x, cast(x, dtype)
    return cache[key][1]
