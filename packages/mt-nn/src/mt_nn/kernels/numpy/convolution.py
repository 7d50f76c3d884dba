"""Convolution of signals, images and volumes as matrix products of NumPy (im2col).

Windows of the images become the columns of a matrix, in blocks that fit into the cache. The product
with the kernels is the convolution, and the product with the upstream gradient the gradient of the
kernels.

The gradient of the images consists of convolutions, too. With a stride of s, every s-th element of
an image is multiplied by the same elements of the kernels. The gradient of these image elements is
a convolution of the upstream gradient with those elements of the kernels, flipped (Dumoulin and
Visin, A guide to convolution arithmetic for deep learning, 2016, section 4). A transposed
convolution is this gradient; its own gradients are a convolution, and the gradient of the kernels.

Arrays have the shapes (batch, channels, *sizes) and (out channels, channels / groups, *size).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_supported, array_of, tensor_of
from mt_nn.layers.convolution import transposed_sizes
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import Array, FusedKernel, Shape, Strides

COLUMNS = 2**18
"""The number of elements of a block of columns: small enough for the L2 cache, and so large that a
product takes much longer than its call."""

Numbers = tuple[int, ...]


class Sliding(NamedTuple):
    """The settings of a convolution, with one number per dimension.

    Attributes:
        stride: distance between windows.
        padding: number of zeros added on each side.
        dilation: distance between the elements of a window.
        groups: number of independent groups of channels.
    """

    stride: Numbers
    padding: Numbers
    dilation: Numbers
    groups: int


def convolve(images: Array, kernels: Array, bias: Array | None, how: Sliding) -> Array:
    """Convolve images with kernels; the result has shape (batch, out channels, *out sizes)."""
    windows, groups = _windows(images, kernels.shape[2:], how), how.groups
    rows = kernels.reshape(groups, len(kernels) // groups, -1)
    out = np.empty((len(images), len(kernels), *windows.shape[1 + kernels.ndim :]), images.dtype)
    results = _in_groups(out, groups)
    for part in _parts(windows.shape, COLUMNS):
        products = rows @ _columns(windows, part)
        if bias is not None:
            products += bias.reshape(groups, -1, 1)
        target = results[:, :, *part]
        target[...] = products.reshape(target.shape)
    return out


def kernel_gradient(grad: Array, images: Array, size: Shape, how: Sliding) -> Array:
    """Return the gradient of kernels of a given size, given the upstream gradient."""
    windows, groups = _windows(images, size, how), how.groups
    upstream = _in_groups(grad, groups)
    channels, outputs = images.shape[1] // groups, grad.shape[1] // groups
    total = np.zeros((groups, channels * math.prod(size), outputs), images.dtype)
    for part in _parts(windows.shape, COLUMNS):
        rows = upstream[:, :, *part].reshape(groups, outputs, -1)
        total += _columns(windows, part) @ rows.swapaxes(1, 2)
    return np.ascontiguousarray(total.swapaxes(1, 2)).reshape(groups * outputs, channels, *size)


def image_gradient(grad: Array, kernels: Array, lengths: Shape, how: Sliding) -> Array:
    """Return the gradient of images of given sizes, given the upstream gradient."""
    outputs, channels, *size = kernels.shape
    stride, padding, dilation, groups = how
    transposed = kernels.reshape(groups, outputs // groups, channels, *size).swapaxes(1, 2)
    transposed = transposed.reshape(groups * channels, outputs // groups, *size)
    out = np.zeros((len(grad), groups * channels, *lengths), grad.dtype)
    each_dim = zip(lengths, size, stride, padding, dilation, strict=True)
    ones, zeros = (1,) * len(lengths), (0,) * len(lengths)
    for phases in itertools.product(*(_phases(*setting) for setting in each_dim)):
        taps, ranges, targets, dilations = zip(*phases, strict=True)
        part = np.ascontiguousarray(transposed[:, :, *taps])
        settings = Sliding(ones, zeros, dilations, groups)
        out[:, :, *targets] = convolve(_slice(grad, ranges), part, None, settings)
    return out


def _phases(
    length: int, size: int, stride: int, margin: int, dilation: int
) -> Iterator[tuple[slice, tuple[int, int], slice, int]]:
    """Yield the convolutions that the gradient of images consists of, along one dimension.

    Yields:
        For the elements of images that are multiplied by the same elements (taps) of kernels:
        - the taps, in reverse order,
        - the range of elements of the upstream gradient, which may extend beyond its ends,
        - the slice of the images,
        - the dilation, the distance between elements of the upstream gradient.
    """
    common = math.gcd(stride, dilation)
    phases: dict[int, list[int]] = {}
    for tap in range(size):
        phases.setdefault(tap * dilation % stride, []).append(tap)
    for phase, taps in sorted(phases.items()):
        start, stop = (-((phase - end) // stride) for end in (margin, margin + length))
        if start < stop:
            first, last = ((tap * dilation - phase) // stride for tap in (taps[0], taps[-1]))
            before = taps[0] - 1 if taps[0] else None
            reverse = slice(taps[-1], before, -(stride // common))
            target = slice(phase + stride * start - margin, None, stride)
            yield reverse, (start - last, stop - first), target, dilation // common


def _slice(images: Array, ranges: Sequence[tuple[int, int]]) -> Array:
    """Return a range of each dimension of images, with zeros for elements outside of them."""
    lengths = images.shape[2:]
    if all(each == (0, length) for each, length in zip(ranges, lengths, strict=True)):
        return images
    out = np.zeros((*images.shape[:2], *(stop - start for start, stop in ranges)), images.dtype)
    targets, sources = [], []
    for (start, stop), length in zip(ranges, lengths, strict=True):
        low, high = max(start, 0), max(min(stop, length), start, 0)
        sources.append(slice(low, high))
        targets.append(slice(low - start, high - start))
    out[:, :, *targets] = images[:, :, *sources]
    return out


def _windows(images: Array, size: Shape, how: Sliding) -> Array:
    """Return a view of all windows: (groups, channels / groups, *size, batch, *positions)."""
    if any(how.padding):
        both = zip(images.shape[2:], how.padding, strict=True)
        images = _slice(images, [(-margin, length + margin) for length, margin in both])
    shape, strides = _layout(images.shape, images.strides, size, how)
    return as_strided(images, shape, strides, writeable=False)


@functools.lru_cache(256)
def _layout(images: Shape, strides: Strides, size: Shape, how: Sliding) -> tuple[Shape, Strides]:
    """Return shape and strides of the view of all windows."""
    n, channels, *lengths = images
    stride, _, dilation, groups = how
    of_image, of_channel, *steps = strides
    each_dim = zip(lengths, size, stride, dilation, strict=True)
    counts = [(length - d * (taps - 1) - 1) // s + 1 for length, taps, s, d in each_dim]
    # The stride of a single window, or the dilation of a single tap, may exceed any memory.
    within = [step * min(d, n) for step, d, n in zip(steps, dilation, lengths, strict=True)]
    between = [step * min(s, n) for step, s, n in zip(steps, stride, lengths, strict=True)]
    of_group = of_channel * (channels // groups)
    return (
        (groups, channels // groups, *size, n, *counts),
        (of_group, of_channel, *within, of_image, *between),
    )


def _in_groups(images: Array, groups: int) -> Array:
    """Return a view of shape (groups, channels / groups, batch, *sizes)."""
    n, channels, *lengths = images.shape
    grouped = images.reshape(n, groups, channels // groups, *lengths)
    return grouped.transpose(1, 2, 0, *range(3, grouped.ndim))


@functools.lru_cache(256)
def _parts(windows: Shape, most: int) -> list[tuple[slice, slice]]:
    """Divide windows into blocks: images, and positions along their first dimension.

    Args:
        windows: the shape of the view of all windows.
        most: number of elements of a block.
    """
    dims = (len(windows) - 3) // 2
    n, positions = windows[dims + 2 : dims + 4]
    per_row = math.prod(windows) // (n * positions)
    rows = max(most // per_row, 1)
    images = max(rows // positions, 1)
    rows = min(rows, positions)
    return [
        (slice(first, first + images), slice(top, top + rows))
        for first in range(0, n, images)
        for top in range(0, positions, rows)
    ]


def _columns(windows: Array, part: tuple[slice, slice]) -> Array:
    """Return the windows of a block as columns: (groups, elements, positions)."""
    dims = (windows.ndim - 3) // 2
    block = windows[:, :, *[slice(None)] * dims, *part]
    return block.reshape(len(windows), math.prod(windows.shape[1 : 2 + dims]), -1)


# --- Named operations -------------------------------------------------------------------------


class _Products(FusedKernel):
    """Base class of both directions; images, kernels and biases are the first arguments."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors are non-empty, and all float32 or all float64, for BLAS."""
        return are_supported(*arguments[:3])

    def sliding(self, *settings: Any) -> Sliding:
        """Return the settings of the convolution, given the arguments after the first three."""
        return Sliding(*settings)

    def image_gradient(self, upstream: Array, images: Any, kernels: Array, how: Sliding) -> Array:
        """Return the gradient of images."""
        return image_gradient(upstream, kernels, images.shape[2:], how)

    def kernel_gradient(self, upstream: Array, images: Array, size: Shape, how: Sliding) -> Array:
        """Return the gradient of kernels of a given size."""
        return kernel_gradient(upstream, images, size, how)

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of images, kernels and biases; None if not needed."""
        x, kernels, _, *settings = arguments
        upstream, run, how = array_of(grad), no_warnings().run, self.sliding(*settings)
        d_x = d_kernels = None
        if needs[0]:
            d_x = tensor_of(run(self.image_gradient, upstream, x, array_of(kernels), how), x)
        if needs[1]:
            arguments = (upstream, array_of(x), kernels.shape[2:], how)
            d_kernels = tensor_of(run(self.kernel_gradient, *arguments), x)
        d_bias = _bias_gradient(grad) if needs[2] else None
        return d_x, d_kernels, d_bias, *[None] * len(settings)


class Convolution(_Products):
    """Convolution; the arguments are images, kernels, biases or None, and the settings.

    The settings are stride, padding, dilation and groups.
    """

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the convolved images."""
        x, kernels, bias, *settings = arguments
        biases = None if bias is None else bias._tensor.array
        arrays = x._tensor.array, kernels._tensor.array, biases
        return tensor_of(no_warnings().run(convolve, *arrays, Sliding(*settings)), x), ()


