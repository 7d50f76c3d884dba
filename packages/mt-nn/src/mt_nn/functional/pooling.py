"""Pooling: one number for each window of an image."""

from __future__ import annotations

import functools

from mt_nn.errors import SettingError
from mt_nn.functional.windows import check_images, check_windows, windows
from mt_nn.settings import Pair, pair
from mt_tensor import Tensor, fused
from mt_tensor.strides import Shape


def max_pool2d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """Return the largest element of each window; the gradient goes to the first of equals.

    Args:
        input: shape (batch, channels, height, width).
        kernel_size: height and width of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: -infinity added on each side.

    Returns:
        Shape (batch, channels, out height, out width).

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: a setting makes no sense.
    """
    return _max_pool2d(input, *_pooling("max_pool2d", input, kernel_size, stride, padding))


def avg_pool2d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """Return the mean of each window; padding counts as zeros.

    Arguments, returns and errors are those of `max_pool2d`.
    """
    return _avg_pool2d(input, *_pooling("avg_pool2d", input, kernel_size, stride, padding))


def _pooling(
    name: str, input: Tensor, kernel_size: Pair, stride: Pair | None, padding: Pair
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Check the arguments of pooling; return kernel size, stride and padding."""
    check_images(name, input)
    kernel = pair("kernel_size", kernel_size, 1)
    step = kernel if stride is None else pair("stride", stride, 1)
    margin = pair("padding", padding, 0)
    _check_shapes(input.shape, kernel, margin)
    return kernel, step, margin


@functools.lru_cache(1024)
def _check_shapes(images: Shape, kernel: tuple[int, int], padding: tuple[int, int]) -> None:
    """Raise unless windows fit into images; what does is remembered."""
    if any(2 * margin > size for margin, size in zip(padding, kernel, strict=True)):
        raise SettingError(
            f"padding {padding} must be at most half the kernel size {kernel}, or windows would "
            "see nothing but padding."
        )
    check_windows(images, kernel, padding)


@fused("max_pool2d")
def _max_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Pool; the arguments are those of `max_pool2d`, checked."""
    seen = windows(input, kernel_size, stride, padding, value=float("-inf")).flatten(4)
    return seen.gather(4, seen.argmax(4, keepdim=True)).squeeze(4)


@fused("avg_pool2d")
def _avg_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Pool; the arguments are those of `avg_pool2d`, checked."""
    return windows(input, kernel_size, stride, padding).mean((4, 5))
