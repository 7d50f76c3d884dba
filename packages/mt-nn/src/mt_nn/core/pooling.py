"""Pooling: one number for each window of an image, the largest element or the mean.

The windows are those of convolution, and what is done with them is a reduction of stage 2. Most of
this file is about windows that the settings let stick out at the edges.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mt_nn.core.arguments import over_dimensions
from mt_nn.core.errors import InputError, SettingError, SettingTypeError
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch, check_not_empty, check_windows, pairs, windows
from mt_tensor import Tensor, fused, pad, tensor
from mt_tensor.extending import Array, Shape, gather_unchecked, is_integer, wide


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
    """Return the largest element of each window; the gradient goes to the first of equals.

    Args:
        dims: 1 in `max_pool1d`, 2 in `max_pool2d`, 3 in `max_pool3d`: how many extents there are.
        input: shape (batch, channels, *extents), or without the batch.
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: -infinity added on each side, at most half the kernel's size.
        dilation: how far apart the elements of a window are.
        ceil_mode: whether there is one more window where elements are left over at the end.
        return_indices: whether to return as well where the elements are.

    Returns:
        Shape (batch, channels, *out extents), where an extent becomes
        `(extent + 2 padding - dilation (kernel - 1) - 1) / stride + 1`, rounded down, or up in
        `ceil_mode`. With `return_indices`, a pair of this and the places in the flattened image,
        of int64; see `max_unpool2d`.

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: a setting makes no sense.
    """
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
        dims: 2 in `avg_pool2d`, 3 in `avg_pool3d`: how many extents there are.
        input: shape (batch, channels, *extents), or without the batch.
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: zeros added on each side, at most half the kernel's size.
        ceil_mode: whether there is one more window where elements are left over at the end; what
            of it lies beyond the padding does not count.
        count_include_pad: whether padding counts.
        divisor_override: what sums are divided by, in place of the number of elements that count.

    Returns:
        The shape of `max_pool2d`.

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: a setting makes no sense.
    """
    batch = as_batch(f"avg_pool{dims}d", input, dims)
    settings = (kernel_size, stride, padding, 1, ceil_mode)
    kernel, steps, margins, _, ends = _pooling(batch.shape, *settings)
    extents = batch.shape[2:]
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
        every = zip(extents, out.shape[2:], kernel, steps, margins, edges, strict=True)
        shares = functools.reduce(np.multiply.outer, [_shares(*setting) for setting in every])
        out = out * tensor(shares, dtype=out.dtype, backend=out.backend)
    if rescaled:
        out = out.to(batch.dtype)
    return out.squeeze(0) if input.ndim == dims + 1 else out


max_pool1d, max_pool2d, max_pool3d = over_dimensions(max_pool)
_, avg_pool2d, avg_pool3d = over_dimensions(avg_pool)


# --- The computation ------------------------------------------------------------------------------


