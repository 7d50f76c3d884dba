"""Pooling of signals and volumes, with all settings, and pooling to a norm.

`max_pool` also implements the settings of `max_pool2d` that the core leaves out: dilated windows,
and windows that stick out at the end.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mt_nn.core.arguments import checked
from mt_nn.core.extensions import extends
from mt_nn.core.pooling import MaxPool, _max_pool2d
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch, windows
from mt_nn.errors import InputError, SettingError, SettingTypeError
from mt_nn.layers.dimensions import check_not_empty, check_pooling, over_dimensions, pairs
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor, fused, int64, pad, tensor, zeros
from mt_tensor.extending import Array, Shape, as_number, gather_unchecked, is_integer, wide

Numbers = tuple[int, ...]


@extends("max pooling")
def max_pool(
    dims: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window; see `max_pool2d`. Samples have `dims` sizes."""
    batch = as_batch(f"max_pool{dims}d", input, dims)
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    kernel, steps, margins, spreads, ends = _pooling(batch.shape, *settings)
    if not return_indices and max(spreads) == 1:
        if ends:
            batch = pad(batch, pairs((0,) * dims, ends), value=-math.inf)
        out = _by_planes(_max_pool2d, batch, kernel, steps, margins)
        return out.squeeze(0) if input.ndim == dims + 1 else out
    every = zip(batch.shape[2:], kernel, steps, margins, spreads, ends or (0,) * dims, strict=True)
    results = largest(batch, [_taps(*setting) for setting in every])
    if input.ndim == dims + 1:
        results = (results[0].squeeze(0), results[1].squeeze(0))
    return results if return_indices else results[0]


