"""Convolution of small images, several side by side.

Tiles are several vectors wide, and an image of 3 x 3 elements does not fill one. So several images
are interleaved: each element is next to the same element of the others. A step to the next column
is then a step over all of them, so the convolution of the wide image is that of each image, with
padding and dilation of columns multiplied by their number.

The functions are those of `convolve.py`, for images of any size.
"""

from __future__ import annotations

import numpy as np

from mt_fast.convolution import convolve as convolution
from mt_fast.convolution.convolve import Pair, Settings
from mt_fast.core.movement import copy
from mt_fast.core.tables import empty
from mt_tensor import TensorData
from mt_tensor.extending import Array, as_dtype

MAX_POSITIONS = 64
"""The number of positions from which an image is not small: they fill several vectors."""

MIN_IMAGES = 16
"""The minimum number of images to interleave any."""

MULTIPLICATIONS = 1024
"""The number of multiplications per element of images and results from which interleaving is
faster."""

MAX_ROW = 64
"""The maximum number of positions in a row of a wide image: more do not fit in the cache."""

PARALLEL_FROM = 2**15
"""The number of elements from which all threads copy."""


def convolve(images: Array, kernels: Array, bias: Array | None, settings: Settings) -> Array:
    """Slide kernels over images; see `convolution.convolve`."""
    factor = _interleaving(images.shape, kernels.shape, settings)
    if factor == 1:
        return convolution.convolve(images, kernels, bias, settings)
    wide = _interleaved(images, factor)
    result = convolution.convolve(wide, kernels, bias, _wide_settings(settings, factor))
    return _separated(result, factor, len(images))


def image_gradient(grad: Array, kernels: Array, image_shape: Pair, settings: Settings) -> Array:
    """Return the gradient of the images; see `convolution.image_gradient`."""
    factor = _interleaving((len(grad), 0, *image_shape), kernels.shape, settings)
    if factor == 1:
        return convolution.image_gradient(grad, kernels, image_shape, settings)
    wide, shape = _interleaved(grad, factor), (image_shape[0], image_shape[1] * factor)
    result = convolution.image_gradient(wide, kernels, shape, _wide_settings(settings, factor))
    return _separated(result, factor, len(grad))


def kernel_gradient(grad: Array, images: Array, kernel_size: Pair, settings: Settings) -> Array:
    """Return the gradient of the kernels; see `convolution.kernel_gradient`."""
    kernels = (grad.shape[1], images.shape[1] // settings.groups, *kernel_size)
    factor = _interleaving(images.shape, kernels, settings)
    if factor == 1:
        return convolution.kernel_gradient(grad, images, kernel_size, settings)
    wide = _interleaved(grad, factor), _interleaved(images, factor)
    return convolution.kernel_gradient(*wide, kernel_size, _wide_settings(settings, factor))


def _interleaving(images: tuple[int, ...], kernels: tuple[int, ...], settings: Settings) -> int:
    """Return the number of images to interleave, given the shapes; 1 for none."""
    n, _, height, width = images
    outputs, channels, *size = kernels
    work = min(outputs, channels) * size[0] * size[1]
    small = 0 < height * width < MAX_POSITIONS and settings.stride[1] == 1
    if not small or n < MIN_IMAGES or work < MULTIPLICATIONS:
        return 1
    fit = min(MAX_ROW // width, n)
    return 1 << (fit.bit_length() - 1)


def _wide_settings(settings: Settings, factor: int) -> Settings:
    """Return the settings for interleaved images."""
    stride, (above, left), (down, across), groups = settings
    return Settings(stride, (above, left * factor), (down, across * factor), groups)


def _interleaved(images: Array, factor: int) -> Array:
    """Return interleaved images, shape (n / factor, channels, height, width * factor).

    If the last one has fewer images, the others are zeros.
    """
    n, channels, height, width = images.shape
    count = -(-n // factor)
    if n % factor:
        missing = np.zeros((count * factor - n, *images.shape[1:]), images.dtype)
        images = np.concatenate([images, missing])
    wide = empty((count, channels, height, width * factor), images.dtype)
    _copy_transposed(images, wide, (count, factor, channels * height * width))
    return wide


def _separated(wide: Array, factor: int, n: int) -> Array:
    """Return the first n of the images that interleaved images consist of."""
    count, channels, height, width = wide.shape
    images = empty((count * factor, channels, height, width // factor), wide.dtype)
    _copy_transposed(wide, images, (count, channels * height * width // factor, factor))
    return images[:n]


def _copy_transposed(source: Array, target: Array, shape: tuple[int, int, int]) -> None:
    """Copy an array of this shape with the last two dimensions exchanged."""
    outer, rows, columns = shape
    dtype = as_dtype(source.dtype)
    swapped = (outer, columns, rows)
    strides = (rows * columns, 1, columns)
    view = TensorData(source.reshape(-1), swapped, strides, dtype=dtype)
    out = TensorData(target.reshape(-1), swapped, dtype=dtype)
    copy(view, out, source.size >= PARALLEL_FROM)
