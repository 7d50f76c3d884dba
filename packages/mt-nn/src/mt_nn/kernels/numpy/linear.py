"""Linear maps: one matrix product forward, and two backward, for all rows of a batch.

NumPy multiplies the matrices of a batch one by one. For small matrices, BLAS spends much of its
time packing the weight, which it repeats for each matrix. The gradient of the weight would be a sum
of one product for each matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_supported, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import Array, FusedKernel


def linear(x: Array, weight: Array, bias: Array | None) -> Array:
    """Return `x @ weight.T + bias` for an array of shape (*batch, inputs)."""
    out: Array = x.reshape(-1, x.shape[-1]) @ weight.T
    if bias is not None:
        out += bias
    return out.reshape(*x.shape[:-1], -1)


class Linear(FusedKernel):
    """Linear map; the arguments are inputs, weights and biases or None.

    Shapes are (*batch, inputs), (outputs, inputs) and (outputs,).
    """

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors are non-empty, and all float32 or all float64."""
        return are_supported(*arguments)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the result; the gradient reads the arguments."""
        x, weight, bias = arguments
        biases = None if bias is None else bias._tensor.array
        out = no_warnings().run(linear, x._tensor.array, weight._tensor.array, biases)
        return tensor_of(out, x), ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of inputs, weights and biases; None if not needed."""
        x, weight, _ = arguments
        upstream, inputs, run = _rows(array_of(grad)), array_of(x), no_warnings().run
        d_x = d_weight = d_bias = None
        if needs[0]:
            product = run(np.matmul, upstream, array_of(weight))
            d_x = tensor_of(product.reshape(inputs.shape), x)
        if needs[1]:
            d_weight = tensor_of(run(np.matmul, upstream.T, _rows(inputs)), x)
        if needs[2]:
            d_bias = tensor_of(run(np.add.reduce, upstream, 0), x)
        return d_x, d_weight, d_bias


def _rows(array: Array) -> Array:
    """Reshape an array to a matrix, without changing the last dimension."""
    rows: Array = array.reshape(-1, array.shape[-1])
    return rows


KERNELS: dict[str, FusedKernel] = {"linear": Linear()}
"""Kernels by name of the operation."""
