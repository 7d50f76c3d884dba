"""Gated linear units: the first half of a dimension times the sigmoid of the second, in one pass.

The gradient of the composition consists of two tensors, which are then copied into one. Here the
gradients of both halves are written to their place directly.
"""

from __future__ import annotations

import math
from typing import Any

from mt_fast.core.kernel import Kernel
from mt_fast.memory.aligned import empty, empty_like
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.vector_math.operators import VECTORIZED
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

_sigmoid = VECTORIZED["sigmoid"]

# --- Kernels: inputs have shape (rows, 2 n), results (rows, n) ------------------------------------


def _glu(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write the first half of each row times the sigmoid of the second."""
    for i in range(lo, hi):
        result = out[i]
        first, gate = x[i, : result.size], x[i, result.size :]
        for j in range(result.size):
            result[j] = first[j] * _sigmoid(gate[j])


def _glu_gradient(lo: Any, hi: Any, grad: Any, x: Any, out: Any) -> None:
    """Write the gradients of both halves."""
    one = x.dtype.type(1)
    for i in range(lo, hi):
        upstream = grad[i]
        first, gate = x[i, : upstream.size], x[i, upstream.size :]
        of_first, of_gate = out[i, : upstream.size], out[i, upstream.size :]
        for j in range(upstream.size):
            sigmoid = _sigmoid(gate[j])
            gated = upstream[j] * sigmoid
            of_first[j] = gated
            of_gate[j] = gated * first[j] * (one - sigmoid)


_FORWARD, _BACKWARD = Kernel.of(_glu), Kernel.of(_glu_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _GLU(FusedKernel):
    """GLU on a tensor and the dimension to halve, which is not negative."""

    def fits(self, *arguments: Any) -> bool:
        """Require a non-empty tensor of float32 or float64."""
        return is_compiled(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the first half times the sigmoid of the second."""
        x, dim = arguments
        rows = _halves(x, dim)
        shape = (*x.shape[:dim], x.shape[dim] // 2, *x.shape[dim + 1 :])
        out = empty(shape, rows.dtype)
        results = out.reshape(len(rows), -1)
        _FORWARD.run(len(rows), shared(rows.size, x), rows, results)
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the tensor."""
        x, dim = arguments
        rows = _halves(x, dim)
        out = empty_like(rows)
        upstream = array_of(grad).reshape(len(rows), -1)
        _BACKWARD.run(len(rows), shared(rows.size, x), upstream, rows, out)
        return tensor_of(out.reshape(x.shape), x), None


def _halves(x: Tensor, dim: int) -> Array:
    """Return a tensor as rows that each hold the two halves, one after the other."""
    return array_of(x).reshape(math.prod(x.shape[:dim]), -1)


GLU = _GLU()
