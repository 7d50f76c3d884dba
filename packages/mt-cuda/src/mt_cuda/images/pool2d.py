"""Pooling of images, and its gradients: `mt_cuda.images.pooling` has the kernels."""

from __future__ import annotations

from typing import Any

from mt_cuda.images import pooling
from mt_cuda.images.windows import convolved_size, countable
from mt_cuda.tensors import elements_of, is_floating, new, ops_of, tensor_of
from mt_tensor import Tensor, int32
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


class Pooling(FusedKernel):
    """Images, and the size, the stride and the padding of windows.

    Attributes:
        way: what is made of a window.
    """

    def __init__(self, way: pooling.Way) -> None:
        self.way: pooling.Way = way

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, and more than indices of 32 bits can count, to the composition."""
        x, size, stride, padding = arguments
        out = (*x.shape[:2], *convolved_size(x.shape[2:], size, stride, padding, (1, 1)))
        return is_floating(x) and countable(x.shape, size, out, padding)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the results; for the gradient of the largest, also which tap of each it was."""
        x, size, stride, padding = arguments
        shape = (*x.shape[:2], *convolved_size(x.shape[2:], size, stride, padding, (1, 1)))
        out, remembers = new(x, shape), needs[0] and self.way == "max"
        choice = [new(x, shape, int32)] if remembers else []
        ops = ops_of(x)

        def plan() -> Any:
            kernel = pooling.pool(self.way, x.dtype, remembers)
            numbers = (*x.shape[2:], *shape[2:], *size, *stride, *padding)
            return ops.plan_over_grid(kernel, out.size, numbers)

        key = ("pool", self.way, x.dtype, x.shape, size, stride, padding, remembers)
        ops.launch(ops.remembered(key, plan), [elements_of(x), out, *choice])
        return tensor_of(out, x), tuple(tensor_of(each, x) for each in choice)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the images."""
        x, size, stride, padding = arguments
        ops, out = ops_of(x), new(x)

        def plan() -> Any:
            kernel = pooling.pool_gradient(self.way, x.dtype)
            numbers = (*x.shape[2:], *grad.shape[2:], *size, *stride, *padding)
            return ops.plan_over_grid(kernel, out.size, numbers)

        key = ("pool_gradient", self.way, x.dtype, x.shape, size, stride, padding)
        ops.launch(ops.remembered(key, plan), [*map(elements_of, (grad, *saved)), out])
        return tensor_of(out, x), None, None, None


MAX_POOL, MEAN_POOL = Pooling("max"), Pooling("mean")

KERNELS = {"avg_pool2d": MEAN_POOL, "max_pool2d": MAX_POOL}
"""For `mt_tensor.extending.register_kernels`."""