class TransposedConvolution(_Products):
    """Transposed convolution: the gradient of a convolution with respect to its images.

    The arguments are images (the upstream gradient), kernels, biases or None, stride, padding,
    output padding, dilation and groups.
    """

    def fits(self, *arguments: Any) -> bool:
        """Return whether a convolution has an input of this size, and the tensors are supported."""
        _, _, _, stride, _, output_padding, _, _ = arguments
        is_input = all(n < step for n, step in zip(output_padding, stride, strict=True))
        return is_input and super().fits(*arguments)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the result: the gradient of the images of a convolution."""
        x, kernels, bias, stride, padding, output_padding, dilation, _ = arguments
        sizes = transposed_sizes(x.shape[2:], kernels.shape[2:], stride, padding, dilation)
        size = tuple(length + added for length, added in zip(sizes, output_padding, strict=True))
        how = self.sliding(*arguments[3:])
        out = no_warnings().run(image_gradient, array_of(x), array_of(kernels), size, how)
        if bias is not None:
            out += array_of(bias).reshape(-1, *(1,) * len(size))
        return tensor_of(out, x), ()

    def sliding(self, *settings: Any) -> Sliding:
        """Return the settings of the convolution of which this is the gradient."""
        stride, padding, _, dilation, groups = settings
        return Sliding(stride, padding, dilation, groups)

    def image_gradient(self, upstream: Array, images: Any, kernels: Array, how: Sliding) -> Array:
        """Return the gradient of images: the convolution of the upstream gradient."""
        return convolve(upstream, kernels, None, how)

    def kernel_gradient(self, upstream: Array, images: Array, size: Shape, how: Sliding) -> Array:
        """Return the gradient of kernels of a given size."""
        return kernel_gradient(images, upstream, size, how)


def _bias_gradient(grad: Any) -> Any:
    """Return the sum of the upstream gradient of each channel."""
    upstream = array_of(grad)
    per_image = no_warnings().run(np.sum, upstream.reshape(*upstream.shape[:2], -1), 2)
    return tensor_of(no_warnings().run(np.sum, per_image, 0), grad)


KERNELS: dict[str, FusedKernel] = {
    "conv2d": Convolution(),
    "conv3d": Convolution(),
    "conv_transpose2d": TransposedConvolution(),
    "conv_transpose3d": TransposedConvolution(),
}
"""Kernels by name of the operation."""
