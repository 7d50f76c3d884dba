"""Gated linear units: the first half of a dimension times the sigmoid of the second, in one pass.

The composition has a gradient of two tensors, which are then copied to be one. Here both halves are
written where they belong.
"""

from __future__ import annotations

import math
from typing import Any

from mt_fast.core.kernel import Kernel
from mt_fast.memory.aligned import empty, empty_like
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.vector_math.operators import VECTORISED
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

_sigmoid = VECTORISED["sigmoid"]

# --- Kernels on arrays of shape (stretches, 2 n), for each of which there are n results -----------


def _glu(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write the first half of each stretch times the sigmoid of the second."""
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
            opened = _sigmoid(gate[j])
            share = upstream[j] * opened
            of_first[j] = share
            of_gate[j] = share * first[j] * (one - opened)


_FORWARD, _BACKWARD = Kernel.of(_glu), Kernel.of(_glu_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _GLU(FusedKernel):
    """A tensor, and the dimension that is halved, counted from the front."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return is_compiled(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the gated half."""
        x, dim = arguments
        stretches = _stretches(x, dim)
        shape = (*x.shape[:dim], x.shape[dim] // 2, *x.shape[dim + 1 :])
        out = empty(shape, stretches.dtype)
        results = out.reshape(len(stretches), -1)
        _FORWARD.run(len(stretches), shared(stretches.size, x), stretches, results)
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the tensor."""
        x, dim = arguments
        stretches = _stretches(x, dim)
        out = empty_like(stretches)
        upstream = array_of(grad).reshape(len(stretches), -1)
        _BACKWARD.run(len(stretches), shared(stretches.size, x), upstream, stretches, out)
        return tensor_of(out.reshape(x.shape), x), None


def _stretches(x: Tensor, dim: int) -> Array:
    """Return a tensor as rows that each hold the two halves, one after the other."""
    return array_of(x).reshape(math.prod(x.shape[:dim]), -1)


GLU = _GLU()
