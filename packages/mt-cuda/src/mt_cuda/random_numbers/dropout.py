"""Dropout in one launch each way: the mask is recomputed from the noise, and never stored."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from mt_cuda.tensors import FloatKernel, ops_of, tensor_of
from mt_operators import Formula
from mt_operators.core.elementary import where
from mt_tensor import Tensor, TensorData
from mt_tensor.extending import Gradients, Needs, Saved

KEPT = Formula("kept", 4, 1, lambda x, noise, p, scale: x * where(noise >= p, scale, 0.0))
"""An element times `scale` if its noise is at least `p`, otherwise times 0."""


class Dropout(FloatKernel):
    """Dropout; the arguments are elements, noise and the probability of zeroing an element."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the elements after dropout."""
        return _scaled_where_kept(*arguments), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the elements, with the same noise."""
        _, noise, p = arguments
        return _scaled_where_kept(grad, noise, p), None, None


def _scaled_where_kept(x: Tensor, noise: Tensor, p: float) -> Tensor:
    limit = float(np.float32(p))  # the precision of the noise
    run = ops_of(x).elementwise(KEPT)
    out = x._tensor.layout.contiguous
    data = run(out, x._tensor, noise._tensor, limit, 1.0 / (1.0 - p))
    return tensor_of(cast(TensorData, data), x)


KERNELS = {"dropout": Dropout()}
"""For `mt_tensor.extending.register_kernels`."""
