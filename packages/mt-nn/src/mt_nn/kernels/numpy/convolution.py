"""Convolution by the matrix products of NumPy, over signals, images and volumes alike.

What kernels see of some images becomes the columns of a matrix, for as many at a time as stay in
the processor's cache. Products with the kernels are then the convolution, and products with the
upstream gradient the gradient of the kernels.

The gradient of the images is made of convolutions too. With a stride of s, elements s apart have
met the same elements of the kernels. To these belongs a convolution of the upstream gradient with
that part of the kernels, turned around (Dumoulin and Visin, A guide to convolution arithmetic for
deep learning, 2016, section 4). A transposed convolution is this gradient, and its own gradients
are the convolution and the gradient of its kernels.

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

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_computed, array_of, tensor_of
from mt_nn.layers.convolution import transposed_sizes
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import Array, FusedKernel, Shape, Strides

COLUMNS = 2**18
"""How many elements of columns are made at a time. They fit the second cache, and a product of them
takes much longer than its call."""

Numbers = tuple[int, ...]


class Sliding(NamedTuple):
    """How kernels slide over images, in each dimension.

    Attributes:
        stride: how far from each other places are.
        padding: how many zeros there are beyond each end of an image.
        dilation: how far from each other elements lie that a kernel sees.
        groups: into how many independent parts the channels are split.
    """

    stride: Numbers
    padding: Numbers
    dilation: Numbers
    groups: int


def convolve(images: Array, kernels: Array, bias: Array | None, how: Sliding) -> Array:
    """Return images convolved with kernels, of shape (batch, out channels, *out sizes)."""
    seen, groups = _windows(images, kernels.shape[2:], how), how.groups
    rows = kernels.reshape(groups, len(kernels) // groups, -1)
    out = np.empty((len(images), len(kernels), *seen.shape[1 + kernels.ndim :]), images.dtype)
    results = _in_groups(out, groups)
    for part in _parts(seen.shape, COLUMNS):
        products = rows @ _columns(seen, part)
        if bias is not None:
            products += bias.reshape(groups, -1, 1)
        target = results[:, :, *part]
        target[...] = products.reshape(target.shape)
    return out


def kernel_gradient(grad: Array, images: Array, size: Shape, how: Sliding) -> Array:
    """Return the gradient of kernels of some size, from that of the convolved images."""
    seen, groups = _windows(images, size, how), how.groups
    upstream = _in_groups(grad, groups)
    channels, outputs = images.shape[1] // groups, grad.shape[1] // groups
    total = np.zeros((groups, channels * math.prod(size), outputs), images.dtype)
    for part in _parts(seen.shape, COLUMNS):
        rows = upstream[:, :, *part].reshape(groups, outputs, -1)
        total += _columns(seen, part) @ rows.swapaxes(1, 2)
    return np.ascontiguousarray(total.swapaxes(1, 2)).reshape(groups * outputs, channels, *size)


def image_gradient(grad: Array, kernels: Array, lengths: Shape, how: Sliding) -> Array:
    """Return the gradient of images of some sizes, from that of the convolved images."""
    outputs, channels, *size = kernels.shape
    stride, padding, dilation, groups = how
    transposed = kernels.reshape(groups, outputs // groups, channels, *size).swapaxes(1, 2)
    transposed = transposed.reshape(groups * channels, outputs // groups, *size)
    out = np.zeros((len(grad), groups * channels, *lengths), grad.dtype)
    every = zip(lengths, size, stride, padding, dilation, strict=True)
    ones, zeros = (1,) * len(lengths), (0,) * len(lengths)
    for phases in itertools.product(*(_phases(*setting) for setting in every)):
        taps, ends, places, spreads = zip(*phases, strict=True)
        part = np.ascontiguousarray(transposed[:, :, *taps])
        sums = convolve(_framed(grad, ends), part, None, Sliding(ones, zeros, spreads, groups))
        out[:, :, *places] = sums
    return out


def _phases(
    length: int, size: int, stride: int, margin: int, spread: int
) -> Iterator[tuple[slice, tuple[int, int], slice, int]]:
    """Yield, along one dimension, which elements of images meet which of kernels.

    Yields:
        Every `stride`-th element meets the same taps of kernels:
        - these taps, in reverse order,
        - from where to where elements of the upstream gradient have to do with them,
        - where in the images the elements lie,
        - how far the elements of the gradient that meet one of them lie apart.
    """
    common = math.gcd(stride, spread)
    for phase in range(0, stride, common):
        taps = [tap for tap in range(size) if tap * spread % stride == phase]
        start, stop = (-((phase - end) // stride) for end in (margin, margin + length))
        if taps and start < stop:
            first, last = ((tap * spread - phase) // stride for tap in (taps[0], taps[-1]))
            before = taps[0] - 1 if taps[0] else None
            reverse = slice(taps[-1], before, -(stride // common))
            place = slice(phase + stride * start - margin, None, stride)
            yield reverse, (start - last, stop - first), place, spread // common


def _framed(images: Array, ends: Sequence[tuple[int, int]]) -> Array:
    """Return images from one end to the other in each dimension, with zeros beyond their own."""
    lengths = images.shape[2:]
    if all(end == (0, length) for end, length in zip(ends, lengths, strict=True)):
        return images
    out = np.zeros((*images.shape[:2], *(stop - start for start, stop in ends)), images.dtype)
    into, of = [], []
    for (start, stop), length in zip(ends, lengths, strict=True):
        low, high = max(start, 0), max(min(stop, length), start, 0)
        of.append(slice(low, high))
        into.append(slice(low - start, high - start))
    out[:, :, *into] = images[:, :, *of]
    return out


def _windows(images: Array, size: Shape, how: Sliding) -> Array:
    """Return a view of what kernels see: (groups, channels / groups, *size, batch, *places)."""
    if any(how.padding):
        both = zip(images.shape[2:], how.padding, strict=True)
        images = _framed(images, [(-margin, length + margin) for length, margin in both])
    shape, strides = _layout(images.shape, images.strides, size, how)
    return as_strided(images, shape, strides, writeable=False)


@functools.lru_cache(256)
def _layout(images: Shape, strides: Strides, size: Shape, how: Sliding) -> tuple[Shape, Strides]:
    """Return shape and strides of what kernels see of images of some shape and strides."""
    n, channels, *lengths = images
    stride, _, dilation, groups = how
    of_image, of_channel, *steps = strides
    every = zip(lengths, size, stride, dilation, strict=True)
    places = [
        (length - spread * (taps - 1) - 1) // step + 1 for length, taps, step, spread in every
    ]
    within = [step * spread for step, spread in zip(steps, dilation, strict=True)]
    between = [step * apart for step, apart in zip(steps, stride, strict=True)]
    of_group = of_channel * (channels // groups)
    return (
        (groups, channels // groups, *size, n, *places),
        (of_group, of_channel, *within, of_image, *between),
    )


def _in_groups(images: Array, groups: int) -> Array:
    """Return a view of shape (groups, channels / groups, batch, *sizes)."""
    n, channels, *lengths = images.shape
    apart = images.reshape(n, groups, channels // groups, *lengths)
    return apart.transpose(1, 2, 0, *range(3, apart.ndim))


@functools.lru_cache(256)
def _parts(seen: Shape, most: int) -> list[tuple[slice, slice]]:
    """Return which images are taken together, and which places along their first dimension.

    Args:
        seen: the shape of what kernels see.
        most: how many elements of columns are made at a time.
    """
    dims = (len(seen) - 3) // 2
    n, high = seen[dims + 2 : dims + 4]
    in_a_row = math.prod(seen) // (n * high)
    rows = max(most // in_a_row, 1)
    images = max(rows // high, 1)
    rows = min(rows, high)
    return [
        (slice(first, first + images), slice(top, top + rows))
        for first in range(0, n, images)
        for top in range(0, high, rows)
    ]


def _columns(seen: Array, part: tuple[slice, slice]) -> Array:
    """Return what kernels see in a part, a column for each place: (groups, elements, places)."""
    dims = (seen.ndim - 3) // 2
    windows = seen[:, :, *[slice(None)] * dims, *part]
    return windows.reshape(len(seen), math.prod(seen.shape[1 : 2 + dims]), -1)


# --- Named operations -------------------------------------------------------------------------


class _ByProducts(FusedKernel):
    """What both directions have in common: images, kernels and biases come first."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, and float16, which BLAS does not multiply, to the composition."""
        return are_computed(*arguments[:3])

    def sliding(self, *settings: Any) -> Sliding:
        """Return what the settings after these say."""
        return Sliding(*settings)

    def of_images(self, upstream: Array, images: Any, kernels: Array, how: Sliding) -> Array:
        """Return the gradient of images."""
        return image_gradient(upstream, kernels, images.shape[2:], how)

    def of_kernels(self, upstream: Array, images: Array, size: Shape, how: Sliding) -> Array:
        """Return the gradient of kernels of some size."""
        return kernel_gradient(upstream, images, size, how)

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of images, kernels and biases, each if it is wanted."""
        x, kernels, _, *settings = arguments
        upstream, run, how = array_of(grad), no_warnings().run, self.sliding(*settings)
        of_images = of_kernels = None
        if needs[0]:
            found = run(self.of_images, upstream, x, array_of(kernels), how)
            of_images = tensor_of(found, x)
        if needs[1]:
            found = run(self.of_kernels, upstream, array_of(x), kernels.shape[2:], how)
            of_kernels = tensor_of(found, x)
        of_biases = _bias_gradient(grad) if needs[2] else None
        return of_images, of_kernels, of_biases, *[None] * len(settings)


class Convolution(_ByProducts):
    """Images, kernels and biases, and stride, padding, dilation and groups."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the convolved images."""
        x, kernels, bias, *settings = arguments
        biases = None if bias is None else bias._tensor.array
        arrays = x._tensor.array, kernels._tensor.array, biases
        return tensor_of(no_warnings().run(convolve, *arrays, Sliding(*settings)), x), ()


