"""Convolution of images as an operation on tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mt_fast.convolution.convolve import Settings
from mt_fast.convolution.small_images import convolve, image_gradient, kernel_gradient
from mt_fast.convolution.transposed import TransposedConvolution
from mt_fast.memory.arrays import array_of, is_compiled, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData, enable_grad
from mt_tensor.autograd import grad as derivatives
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import FUSED, Array, FusedKernel, Gradients, Needs, Saved


class _Convolution(FusedKernel):
    """Convolution: images, kernels, biases or None, stride, padding, dilation, groups."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Return whether images and kernels are not empty, of one dtype, float32 or float64."""
        return is_compiled(*arguments[:2])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the convolved images."""
        x, kernels, bias, *settings = arguments
        biases = None if bias is None else array_of(bias)
        out = convolve(array_of(x), array_of(kernels), biases, Settings(*settings))
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of images, kernels and biases, each if it is needed."""
        x, kernels, *_ = arguments
        upstream, settings = array_of(grad), Settings(*arguments[3:])
        grad_images = grad_kernels = grad_biases = None
        if needs[0] and not math.isfinite(
            no_warnings().run(np.add.reduce, array_of(kernels), None)
        ):
            grad_images = _image_gradient_by_composition(grad, *arguments)
        elif needs[0]:
            found = image_gradient(upstream, array_of(kernels), x.shape[2:], settings)
            grad_images = tensor_of(found, x)
        if needs[1]:
            found = kernel_gradient(upstream, array_of(x), kernels.shape[2:], settings)
            grad_kernels = tensor_of(found, x)
        if needs[2]:
            grad_biases = _sum_for_each_channel(upstream, grad)
        return grad_images, grad_kernels, grad_biases, None, None, None, None


def _image_gradient_by_composition(
    grad: Tensor, x: Tensor, kernels: Tensor, *rest: Any
) -> Tensor | None:
    """Return the gradient of images for kernels with elements that are infinite or nan.

    The convolution of the gradients would multiply these by padding, too, which gives nan.
    """
    images = x.detach().requires_grad_()
    with enable_grad():
        out = FUSED["conv2d"](images, kernels.detach(), None, *rest[1:])
        (gradient,) = derivatives(out, images, grad)
    return gradient


def _sum_for_each_channel(upstream: Array, grad: Tensor) -> Tensor:
    """Return the gradient of the biases, given the contiguous elements of the upstream gradient."""
    rows = TensorData.of(upstream, grad._tensor.layout.contiguous)
    sums = grad.backend.reduce(OPERATORS["add"], rows, (2, 3)).array
    return tensor_of(np.add.reduce(sums, 0), grad)


_CONVOLUTION = _Convolution()

KERNELS: dict[str, FusedKernel] = {
    "conv2d": _CONVOLUTION,
    "conv_transpose2d": TransposedConvolution(_CONVOLUTION),
}
"""For `mt_tensor.extending.register_kernels`."""
