"""Linear maps: one product forward and two backward, without views, copies and sums in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import of_floats
from mt_fast.memory.arrays import are_of_one_dtype, array_of, is_compiled, shared, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved


def _add_to_rows(lo: Any, hi: Any, rows: Any, bias: Any) -> None:
    """Add biases to the rows from `lo` to `hi`, in place."""
    for i in range(lo, hi):
        row = rows[i]
        for j in range(row.size):
            row[j] += bias[j]


_ADD = Kernel.of(_add_to_rows)


class _Linear(FusedKernel):
    """Inputs of shape (*batch, inputs), weights (outputs, inputs) and biases (outputs,)."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        x, weight, bias = arguments
        return is_compiled(x, weight, bias) and are_of_one_dtype(x, weight, bias)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return `x @ weight.T + bias`."""
        x, weight, bias = arguments
        out = of_floats(_rows(x), array_of(weight).T)
        if bias is not None:
            _ADD.run(len(out), shared(out.size, x), out, array_of(bias))
        return tensor_of(out.reshape(*x._tensor.layout.shape[:-1], -1), x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, weights and biases, each if it is wanted."""
        x, weight, _ = arguments
        upstream = _rows(grad)
        of_x = of_weight = of_bias = None
        if needs[0]:
            of_x = tensor_of(of_floats(upstream, array_of(weight)).reshape(x.shape), x)
        if needs[1]:
            of_weight = tensor_of(of_floats(upstream.T, _rows(x)), x)
        if needs[2]:
            of_bias = tensor_of(_sum_of_rows(upstream, x), x)
        return of_x, of_weight, of_bias


def _sum_of_rows(rows: Array, x: Tensor) -> Array:
    """Return the sum of rows, which all threads add up if it pays."""
    sums: Array
    if shared(rows.size, x):
        data = TensorData.of(rows, row_major(rows.shape, x.dtype))
        sums = x.backend.reduce(OPERATORS["add"], data, (0,)).array
    else:
        sums = np.add.reduce(rows, 0)
    return sums


def _rows(x: Tensor) -> Array:
    """Return a tensor as a matrix whose rows are its last dimension."""
    return array_of(x).reshape(-1, x._tensor.layout.shape[-1])


LINEAR = _Linear()