class TransposedConvolution(_ByProducts):
    """Images, kernels, biases, stride, padding, output padding, dilation and groups.

    The images here are the output of a convolution, and the other way round.
    """

    def fits(self, *arguments: Any) -> bool:
        """Leave sizes of no convolution's input to the composition too."""
        _, _, _, stride, _, more, _, _ = arguments
        fit = all(added < step for added, step in zip(more, stride, strict=True))
        return fit and super().fits(*arguments)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the images whose convolution has the size of the argument."""
        x, kernels, bias, stride, padding, more, dilation, _ = arguments
        least = transposed_sizes(x.shape[2:], kernels.shape[2:], stride, padding, dilation)
        size = tuple(length + added for length, added in zip(least, more, strict=True))
        how = self.sliding(*arguments[3:])
        out = no_warnings().run(image_gradient, array_of(x), array_of(kernels), size, how)
        if bias is not None:
            out += array_of(bias).reshape(-1, *(1,) * len(size))
        return tensor_of(out, x), ()

    def sliding(self, *settings: Any) -> Sliding:
        """Return what the settings say of the convolution."""
        stride, padding, _, dilation, groups = settings
        return Sliding(stride, padding, dilation, groups)

    def of_images(self, upstream: Array, images: Any, kernels: Array, how: Sliding) -> Array:
        """Return the gradient of images: the convolution of that of the output."""
        return convolve(upstream, kernels, None, how)

    def of_kernels(self, upstream: Array, images: Array, size: Shape, how: Sliding) -> Array:
        """Return the gradient of kernels of some size."""
        return kernel_gradient(images, upstream, size, how)


def _bias_gradient(grad: Any) -> Any:
    """Return the sum of what each channel gets."""
    upstream = array_of(grad)
    of_images = no_warnings().run(np.sum, upstream.reshape(*upstream.shape[:2], -1), 2)
    return tensor_of(no_warnings().run(np.sum, of_images, 0), grad)


KERNELS: dict[str, FusedKernel] = {
    "conv2d": Convolution(),
    "conv3d": Convolution(),
    "conv_transpose2d": TransposedConvolution(),
    "conv_transpose3d": TransposedConvolution(),
}
"""The kernels by the name of the operation."""
