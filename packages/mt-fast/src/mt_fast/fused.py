"""Fused operations: several passes over memory in one.

The composed softmax reads and writes every element five times, and its gradient as often. Here a
row stays in the cache from the largest element to the last division. `KERNELS` holds what the
backend offers by name; each entry has the signature of its composed form (`mt_tensor.fused`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mt_fast.codegen import REASSOCIATE
from mt_fast.compilation import Kernel
from mt_fast.spelling import exp, log, maximum
from mt_tensor import Tensor
from mt_tensor.fused import FUSED

Array = npt.NDArray[Any]


# --- Kernels on arrays of shape (rows, n) -------------------------------------------------------

_summing = njit(error_model="numpy", fastmath=set(REASSOCIATE))
"""Compiles a function that is a sum, so that it may be added up in any order."""


@njit(error_model="numpy")
def _largest(row: Any) -> Any:
    """Return the largest element; nan if there is one."""
    largest = row[0]
    for i in range(row.size):
        largest = maximum(largest, row[i])
    return largest


@_summing
def _sum(row: Any) -> Any:
    """Return the sum of a row."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i]
    return total


@_summing
def _sum_of_products(row: Any, other: Any) -> Any:
    """Return the sum of the products of two rows."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i] * other[i]
    return total


def _softmax_rows(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write the exponentials of each row, scaled to add up to 1."""
    for i in range(lo, hi):
        row, result = x[i], out[i]
        largest = _largest(row)
        for j in range(row.size):
            result[j] = exp(row[j] - largest)
        total = _sum(result)
        for j in range(row.size):
            result[j] /= total


def _softmax_gradient_rows(lo: Any, hi: Any, grad: Any, out: Any, result: Any) -> None:
    """Write `out * (grad - sum(grad * out))`."""
    for i in range(lo, hi):
        g, y, r = grad[i], out[i], result[i]
        total = _sum_of_products(g, y)
        for j in range(g.size):
            r[j] = y[j] * (g[j] - total)


def _log_softmax_rows(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write `x - log(sum(exp(x)))`, with the largest element subtracted first."""
    for i in range(lo, hi):
        row, result = x[i], out[i]
        largest = _largest(row)
        for j in range(row.size):
            result[j] = exp(row[j] - largest)
        logarithm = log(_sum(result))
        for j in range(row.size):
            result[j] = (row[j] - largest) - logarithm


def _log_softmax_gradient_rows(lo: Any, hi: Any, grad: Any, out: Any, result: Any) -> None:
    """Write `grad - exp(out) * sum(grad)`."""
    for i in range(lo, hi):
        g, y, r = grad[i], out[i], result[i]
        total = _sum(g)
        for j in range(g.size):
            r[j] = g[j] - exp(y[j]) * total


# --- Operations on tensors ----------------------------------------------------------------------


def _rows(x: Tensor, dim: int) -> Array:
    """Return an array of shape (rows, n) whose rows are the elements of `x` along `dim`."""
    last = x.detach().transpose(dim, -1).contiguous()
    return last.backend.as_array(last._tensor).reshape(-1, last.shape[-1])


def _swapped(ndim: int, dim: int) -> list[int]:
    """Return the order of dimensions in which `dim` and the last have changed places."""
    order = list(range(ndim))
    order[dim], order[-1] = order[-1], order[dim]
    return order


ROWS: dict[str, Kernel] = {
    "softmax": Kernel.of(_softmax_rows),
    "softmax_gradient": Kernel.of(_softmax_gradient_rows),
    "log_softmax": Kernel.of(_log_softmax_rows),
    "log_softmax_gradient": Kernel.of(_log_softmax_gradient_rows),
}
"""What each fused operation does to rows."""


def _along_a_dimension(name: str) -> Callable[..., Tensor]:
    """Return an operation on tensors of one shape: a kernel of `ROWS` along a dimension.

    Numbers and nothing are left to the composition.
    """

    def operation(*operands: Any) -> Tensor:
        *tensors, dim = operands
        x: Tensor = tensors[0]
        if x.numel() == 0 or x.ndim == 0:
            composed: Tensor = FUSED[name](*operands)
            return composed
        arrays = [_rows(tensor, dim) for tensor in tensors]
        out = np.empty_like(arrays[0])
        parallel = out.size >= getattr(x.backend, "parallel_from", 0)
        ROWS[name].run(len(out), parallel, *arrays, out)
        shape = x.transpose(dim, -1).shape
        return x._with(x.backend.upload(out.reshape(shape)).permute(*_swapped(x.ndim, dim)))

    return operation


KERNELS = {name: _along_a_dimension(name) for name in ROWS}
"""The fused operations by name."""