def _pooling(
    shape: Shape,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Check settings; return kernel size, stride, padding, dilation and `_ends`."""
    check_not_empty(shape)
    dims = len(shape) - 2
    kernel = integers("kernel_size", kernel_size, dims, 1)
    steps = kernel if stride is None else integers("stride", stride, dims, 1)
    margins = integers("padding", padding, dims, 0)
    spreads = integers("dilation", dilation, dims, 1)
    ends = _ends(shape[2:], kernel, steps, margins, spreads) if ceil_mode else ()
    if ends:
        longer = (extent + end for extent, end in zip(shape[2:], ends, strict=True))
        shape = (*shape[:2], *longer)
    _check_shapes(shape, kernel, margins, spreads)
    return kernel, steps, margins, spreads, ends


@functools.lru_cache(1024)
def _check_shapes(
    shape: Shape, kernel: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]
) -> None:
    """Raise unless windows fit into inputs; what does is remembered."""
    if any(2 * margin > size for margin, size in zip(padding, kernel, strict=True)):
        raise SettingError(
            f"padding {padding} must be at most half the kernel size {kernel}, or windows would "
            "see nothing but padding."
        )
    check_windows(shape, kernel, padding, dilation)


def _ends(
    extents: Shape,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """Return how far windows stick out beyond the padding at the end; () if none does.

    Elements left over at the end get a window, if it begins before the padding there.
    """
    ends = []
    every = zip(extents, kernel, stride, padding, dilation, strict=True)
    for extent, size, step, margin, spread in every:
        span = spread * (size - 1) + 1
        last = -((span - extent - 2 * margin) // step)
        if last * step >= extent + margin:
            last -= 1
        ends.append(max(last * step + span - extent - 2 * margin, 0) if last >= 0 else 0)
    return tuple(ends) if any(ends) else ()


def _by_planes(
    pool: Any,
    input: Tensor,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
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


@fused("max_pool2d")
def _max_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Pool; the arguments are those of `max_pool2d`, checked."""
    seen = windows(input, kernel_size, stride, padding, value=float("-inf")).flatten(4)
    return gather_unchecked(seen, 4, seen.argmax(4, keepdim=True)).squeeze(4)


@fused("avg_pool2d")
def _avg_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Pool; the arguments are those of `avg_pool2d`, checked."""
    return windows(input, kernel_size, stride, padding).mean((4, 5))


def _shares(extent: int, count: int, size: int, step: int, margin: int, edge: int) -> Array:
    """Return the size of a window by how much of each window counts, along one dimension.

    What counts ends `edge` beyond the input on each side.
    """
    starts = np.arange(count) * step - margin
    counted = np.minimum(starts + size, extent + edge) - np.maximum(starts, -edge)
    shares: Array = size / counted
    return shares


def _taps(extent: int, size: int, step: int, margin: int, spread: int, end: int) -> Array:
    """Return which elements each window sees along one dimension, shape (windows, kernel size).

    What is beyond the input is replaced by the first element that is not.

    Raises:
        InputError: a window sees nothing but padding.
    """
    count = (extent + 2 * margin + end - spread * (size - 1) - 1) // step + 1
    starts = np.arange(count) * step - margin
    firsts = np.where(starts < 0, starts % spread, starts)
    if (firsts >= extent).any():
        raise InputError(
            f"with a dilation of {spread}, a window sees nothing but padding around {extent} "
            "element(s): use less of one of them."
        )
    taps = starts[:, None] + spread * np.arange(size)
    return np.where((taps >= 0) & (taps < extent), taps, firsts[:, None])


def largest(input: Tensor, taps: list[Array]) -> tuple[Tensor, Tensor]:
    """Return the largest element that each window sees, and its place in the flattened input.

    Args:
        input: shape (batch, channels, *extents).
        taps: for each extent, which elements windows see, shape (windows, taps).

    Returns:
        Two tensors of shape (batch, channels, *windows). The first of equals counts.
    """
    indices = _places(input.detach(), tuple(taps))
    values = gather_unchecked(input.flatten(2), 2, indices.flatten(2))
    return values.unflatten(2, indices.shape[2:]), indices


@fused("max_places")
def _places(input: Tensor, taps: tuple[Array, ...]) -> Tensor:
    """Return the places of `largest`."""
    dims = len(taps)
    places: Array = np.zeros((), np.int64)
    for dim, (extent, seen) in enumerate(zip(input.shape[2:], taps, strict=True)):
        shape = [1] * (2 * dims)
        shape[dim], shape[dims + dim] = seen.shape
        places = places * extent + seen.reshape(shape)
    counts, size = places.shape[:dims], math.prod(places.shape[dims:])
    rows = places.reshape(math.prod(counts), size)
    table = tensor(rows, backend=input.backend)
    seen_by = input.flatten(2).index_select(2, table.flatten()).unflatten(2, rows.shape)
    best = seen_by.argmax(3, keepdim=True)
    found = gather_unchecked(table.expand(*best.shape[:3], size), 3, best)
    return found.squeeze(3).unflatten(2, counts)
