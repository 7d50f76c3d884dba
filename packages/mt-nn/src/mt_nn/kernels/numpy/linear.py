"""Linear maps: all rows of a batch in one product forward, and in two backward.

NumPy multiplies a batch by a matrix piece by piece: the shorter the pieces, the longer BLAS spends
on bringing the matrix into the order that it needs, again for each. And the gradient of the matrix
would be a product for each piece, of which the sum remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_computed, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import Array, FusedKernel


def linear(x: Array, weight: Array, bias: Array | None) -> Array:
    """Return `x @ weight.T + bias` for an array of shape (*batch, inputs)."""
    out: Array = x.reshape(-1, x.shape[-1]) @ weight.T
    if bias is not None:
        out += bias
    return out.reshape(*x.shape[:-1], -1)


class Linear(FusedKernel):
    """Inputs of shape (*batch, inputs), weights (outputs, inputs) and biases (outputs,)."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        return are_computed(*arguments)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the result; the gradient reads the arguments."""
        x, weight, bias = arguments
        added = None if bias is None else bias._tensor.array
        out = no_warnings().run(linear, x._tensor.array, weight._tensor.array, added)
        return tensor_of(out, x), ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of inputs, weights and biases, each if it is wanted."""
        x, weight, _ = arguments
        upstream, inputs, run = _rows(array_of(grad)), array_of(x), no_warnings().run
        of_x = of_weight = of_bias = None
        if needs[0]:
            product = run(np.matmul, upstream, array_of(weight))
            of_x = tensor_of(product.reshape(inputs.shape), x)
        if needs[1]:
            of_weight = tensor_of(run(np.matmul, upstream.T, _rows(inputs)), x)
        if needs[2]:
            of_bias = tensor_of(run(np.add.reduce, upstream, 0), x)
        return of_x, of_weight, of_bias


def _rows(array: Array) -> Array:
    """Return a matrix whose rows are the last dimension of an array."""
    rows: Array = array.reshape(-1, array.shape[-1])
    return rows


KERNELS: dict[str, FusedKernel] = {"linear": Linear()}
"""The kernels by the name of the operation."""
