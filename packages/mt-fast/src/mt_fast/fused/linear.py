"""Linear maps: one product forward and two backward, without views, copies and sums in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import matmul_floats
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved


def _add_to_rows(lo: Any, hi: Any, rows: Any, bias: Any) -> None:
    """Add the bias to the rows from `lo` to `hi`, in place."""
    for i in range(lo, hi):
        row = rows[i]
        for j in range(row.size):
            row[j] += bias[j]


_ADD = Kernel.of(_add_to_rows)


class _Linear(FusedKernel):
    """Linear map of inputs (*batch, inputs), weight (outputs, inputs) and bias (outputs,)."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors are not empty, and of one dtype, float32 or float64."""
        return is_compiled(*arguments)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return `x @ weight.T + bias`."""
        x, weight, bias = arguments
        out = matmul_floats(_rows(x), array_of(weight).T)
        if bias is not None:
            _ADD.run(len(out), shared(out.size, x), out, array_of(bias))
        return tensor_of(out.reshape(*x._tensor.layout.shape[:-1], -1), x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias, each if it is needed."""
        x, weight, _ = arguments
        upstream = _rows(grad)
        grad_x = grad_weight = grad_bias = None
        if needs[0]:
            grad_x = tensor_of(matmul_floats(upstream, array_of(weight)).reshape(x.shape), x)
        if needs[1]:
            grad_weight = tensor_of(matmul_floats(upstream.T, _rows(x)), x)
        if needs[2]:
            grad_bias = tensor_of(_sum_of_rows(upstream, x), x)
        return grad_x, grad_weight, grad_bias


def _sum_of_rows(rows: Array, x: Tensor) -> Array:
    """Return the sum of rows, on all threads if that pays."""
    if not shared(rows.size, x):
        return np.add.reduce(rows, 0)  # type: ignore[no-any-return]
    data = TensorData.of(rows, row_major(rows.shape, x.dtype))
    return x.backend.reduce(OPERATORS["add"], data, (0,)).array


def _rows(x: Tensor) -> Array:
    """Return a tensor as a matrix whose rows are its last dimension."""
    return array_of(x).reshape(-1, x._tensor.layout.shape[-1])


LINEAR = _Linear()
