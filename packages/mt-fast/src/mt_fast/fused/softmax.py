"""Softmax and log-softmax in one pass.

The composed softmax reads and writes every element five times, and its gradient as often. Here a
row stays in the cache from the maximum to the last division.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.fused.rows import (
    exponentials_into,
    largest_of,
    sum_of,
    sum_of_exponentials,
    sum_of_products,
)
from mt_fast.memory.aligned import empty_like
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.vector_math.operators import decay, log
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

# --- Kernels on arrays of shape (rows, n) -------------------------------------------------------


def _softmax_rows(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write the softmax of each row."""
    largest = largest_of(x[lo])
    for i in range(lo, hi):
        row, result = x[i], out[i]
        total, largest = exponentials_into(result, row, largest, x[min(i + 1, hi - 1)])
        factor = row.dtype.type(1) / total
        for j in range(row.size):
            result[j] *= factor


def _softmax_gradient_rows(lo: Any, hi: Any, grad: Any, out: Any, result: Any) -> None:
    """Write `out * (grad - sum(grad * out))`."""
    for i in range(lo, hi):
        g, y, r = grad[i], out[i], result[i]
        total = sum_of_products(g, y)
        for j in range(g.size):
            r[j] = y[j] * (g[j] - total)


def _log_softmax_rows(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write `x - log(sum(exp(x)))`, with the largest element subtracted first."""
    next_largest = largest_of(x[lo])
    for i in range(lo, hi):
        row, result, largest = x[i], out[i], next_largest
        total, next_largest = sum_of_exponentials(row, largest, x[min(i + 1, hi - 1)])
        logarithm = log(total)
        for j in range(row.size):
            result[j] = (row[j] - largest) - logarithm


def _log_softmax_gradient_rows(lo: Any, hi: Any, grad: Any, out: Any, result: Any) -> None:
    """Write `grad - exp(out) * sum(grad)`."""
    for i in range(lo, hi):
        g, y, r = grad[i], out[i], result[i]
        total = sum_of(g)
        for j in range(g.size):
            r[j] = g[j] - decay(y[j]) * total


# --- Operations on tensors ----------------------------------------------------------------------


class Rowwise(FusedKernel):
    """An operation along one dimension, whose gradient reads its result.

    Attributes:
        forward: the kernel of the value, over rows of the argument and the result.
        backward: the kernel of the gradient, over rows of the upstream gradient, the result and the
            gradient.
    """

    reads = ()

    def __init__(self, forward: Kernel, backward: Kernel) -> None:
        self.forward = forward
        self.backward = backward

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensor is float32 or float64, not empty and not 0-D."""
        x, _ = arguments
        return x.ndim > 0 and is_compiled(x)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result, which is saved for the gradient."""
        x, dim = arguments
        result = _along(dim, self.forward, x)
        return result, (result,)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the input."""
        (out,), (_, dim) = saved, arguments
        return _along(dim, self.backward, grad, out), None


def _along(dim: int, kernel: Kernel, *tensors: Tensor) -> Tensor:
    """Run a kernel over the rows of tensors of one shape along a dimension."""
    first = tensors[0]
    last = dim in (-1, len(first._tensor.layout.shape) - 1)
    rows: list[Array] = []
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        array = array_of(tensor) if last else _swapped(tensor._tensor.array, dim)
        shape = array.shape
        rows.append(array.reshape(-1, shape[-1]))
    out = empty_like(rows[0])
    kernel.run(len(out), shared(out.size, first), *rows, out)
    result = out.reshape(shape)
    return tensor_of(result if last else _swapped(result, dim), first)


def _swapped(array: Array, dim: int) -> Array:
    """Return a contiguous copy with a dimension and the last one exchanged."""
    return np.ascontiguousarray(array.swapaxes(dim, -1))


SOFTMAX = Rowwise(Kernel.of(_softmax_rows), Kernel.of(_softmax_gradient_rows))
LOG_SOFTMAX = Rowwise(Kernel.of(_log_softmax_rows), Kernel.of(_log_softmax_gradient_rows))
