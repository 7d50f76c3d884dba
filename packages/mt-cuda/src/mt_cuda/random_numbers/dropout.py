"""Dropout in one launch each way: the mask is made anew from the noise, and never written."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from mt_cuda.tensors import is_floating, ops_of, tensor_of
from mt_operators import Formula
from mt_operators.core.elementary import where
from mt_tensor import Tensor, TensorData
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved

LEFT = Formula("left", 4, 1, lambda x, noise, p, scale: x * where(noise >= p, scale, 0.0))
"""An element times a scale if its noise is at least `p`, and else times 0."""


class Dropout(FusedKernel):
    """Elements, the noise, and how likely an element is left out."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return what is left."""
        return _left(*arguments), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of what was left, and zeros for the others."""
        _, noise, p = arguments
        return _left(grad, noise, p), None, None


def _left(x: Tensor, noise: Tensor, p: float) -> Tensor:
    limit = float(np.float32(p))  # the noise has no more digits
    run = ops_of(x).elementwise(LEFT)
    out = x._tensor.layout.contiguous
    data = run(out, x._tensor, noise._tensor, limit, 1.0 / (1.0 - p))
    return tensor_of(cast(TensorData, data), x)


KERNELS = {"dropout": Dropout()}
"""For `mt_tensor.extending.register_kernels`."""
