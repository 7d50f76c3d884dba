"""Linear maps with int8 weights.

For few rows of inputs the time goes into reading the weights, and those of int8 take a quarter of
the bytes: the kernel converts them while it multiplies. For many rows the weights are converted
first, which takes little time then, and the product is that of floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import matmul_floats
from mt_fast.core.tables import empty
from mt_fast.fused.rows import summing
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved

MAX_ROWS = 8
"""The largest number of rows for which weights are converted while they are multiplied."""


@summing
def _product(row: Any, weights: Any) -> Any:
    """Return the sum of the products of a row with integers."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i] * row.dtype.type(weights[i])
    return total


def _int8_products(
    lo: Any, hi: Any, rows: Any, weight: Any, scale: Any, bias: Any, out: Any
) -> None:
    """Compute the outputs from `lo` to `hi` of all rows."""
    for j in range(lo, hi):
        for i in range(len(rows)):
            out[i, j] = _product(rows[i], weight[j]) * scale[j]
        for i in range(len(rows) if bias.size else 0):
            out[i, j] += bias[j]


_PRODUCTS = Kernel.of(_int8_products)


class _Int8Linear(FusedKernel):
    """Linear map of inputs (*batch, inputs), int8 weight (outputs, inputs), scale and bias."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether there are few rows of inputs, of one dtype, float32 or float64."""
        x, weight, scale, bias = arguments
        return is_compiled(x, scale, bias) and x.numel() <= MAX_ROWS * weight.shape[1]

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return `x @ weight.T * scale + bias`."""
        x, weight, scale, bias = arguments
        rows = array_of(x).reshape(-1, weight.shape[1])
        out = empty((len(rows), weight.shape[0]), rows.dtype)
        offset = np.empty(0, rows.dtype) if bias is None else array_of(bias)
        parallel = shared(weight.numel() * len(rows), x)
        _PRODUCTS.run(len(weight), parallel, rows, array_of(weight), array_of(scale), offset, out)
        return tensor_of(out.reshape(*x.shape[:-1], -1), x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, scale and bias."""
        x, weight, scale, bias = arguments
        upstream = array_of(grad).reshape(-1, weight.shape[0])
        floats = array_of(weight).astype(upstream.dtype)
        products = matmul_floats(array_of(x).reshape(-1, weight.shape[1]), floats.T)
        grad_x = matmul_floats(upstream * array_of(scale), floats).reshape(x.shape)
        grad_bias = None if bias is None else tensor_of(upstream.sum(0), x)
        return tensor_of(grad_x, x), None, tensor_of((upstream * products).sum(0), x), grad_bias


INT8_LINEAR = _Int8Linear()
