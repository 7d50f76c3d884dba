"""Square roots of sums of squares, with a finite gradient at zero."""

from __future__ import annotations

import math
from typing import Any

from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.tensor import Tensor
from mt_tensor.pointwise.fusing import fuse
from mt_tensor.recording.functions import Function


class Root(Function):
    """Square roots; the gradient at 0 is 0, as in torch, although the derivative is infinite."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.sqrt()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _gradient(grad, Root.apply(*ctx.saved_tensors))  # recomputed, for higher derivatives


@fuse
def _gradient(grad: Tensor, out: Tensor) -> Tensor:
    return grad / (elementwise("where", out == 0, math.inf, out) * 2.0)
