"""Scans along a dimension, in one launch, or three for a few long rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from mt_cuda.rows.kernels import RowLayout, rows_along
from mt_cuda.scans.kernels import Scan, run, total_type
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor, float64, int64

Name: TypeAlias = Literal["cumsum", "cumprod", "logcumsumexp"]
Extreme: TypeAlias = Literal["cummax", "cummin"]

_LOGADDEXP = (
    "larger = a0 if a0 > b0 else b0",
    "apart = b0 - a0 if a0 > b0 else a0 - b0",
    "sum = larger + math.log1p(math.exp(apart))",
    "return a0 + math.log1p(1.0) if a0 == b0 else sum if apart == apart else a0 + b0",
)
"""The log of a sum of exponentials: equal infinities are kept, and nan gives nan."""

_JOINS = {
    "cumsum": ("0", ("return a0 + b0",)),
    "cumprod": ("1", ("return a0 * b0",)),
    "logcumsumexp": ("-inf", _LOGADDEXP),
}


def fold(name: Name, dtype: DType) -> Scan:
    """Return a cumulative operation on elements of a dtype, with results of that dtype."""
    total = total_type(dtype)
    identity, join = _JOINS[name]
    return Scan(name, (total,), (identity,), join, (dtype,), ("{x0}",), ((dtype, 0),))


def extreme(name: Extreme, dtype: DType) -> Scan:
    """Return the search for the last positions of running extremes.

    A total is the extreme and its position, which is -1 before any element.
    """
    sign = ">=" if name == "cummax" else "<="
    join = (
        f"later = (b1 >= 0) & ((a1 < 0) | (b0 {sign} a0) | (b0 != b0))",
        "return b0 if later else a0, b1 if later else a1",
    )
    totals = (total_type(dtype), int64)
    return Scan(name, totals, ("0", "-1"), join, (dtype,), ("{x0}", "i"), ((int64, 1),))


def recurrence(dtype: DType) -> Scan:
    """Return the scan of `h[i] = x[i] + decay[i] * h[i - 1]`.

    A total is a linear function of the previous `h`: its factor and its constant.
    """
    join = ("return a0 * b0, b0 * a1 + b1",)
    element = ("{x1} if i > 0 else float64(0)", "{x0}")
    totals = (float64, float64)
    outputs = ((dtype, 1),)
    return Scan("recurrence", totals, ("1", "0"), join, (dtype, dtype), element, outputs)


def along(scan: Scan, dim: int, dtype: DType, inputs: Sequence[Tensor]) -> Tensor:
    """Scan tensors of one shape along a dimension; a scalar is a row."""
    first = inputs[0]
    out = new(first, dtype=dtype)
    if first.numel():
        layout = rows_along(first.shape, dim) if first.ndim else RowLayout(1, 1)
        run(ops_of(first), scan, layout, [elements_of(x) for x in inputs], [out])
    return tensor_of(out, first)


def _fold(name: Name) -> Callable[[Tensor, int], Tensor]:
    return lambda x, dim: along(fold(name, x.dtype), dim, x.dtype, [x])


def _extreme(name: Extreme) -> Callable[[Tensor, int], Tensor]:
    return lambda x, dim: along(extreme(name, x.dtype), dim, int64, [x])


def _recurrence(x: Tensor, decay: Tensor, dim: int) -> Tensor:
    return along(recurrence(x.dtype), dim, x.dtype, [x, decay])


KERNELS = {
    "cummax": _extreme("cummax"),
    "cummin": _extreme("cummin"),
    "cumprod": _fold("cumprod"),
    "cumsum": _fold("cumsum"),
    "linear_scan": _recurrence,
    "logcumsumexp": _fold("logcumsumexp"),
}
"""For `mt_tensor.extending.register_kernels`."""
