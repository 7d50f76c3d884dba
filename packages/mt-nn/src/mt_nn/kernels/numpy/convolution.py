"""Convolution by the matrix products of NumPy, over signals, images and volumes alike.

What kernels see of some images becomes the columns of a matrix, for as many at a time as stay in
the processor's cache. Products with the kernels are then the convolution, and products with the
upstream gradient the gradient of the kernels.

The gradient of the images adds up what each window gets. A transposed convolution is this gradient,
and its own gradients are the convolution and the gradient of its kernels.

Arrays have the shapes (batch, channels, *sizes) and (out channels, channels / groups, *size).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mt_nn.kernels.numpy.tensors import (
    Needs,
    Saved,
    are_computed,
    array_of,
    inside,
    padded,
    tensor_of,
)
from mt_nn.layers.convolution import transposed_sizes
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import Array, FusedKernel, Shape

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
    groups, images = how.groups, padded(images, how.padding)
    seen = _windows(images, kernels.shape[2:], how)
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
    groups, images = how.groups, padded(images, how.padding)
    seen = _windows(images, size, how)
    upstream = _in_groups(grad, groups)
    channels, outputs = images.shape[1] // groups, grad.shape[1] // groups
    total = np.zeros((groups, channels * math.prod(size), outputs), images.dtype)
    for part in _parts(seen.shape, COLUMNS):
        rows = upstream[:, :, *part].reshape(groups, outputs, -1)
        total += _columns(seen, part) @ rows.swapaxes(1, 2)
    return np.ascontiguousarray(total.swapaxes(1, 2)).reshape(groups * outputs, channels, *size)


def image_gradient(grad: Array, kernels: Array, lengths: Shape, how: Sliding) -> Array:
    """Return the gradient of images of some sizes, from that of the convolved images.

    With a stride of 1 it is a convolution with the kernels turned around. Otherwise a product with
    the kernels gives the gradient of each window, of which all elements at one place are added to
    the images together.
    """
    groups, size = how.groups, kernels.shape[2:]
    channels, outputs = kernels.shape[1] * groups, len(kernels) // groups
    every = zip(how.dilation, size, how.padding, strict=True)
    reach = tuple(spread * (taps - 1) - edge for spread, taps, edge in every)
    if max(how.stride) == 1 and min(reach) >= 0:
        turned = np.flip(kernels, tuple(range(2, kernels.ndim)))
        turned = turned.reshape(groups, outputs, -1, *size).swapaxes(1, 2)
        turned = turned.reshape(channels, outputs, *size)
        return convolve(grad, turned, None, how._replace(padding=reach))
    rows = kernels.reshape(groups, outputs, -1).swapaxes(1, 2)
    around = [length + 2 * edge for length, edge in zip(lengths, how.padding, strict=True)]
    out = np.zeros((len(grad), channels, *around), grad.dtype)
    seen, upstream = _windows(out, size, how, writeable=True), _in_groups(grad, groups)
    for part in _parts(seen.shape, COLUMNS):
        columns = rows @ upstream[:, :, *part].reshape(groups, outputs, -1)
        targets = seen[:, :, *[slice(None)] * len(size), *part]
        columns = columns.reshape(targets.shape)
        for place in np.ndindex(*size):
            targets[:, :, *place] += columns[:, :, *place]
    return np.ascontiguousarray(inside(out, how.padding))


def _windows(images: Array, size: Shape, how: Sliding, writeable: bool = False) -> Array:
    """Return a view of what kernels see: (groups, channels / groups, *size, batch, *places)."""
    dims = len(size)
    spans = [spread * (taps - 1) + 1 for taps, spread in zip(size, how.dilation, strict=True)]
    seen = sliding_window_view(images, spans, tuple(range(2, 2 + dims)), writeable=writeable)
    seen = seen[:, :, *(slice(None, None, step) for step in (*how.stride, *how.dilation))]
    apart = _in_groups(seen, how.groups)
    places, taps = range(3, 3 + dims), range(3 + dims, 3 + 2 * dims)
    return apart.transpose(0, 1, *taps, 2, *places)


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


class Convolution(FusedKernel):
    """Images, kernels and biases, and stride, padding, dilation and groups."""

    reads = (0, 1)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, and float16, which BLAS does not multiply, to the composition."""
        return are_computed(*arguments[:3])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the convolved images."""
        x, kernels, bias, *settings = arguments
        arrays = array_of(x), array_of(kernels), None if bias is None else array_of(bias)
        return tensor_of(no_warnings().run(convolve, *arrays, Sliding(*settings)), x), ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of images, kernels and biases, each if it is wanted."""
        x, kernels, _, *settings = arguments
        arrays = array_of(grad), array_of(x), array_of(kernels), needs, settings
        found = no_warnings().run(self._gradients, *arrays)
        tensors = [None if array is None else tensor_of(array, x) for array in found]
        return *tensors, *[None] * len(settings)

    def _gradients(
        self, grad: Array, images: Array, kernels: Array, needs: Needs, settings: Sequence[Any]
    ) -> Sequence[Array | None]:
        """Return the gradients as arrays."""
        how = Sliding(*settings)
        return (
            image_gradient(grad, kernels, images.shape[2:], how) if needs[0] else None,
            kernel_gradient(grad, images, kernels.shape[2:], how) if needs[1] else None,
            _bias_gradient(grad) if needs[2] else None,
        )


class TransposedConvolution(Convolution):
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
        x, kernels, bias, stride, padding, more, dilation, groups = arguments
        least = transposed_sizes(x.shape[2:], kernels.shape[2:], stride, padding, dilation)
        size = tuple(length + added for length, added in zip(least, more, strict=True))
        arrays, how = (array_of(x), array_of(kernels)), Sliding(stride, padding, dilation, groups)
        out = no_warnings().run(image_gradient, *arrays, size, how)
        if bias is not None:
            out += array_of(bias).reshape(-1, *(1,) * len(size))
        return tensor_of(out, x), ()

    def _gradients(
        self, grad: Array, images: Array, kernels: Array, needs: Needs, settings: Sequence[Any]
    ) -> Sequence[Array | None]:
        """Return the gradients as arrays."""
        stride, padding, _, dilation, groups = settings
        how = Sliding(stride, padding, dilation, groups)
        return (
            convolve(grad, kernels, None, how) if needs[0] else None,
            kernel_gradient(images, grad, kernels.shape[2:], how) if needs[1] else None,
            _bias_gradient(grad) if needs[2] else None,
        )


def _bias_gradient(grad: Array) -> Array:
    """Return the sum of what each channel gets."""
    total: Array = grad.reshape(*grad.shape[:2], -1).sum(2).sum(0)
    return total


KERNELS: dict[str, FusedKernel] = {
    "conv2d": Convolution(),
    "conv3d": Convolution(),
    "conv_transpose2d": TransposedConvolution(),
    "conv_transpose3d": TransposedConvolution(),
}
"""The kernels by the name of the operation."""
