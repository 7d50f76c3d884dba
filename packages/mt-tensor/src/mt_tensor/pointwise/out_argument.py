"""The argument `out=`: store the result of a function in an existing tensor.

    mt.maximum(x, y, out=x)

The result is computed first and then copied, so that `out` may be an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff import GradientError, no_grad
from mt_autodiff.core.mode import recording
from mt_tensor.core.dtypes import DType
from mt_tensor.core.extensions import extends
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, ShapeError


@extends("result in out")
def store_result(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], settings: dict[str, Any]
) -> Any:
    """Call a function, and store its result in the tensor `settings["out"]`, which is returned.

    For a function of several results, `out` and the returned value are tuples of as many tensors.

    Raises:
        TypeError: `out` is not a tensor, or not one for each result.
        GradientError: the result or `out` requires grad, and gradients are recorded.
        DTypeError: the dtype of `out` is of a lower category than that of the result.
        ShapeError: the shape of `out` is not that of the result, and `out` is not empty.
    """
    settings = dict(settings)
    out = settings.pop("out")
    if out is None:
        return function(*args, **settings)
    require_tensors(name, *(out if isinstance(out, tuple | list) else (out,)))
    result = function(*args, **settings)
    if isinstance(result, Tensor):
        return _stored(name, out, result)
    if not isinstance(out, tuple | list) or len(out) != len(result):
        raise TypeError(
            f"{name}() takes a tuple of {len(result)} tensors as out; {out!r} was given."
        )
    pairs = zip(out, result, strict=True)
    stored = [_stored(name, target, each) for target, each in pairs]
    return type(result)(*stored) if hasattr(result, "_fields") else tuple(stored)


def _stored(name: str, out: Tensor, result: Tensor) -> Tensor:
    """Store one result in a tensor."""
    common_backend(out, result)
    if recording.get() and (out.requires_grad or result.requires_grad):
        raise GradientError(
            f"{name}() with out= has no gradient: call it inside no_grad(), or use its result."
        )
    if not can_store(result.dtype, out.dtype):
        raise DTypeError(
            f"{name}() computes {result.dtype.name}, which out= of {out.dtype.name} cannot hold: "
            "pass a tensor of the dtype of the result."
        )
    if out.shape != result.shape and out.numel():
        raise ShapeError(
            f"{name}() computes a result of shape {result.shape}; out= has shape {out.shape}. Pass "
            "a tensor of the shape of the result, or an empty one."
        )
    with no_grad():
        if out.shape == result.shape:
            return out.copy_(result)
        out.data = result.to(out.dtype, copy=True)
    return out


def can_store(dtype: DType, target: DType) -> bool:
    """Return whether a tensor of `target` can store results of a dtype; see `torch.can_cast`."""
    return dtype.rank <= target.rank
