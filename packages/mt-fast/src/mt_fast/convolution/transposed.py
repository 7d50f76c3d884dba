"""Transposed convolution: the gradient of a convolution with respect to its images.

It needs no kernels of its own: its value is that gradient, its gradient with respect to its images
a convolution, and that with respect to the kernels the same as in a convolution.
"""

from __future__ import annotations

from typing import Any

from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


class TransposedConvolution(FusedKernel):
    """Transposed convolution, given a backend's kernel for convolution.

    The arguments are images, kernels, biases or None, stride, padding, output padding, dilation and
    groups. The images here have the shape of the result of the convolution, and the result that of
    its images.
    """

    reads = (0, 1)

    def __init__(self, convolution: FusedKernel) -> None:
        self._convolution = convolution

    def fits(self, *arguments: Any) -> bool:
        """Return whether the convolution fits, and the output padding is below the stride."""
        x, kernels, bias, stride, _, more, *_ = arguments
        fit = all(added < step for added, step in zip(more, stride, strict=True))
        inputs = (kernels, bias, *_settings(arguments))
        return fit and x.numel() > 0 and self._convolution.fits(_images(*arguments), *inputs)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the gradient of the convolution with respect to its images, plus the biases."""
        x, kernels, bias, *_ = arguments
        inputs = (_images(*arguments), kernels, None, *_settings(arguments))
        out, *_ = self._convolution.gradient(x, (), (True, False, False), *inputs)
        return out if bias is None else out.add_(bias.reshape(-1, 1, 1)), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of images, kernels and biases, each if it is needed."""
        x, kernels, *_ = arguments
        inputs = (grad, kernels, None, *_settings(arguments))
        grad_images = self._convolution.value((), *inputs)[0] if needs[0] else None
        _, grad_kernels, *_ = self._convolution.gradient(x, (), (False, needs[1], False), *inputs)
        grad_biases = grad.sum((0, 2, 3)) if needs[2] else None
        return grad_images, grad_kernels, grad_biases, None, None, None, None, None


def _settings(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the stride, padding, dilation and groups of the convolution."""
    _, _, _, stride, padding, _, dilation, groups = arguments
    return stride, padding, dilation, groups


def _images(x: Tensor, kernels: Tensor, _: Any, *settings: Any) -> Tensor:
    """Return a tensor of the shape of the images of the convolution; its elements are not read."""
    *lengths, groups = settings
    size = (
        (length - 1) * step - 2 * margin + spread * (taps - 1) + added + 1
        for length, taps, step, margin, added, spread in zip(
            x.shape[2:], kernels.shape[2:], *lengths, strict=True
        )
    )
    shape = (x.shape[0], kernels.shape[1] * groups, *size)
    return Tensor._make(x._tensor.like(shape, (0,) * 4, x._tensor.offset), x.backend)
