"""Convolution of images as an operation on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.convolution.convolve import Settings
from mt_fast.convolution.small_images import convolve, image_gradient, kernel_gradient
from mt_fast.memory.arrays import array_of, is_compiled, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


class _Convolution(FusedKernel):
    """Images, kernels and biases, and stride, padding, dilation and groups."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return is_compiled(*arguments[:2])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the convolved images."""
        x, kernels, bias, *settings = arguments
        biases = None if bias is None else array_of(bias)
        out = convolve(array_of(x), array_of(kernels), biases, Settings(*settings))
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of images, kernels and biases, each if it is wanted."""
        x, kernels, *_ = arguments
        upstream, settings = array_of(grad), Settings(*arguments[3:])
        of_images = of_kernels = of_biases = None
        if needs[0]:
            found = image_gradient(upstream, array_of(kernels), x.shape[2:], settings)
            of_images = tensor_of(found, x)
        if needs[1]:
            found = kernel_gradient(upstream, array_of(x), kernels.shape[2:], settings)
            of_kernels = tensor_of(found, x)
        if needs[2]:
            of_biases = _sum_for_each_channel(grad)
        return of_images, of_kernels, of_biases, None, None, None, None


def _sum_for_each_channel(grad: Tensor) -> Tensor:
    """Return the gradient of the biases."""
    sums = grad.backend.reduce(OPERATORS["add"], grad._tensor, (2, 3)).array
    return tensor_of(np.add.reduce(sums, 0), grad)


class _TransposedConvolution(FusedKernel):
    """What a convolution's gradient does to its output, and so made of the same loops.

    The arguments are images, kernels and biases, stride, padding, output padding, dilation and
    groups. The images here are the output there, and the other way round.
    """

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition, and sizes of no convolution's input."""
        _, _, _, stride, _, more, _, _ = arguments
        fit = all(added < step for added, step in zip(more, stride, strict=True))
        return fit and is_compiled(*arguments[:2])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the images whose convolution has the size of those given."""
        x, kernels, bias, stride, padding, more, dilation, groups = arguments
        every = zip(x.shape[2:], kernels.shape[2:], stride, padding, more, dilation, strict=True)
        size = tuple(
            (length - 1) * step - 2 * margin + spread * (taps - 1) + added + 1
            for length, taps, step, margin, added, spread in every
        )
        settings = Settings(stride, padding, dilation, groups)
        out = image_gradient(array_of(x), array_of(kernels), size, settings)
        if bias is not None:
            out += array_of(bias).reshape(-1, 1, 1)
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of images, kernels and biases, each if it is wanted."""
        x, kernels, _, stride, padding, _, dilation, groups = arguments
        upstream, settings = array_of(grad), Settings(stride, padding, dilation, groups)
        of_images = of_kernels = of_biases = None
        if needs[0]:
            of_images = tensor_of(convolve(upstream, array_of(kernels), None, settings), x)
        if needs[1]:
            found = kernel_gradient(array_of(x), upstream, kernels.shape[2:], settings)
            of_kernels = tensor_of(found, x)
        if needs[2]:
            of_biases = _sum_for_each_channel(grad)
        return of_images, of_kernels, of_biases, None, None, None, None, None


CONVOLUTION = _Convolution()
TRANSPOSED_CONVOLUTION = _TransposedConvolution()

KERNELS: dict[str, FusedKernel] = {
    "conv2d": CONVOLUTION,
    "conv_transpose2d": TRANSPOSED_CONVOLUTION,
}
"""For `mt_tensor.extending.register_kernels`."""