def avg_pool(
    dims: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window.

    Args:
        dims: 2 in `avg_pool2d`, 3 in `avg_pool3d`: how many sizes there are.
        input: shape (batch, channels, *sizes), or without the batch.
        kernel_size: the sizes of a window.
        stride: distance between windows; the kernel size if None.
        padding: zeros added on each side, at most half the kernel size.
        ceil_mode: whether elements left over at the end get one more window; what it covers beyond
            the padding is not counted.
        count_include_pad: whether padding is counted.
        divisor_override: what sums are divided by, instead of the number of counted elements.

    Returns:
        The shape of `max_pool2d`.

    Raises:
        InputError: the input is no such batch, or a window is larger than an image.
        SettingError: an invalid setting.
    """
    batch = as_batch(f"avg_pool{dims}d", input, dims)
    settings = (kernel_size, stride, padding, 1, ceil_mode)
    kernel, steps, margins, _, ends = _pooling(batch.shape, *settings)
    lengths = batch.shape[2:]
    if ends:
        batch = pad(batch, pairs((0,) * dims, ends))
    rescaled = divisor_override is not None or ends or (max(margins) and not count_include_pad)
    # In float32 for float16, so that it is rounded once.
    out = _by_planes(_avg_pool2d, wide(batch) if rescaled else batch, kernel, steps, margins)
    if divisor_override is not None:
        whole = is_integer(divisor_override)
        if not whole or divisor_override == 0:
            message = f"divisor_override must be an integer other than 0; got {divisor_override!r}."
            raise SettingError(message) if whole else SettingTypeError(message)
        out = out * (math.prod(kernel) / divisor_override)
    elif rescaled:
        edges = margins if count_include_pad else (0,) * dims
        every = zip(lengths, out.shape[2:], kernel, steps, margins, edges, strict=True)
        shares = functools.reduce(np.multiply.outer, [_shares(*setting) for setting in every])
        out = out * tensor(shares, dtype=out.dtype, backend=out.backend)
    if rescaled:
        out = out.to(batch.dtype)
    return out.squeeze(0) if input.ndim == dims + 1 else out


max_pool1d, _, max_pool3d = over_dimensions(max_pool)
avg_pool2d, avg_pool3d = over_dimensions(avg_pool)[1:]


@checked
def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of signals; see `avg_pool2d`, which can do more."""
    return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def lp_pool(
    dims: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return a norm of each window: the root of order p of the sum of powers of order p.

    Powers are of the elements, not of their sizes, as in torch: where p is odd, sums may be below
    zero, and have no root. The gradient of a sum of zero is 0. The last windows in `ceil_mode` are
    weighed as if they were full.

    Args:
        dims: 1 in `lp_pool1d`, 2 in `lp_pool2d`, 3 in `lp_pool3d`: how many sizes there are.
        input: shape (batch, channels, *sizes), or without the batch.
        norm_type: p; inf for the size of the largest element, -inf for that of the smallest.
        kernel_size: the sizes of the window.
        stride: distance between windows; the kernel's size if None.
        ceil_mode: whether there is one more window where elements are left over at the end.

    Returns:
        The shape of `max_pool2d`.

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: an invalid setting.
    """
    power = float(as_number("norm_type", norm_type))
    if power == 0.0 or math.isnan(power):
        raise SettingError(f"norm_type must be a number other than 0; got {norm_type}.")
    as_batch(f"lp_pool{dims}d", input, dims)
    if math.isinf(power):
        sizes = input.abs() if power > 0 else -input.abs()
        largest: Tensor = max_pool(dims, sizes, kernel_size, stride, ceil_mode=ceil_mode)
        return largest.abs()
    means = avg_pool(dims, input.pow(power), kernel_size, stride, ceil_mode=ceil_mode)
    count = math.prod(integers("kernel_size", kernel_size, dims, 1))
    return (means.sign() * means.abs().relu() * count).pow(1.0 / power)


lp_pool1d, lp_pool2d, lp_pool3d = over_dimensions(lp_pool)


# --- The computation ------------------------------------------------------------------------------


@fused("avg_pool2d")
def _avg_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Compute `avg_pool2d`; the arguments have been checked."""
    return windows(input, kernel_size, stride, padding).mean((4, 5))


def _pooling(
    shape: Shape,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """Check settings; return kernel size, stride, padding, dilation and `_ends`."""
    check_not_empty(shape)
    dims = len(shape) - 2
    kernel = integers("kernel_size", kernel_size, dims, 1)
    steps = kernel if stride is None else integers("stride", stride, dims, 1)
    margins = integers("padding", padding, dims, 0)
    spreads = integers("dilation", dilation, dims, 1)
    ends = _ends(shape[2:], kernel, steps, margins, spreads) if ceil_mode else ()
    if ends:
        longer = (length + end for length, end in zip(shape[2:], ends, strict=True))
        shape = (*shape[:2], *longer)
    check_pooling(shape, kernel, margins, spreads)
    return kernel, steps, margins, spreads, ends


def _ends(
    lengths: Shape, kernel: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers
) -> Numbers:
    """Return how far windows stick out beyond the padding at the end; () if none does.

    Elements left over at the end get a window, if it begins before the padding there.
    """
    ends = []
    every = zip(lengths, kernel, stride, padding, dilation, strict=True)
    for length, size, step, margin, spread in every:
        span = spread * (size - 1) + 1
        last = -((span - length - 2 * margin) // step)
        if last * step >= length + margin:
            last -= 1
        ends.append(max(last * step + span - length - 2 * margin, 0) if last >= 0 else 0)
    return tuple(ends) if any(ends) else ()


def _by_planes(
    pool: Any, input: Tensor, kernel: Numbers, stride: Numbers, padding: Numbers
) -> Tensor:
    """Pool with a function for images: signals as images of height 1, volumes plane by plane."""
    if len(kernel) == 2:
        return pool(input, kernel, stride, padding)  # type: ignore[no-any-return]
    if len(kernel) == 1:
        out: Tensor = pool(input.unsqueeze(2), (1, *kernel), (1, *stride), (0, *padding))
        return out.squeeze(2)
    planes = pool(input.flatten(1, 2), kernel[1:], stride[1:], padding[1:])
    columns = planes.flatten(2).unflatten(1, input.shape[1:3])  # (batch, channels, depth, plane)
    out = pool(columns, (kernel[0], 1), (stride[0], 1), (padding[0], 0))
    return out.unflatten(3, planes.shape[2:])


def _shares(length: int, count: int, size: int, step: int, margin: int, edge: int) -> Array:
    """Return the size of a window by how much of each window counts, along one dimension.

    What counts ends `edge` beyond the input on each side.
    """
    starts = np.arange(count) * step - margin
    counted = np.minimum(starts + size, length + edge) - np.maximum(starts, -edge)
    shares: Array = size / counted
    return shares


def _taps(length: int, size: int, step: int, margin: int, spread: int, end: int) -> Array:
    """Return which elements each window sees along one dimension, shape (windows, kernel size).

    What is beyond the input is replaced by the first element that is not.

    Raises:
        InputError: a window sees nothing but padding.
    """
    count = (length + 2 * margin + end - spread * (size - 1) - 1) // step + 1
    starts = np.arange(count) * step - margin
    firsts = np.where(starts < 0, starts % spread, starts)
    if (firsts >= length).any():
        raise InputError(
            f"with a dilation of {spread}, a window sees nothing but padding around {length} "
            "element(s): use less of one of them."
        )
    taps = starts[:, None] + spread * np.arange(size)
    return np.where((taps >= 0) & (taps < length), taps, firsts[:, None])


def largest(input: Tensor, taps: list[Array]) -> tuple[Tensor, Tensor]:
    """Return the largest element that each window sees, and its place in the flattened input.

    Args:
        input: shape (batch, channels, *sizes).
        taps: for each size, which elements windows see, shape (windows, taps).

    Returns:
        Two tensors of shape (batch, channels, *windows). The first of equals counts.
    """
    indices = _places(input.detach(), tuple(taps))
    values = gather_unchecked(input.flatten(2), 2, indices.flatten(2))
    return values.unflatten(2, indices.shape[2:]), indices


@fused("max_places")
def _places(input: Tensor, taps: tuple[Array, ...]) -> Tensor:
    """Return the places of `largest`."""
    table = tensor(flattened(input.shape[2:], taps), backend=input.backend)
    seen_by = input.flatten(2).index_select(2, table.flatten()).unflatten(2, table.shape)
    best = seen_by.argmax(3, keepdim=True)
    found = gather_unchecked(table.expand(*best.shape[:2], *table.shape), 3, best)
    return found.squeeze(3).unflatten(2, tuple(len(seen) for seen in taps))


def flattened(lengths: Sequence[int], taps: Sequence[Array]) -> Array:
    """Return which elements of flattened inputs windows see, shape (*batch, windows, elements).

    Args:
        lengths: the sizes of an input.
        taps: for each size, which elements windows see, shape (*batch, windows, taps).
    """
    places: Array = np.zeros((), np.int64)
    for dim, (length, seen) in enumerate(zip(lengths, taps, strict=True)):
        shape = [1] * (2 * len(taps))
        shape[dim], shape[len(taps) + dim] = seen.shape[-2:]
        places = places * length + seen.reshape(*seen.shape[:-2], *shape)
    batch = taps[0].shape[:-2]
    windows = math.prod(places.shape[len(batch) : len(batch) + len(taps)])
    return places.reshape(*batch, windows, -1)


# --- Layers ---------------------------------------------------------------------------------------


class MaxPool1d(MaxPool):
    """The largest element of each window of signals; see `MaxPool2d`."""

    function = staticmethod(max_pool1d)


class MaxPool3d(MaxPool):
    """The largest element of each window of volumes; see `MaxPool2d`."""

    function = staticmethod(max_pool3d)


class _AvgPool(FunctionLayer):
    """Base of the layers of mean pooling; the arguments are those of `avg_pool2d`."""

    shown = ("kernel_size", "stride", "padding")
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def _check(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class AvgPool2d(_AvgPool):
    """The mean of each window of images; see `mt_nn.functional.avg_pool2d`."""

    function = staticmethod(avg_pool2d)
    divisor_override: int | None = None


class AvgPool1d(_AvgPool):
    """The mean of each window of signals; see `AvgPool2d`."""

    function = staticmethod(avg_pool1d)

    def _check(self) -> None:
        super()._check()
        self.kernel_size = integers("kernel_size", self.kernel_size, 1, 1)
        self.stride = integers("stride", self.stride, 1, 1)
        self.padding = integers("padding", self.padding, 1, 0)


class AvgPool3d(AvgPool2d):
    """The mean of each window of volumes; see `AvgPool2d`."""

    function = staticmethod(avg_pool3d)


class _LPPool(FunctionLayer):
    """What the norms of windows share: their settings.

    Args:
        norm_type: the order of the norm.
        kernel_size: the sizes of the window.
        stride: distance between windows; the kernel's size if None.
        ceil_mode: whether there is one more window where elements are left over at the end.
    """

    shown = ("norm_type", "kernel_size", "stride", "ceil_mode")
    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None = None
    ceil_mode: bool = False


class LPPool1d(_LPPool):
    """A norm of each window of signals; see `LPPool2d`."""

    function = staticmethod(lp_pool1d)


class LPPool2d(_LPPool):
    """A norm of each window of images; see `mt_nn.functional.lp_pool2d`."""

    function = staticmethod(lp_pool2d)


class LPPool3d(_LPPool):
    """A norm of each window of volumes; see `LPPool2d`."""

    function = staticmethod(lp_pool3d)


# --- The way back: the largest elements where they were -------------------------------------------


def max_unpool(
    dims: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Undo the pooling to the largest elements, with zeros for what it left out.

    Args:
        dims: 1 in `max_unpool1d`, 2 in `max_unpool2d`, 3 in `max_unpool3d`: how many sizes there
            are.
        input: what the pooling returned, shape (batch, channels, *sizes), or without the batch.
        indices: where in the flattened images it came from, int64 of the same shape. Which of
            several elements for one place remains is open.
        kernel_size: that of the pooling, as are the next two.
        stride: how far apart windows were; the kernel's size if None.
        padding: how much was added on each side.
        output_size: the sizes of what was pooled, perhaps after batch and channels; None for
            `(size - 1) stride - 2 padding + kernel`, from which it is less than the stride away.

    Returns:
        Shape (batch, channels, *output_size).

    Raises:
        InputError: the shapes do not fit, or the indices are not int64.
        SettingError: an invalid setting.
        IndexingError: an index lies outside of the images.
    """
    name = f"max_unpool{dims}d"
    batch = as_batch(name, input, dims)
    if indices.shape != input.shape or indices.dtype is not int64:
        raise InputError(
            f"{name}() takes indices of the shape {input.shape} of its input and of int64; shape "
            f"{indices.shape} and {indices.dtype.name} were given."
        )
    kernel = integers("kernel_size", kernel_size, dims, 1)
    steps = kernel if stride is None else integers("stride", stride, dims, 1)
    margins = integers("padding", padding, dims, 0)
    every = zip(batch.shape[2:], kernel, steps, margins, strict=True)
    size = tuple((length - 1) * step + k - 2 * margin for length, k, step, margin in every)
    if output_size is not None:
        size = _chosen(output_size, size, steps)
    if min(size) < 0:
        raise SettingError(f"{name}() with padding {margins} would leave sizes of {size}.")
    n, channels = batch.shape[:2]
    empty = zeros(n, channels, math.prod(size), dtype=batch.dtype, backend=batch.backend)
    places = indices.reshape(n, channels, math.prod(batch.shape[2:]))
    out = empty.scatter(2, places, batch.flatten(2)).unflatten(2, size)
    return out.squeeze(0) if input.ndim == dims + 1 else out


max_unpool1d, max_unpool2d, max_unpool3d = over_dimensions(max_unpool)


def _chosen(output_size: Any, usual: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """Return the size of an output that is given, if it is less than the stride from the usual."""
    given = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,)
    if len(given) not in (len(usual), len(usual) + 2):
        raise SettingError(f"output_size must have {len(usual)} sizes; got {output_size}.")
    size = integers("output_size", given[-len(usual) :], len(usual), 0)
    if any(abs(e - u) >= step for e, u, step in zip(size, usual, stride, strict=True)):
        raise SettingError(
            f"output_size {size} must be less than the stride {stride} away from {usual} in each "
            "dimension."
        )
    return size


# --- Layers ---------------------------------------------------------------------------------------


class _MaxUnpool(FunctionLayer):
    """What the ways back share: the settings of the pooling."""

    dims: ClassVar[int]
    shown = ("kernel_size", "stride", "padding")
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0

    def _check(self) -> None:
        stride = self.kernel_size if self.stride is None else self.stride
        self.kernel_size = integers("kernel_size", self.kernel_size, self.dims, 1)
        self.stride = integers("stride", stride, self.dims, 1)
        self.padding = integers("padding", self.padding, self.dims, 0)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Return shape (batch, channels, *sizes), from what the pooling returned."""
        found: Tensor = super().forward(input, indices, output_size=output_size)
        return found


class MaxUnpool1d(_MaxUnpool):
    """Undoes `MaxPool1d`; see `MaxUnpool2d`."""

    dims = 1
    function = staticmethod(max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Undoes `MaxPool2d` with zeros for what it left out; see `mt_nn.functional.max_unpool2d`."""

    dims = 2
    function = staticmethod(max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Undoes `MaxPool3d`; see `MaxUnpool2d`."""

    dims = 3
    function = staticmethod(max_unpool3d)
