"""Max, average and power-average pooling of signals, images and volumes, and max unpooling.

`max_pool` also implements the settings of `max_pool2d` that the core does not: dilation,
`ceil_mode` and `return_indices`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.core.arguments import checked
from mt_nn.core.extensions import extends
from mt_nn.core.pooling import MaxPool, _max_pool2d
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch, windows
from mt_nn.errors import InputError, SettingError, SettingTypeError
from mt_nn.layers.convolution import transposed_sizes
from mt_nn.layers.dimensions import Numbers, check_not_empty, check_pooling, over_dimensions, pairs
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor, fused, int64, pad, tensor, zeros
from mt_tensor.extending import Array, Shape, as_number, gather_unchecked, is_integer, wide


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
    """Return the largest element of each window of signals, images or volumes.

    The first of equal elements gets the gradient.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, channels, *sizes), or without the batch.
        kernel_size: the sizes of a window.
        stride: distance between windows; the kernel size if None.
        padding: number of elements of -infinity added on each side, at most half the kernel size.
        dilation: distance between the elements of a window.
        ceil_mode: whether to add an incomplete window for the remaining elements at the end.
        return_indices: whether to return the positions of the elements, too.

    Returns:
        Shape (batch, channels, *out sizes), with the sizes of `max_pool2d`. With `return_indices`,
        a pair of this and the int64 positions in the flattened signal, image or volume.

    Raises:
        InputError: the shape or dtype of the input is invalid, or a window exceeds the input.
        SettingError: a setting is invalid.
    """
    name = f"max_pool{dims}d"
    batch = as_batch(name, input, dims)
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    kernel, steps, margins, dilations, overhang = _checked_settings(name, batch.shape, *settings)
    if not return_indices and max(dilations) == 1:
        if overhang:
            batch = pad(batch, pairs((0,) * dims, overhang), value=-math.inf)
        out = _by_planes(_max_pool2d, batch, kernel, steps, margins)
        return out.squeeze(0) if input.ndim == dims + 1 else out
    overhang = overhang or (0,) * dims
    each_dim = zip(batch.shape[2:], kernel, steps, margins, dilations, overhang, strict=True)
    values, indices = max_of_taps(batch, [_taps(*setting) for setting in each_dim])
    if input.ndim == dims + 1:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


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
    """Return the mean of each window of signals, images or volumes.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, channels, *sizes), or without the batch.
        kernel_size: the sizes of a window.
        stride: distance between windows; the kernel size if None.
        padding: number of zeros added on each side, at most half the kernel size.
        ceil_mode: whether to add an incomplete window for the remaining elements at the end.
        count_include_pad: whether the padding counts as elements of a window.
        divisor_override: the divisor of the sums, instead of the number of counted elements.

    Returns:
        Shape (batch, channels, *out sizes), with the sizes of `max_pool2d`.

    Raises:
        InputError: the shape or dtype of the input is invalid, or a window exceeds the input.
        SettingError: a setting is invalid.
    """
    name = f"avg_pool{dims}d"
    batch = as_batch(name, input, dims)
    settings = (kernel_size, stride, padding, 1, ceil_mode)
    kernel, steps, margins, _, overhang = _checked_settings(name, batch.shape, *settings)
    lengths = batch.shape[2:]
    if overhang:
        batch = pad(batch, pairs((0,) * dims, overhang))
    is_partial = bool(overhang) or (any(margins) and not count_include_pad)
    is_rescaled = divisor_override is not None or is_partial
    # Rescale float16 in float32, so that the result is rounded once.
    out = _by_planes(_avg_pool2d, wide(batch) if is_rescaled else batch, kernel, steps, margins)
    if divisor_override is not None:
        if not is_integer(divisor_override) or divisor_override == 0:
            error = SettingError if is_integer(divisor_override) else SettingTypeError
            raise error(
                f"{name}(): divisor_override must be a nonzero integer; got {divisor_override!r}."
            )
        out = out * (math.prod(kernel) / divisor_override)
    elif is_partial:
        edges = margins if count_include_pad else (0,) * dims
        each_dim = zip(lengths, out.shape[2:], kernel, steps, margins, edges, strict=True)
        factors = functools.reduce(np.multiply.outer, [_rescaling(*each) for each in each_dim])
        out = out * tensor(factors, dtype=out.dtype, backend=out.backend)
    if is_rescaled:
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
    """Return the mean of each window of signals; see `avg_pool2d`, which has more settings."""
    return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def lp_pool(
    dims: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return `sum(x ** p) ** (1 / p)` of each window of signals, images or volumes.

    This is power-average pooling. As in torch, it is a norm only if p is even: powers are those of
    the elements, not of their absolute values, and the root of a negative sum is nan. The gradient
    of a sum of 0 is 0. In `ceil_mode`, the mean of an incomplete window is scaled as if the window
    were complete.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, channels, *sizes), or without the batch.
        norm_type: p; inf for the largest absolute value, -inf for the smallest.
        kernel_size: the sizes of a window.
        stride: distance between windows; the kernel size if None.
        ceil_mode: whether to add an incomplete window for the remaining elements at the end.

    Returns:
        Shape (batch, channels, *out sizes), with the sizes of `max_pool2d`.

    Raises:
        InputError: the shape or dtype of the input is invalid, or a window exceeds the input.
        SettingError: a setting is invalid.
    """
    power = float(as_number("norm_type", norm_type))
    if power == 0.0 or math.isnan(power):
        raise SettingError(
            f"lp_pool{dims}d(): norm_type must be a nonzero number; got {norm_type}."
        )
    as_batch(f"lp_pool{dims}d", input, dims)
    if math.isinf(power):
        values = input.abs() if power > 0 else -input.abs()
        extreme: Tensor = max_pool(dims, values, kernel_size, stride, ceil_mode=ceil_mode)
        return extreme.abs()
    means = avg_pool(dims, input.pow(power), kernel_size, stride, ceil_mode=ceil_mode)
    count = math.prod(integers("kernel_size", kernel_size, dims, 1))
    return (means.sign() * means.abs().relu() * count).pow(1.0 / power)


lp_pool1d, lp_pool2d, lp_pool3d = over_dimensions(lp_pool)


# --- The computation ------------------------------------------------------------------------------


@fused("avg_pool2d", wide=True)
def _avg_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Compute `avg_pool2d` for checked arguments."""
    return windows(input, kernel_size, stride, padding).mean((4, 5))


def _checked_settings(
    name: str,
    shape: Shape,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """Check settings; return kernel size, stride, padding, dilation and `_overhang`."""
    check_not_empty(name, shape)
    dims = len(shape) - 2
    kernel = integers("kernel_size", kernel_size, dims, 1)
    steps = kernel if stride is None else integers("stride", stride, dims, 1)
    margins = integers("padding", padding, dims, 0)
    dilations = integers("dilation", dilation, dims, 1)
    overhang = _overhang(shape[2:], kernel, steps, margins, dilations) if ceil_mode else ()
    if overhang:
        lengths = (length + end for length, end in zip(shape[2:], overhang, strict=True))
        shape = (*shape[:2], *lengths)
    check_pooling(name, shape, kernel, margins, dilations)
    return kernel, steps, margins, dilations, overhang


def _overhang(
    lengths: Shape, kernel: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers
) -> Numbers:
    """Return how far the last windows of `ceil_mode` exceed the padded input; () for no excess.

    There is an incomplete window only if it starts before the padding at the end.
    """
    overhang = []
    each_dim = zip(lengths, kernel, stride, padding, dilation, strict=True)
    for length, size, step, margin, spacing in each_dim:
        span = spacing * (size - 1) + 1
        last = -((span - length - 2 * margin) // step)
        if last * step >= length + margin:
            last -= 1
        overhang.append(max(last * step + span - length - 2 * margin, 0) if last >= 0 else 0)
    return tuple(overhang) if any(overhang) else ()


def _by_planes(
    pool: Any, input: Tensor, kernel: Numbers, stride: Numbers, padding: Numbers
) -> Tensor:
    """Pool with a function for images: signals as images of height 1, volumes as planes."""
    if len(kernel) == 2:
        return pool(input, kernel, stride, padding)  # type: ignore[no-any-return]
    if len(kernel) == 1:
        out: Tensor = pool(input.unsqueeze(2), (1, *kernel), (1, *stride), (0, *padding))
        return out.squeeze(2)
    planes = pool(input.flatten(1, 2), kernel[1:], stride[1:], padding[1:])
    columns = planes.flatten(2).unflatten(1, input.shape[1:3])  # (batch, channels, depth, plane)
    out = pool(columns, (kernel[0], 1), (stride[0], 1), (padding[0], 0))
    return out.unflatten(3, planes.shape[2:])


def _rescaling(length: int, count: int, size: int, step: int, margin: int, edge: int) -> Array:
    """Return kernel size / number of counted elements for each window along one dimension.

    Elements count up to `edge` outside of the input on each side.
    """
    starts = np.arange(count) * step - margin
    counted = np.minimum(starts + size, length + edge) - np.maximum(starts, -edge)
    factors: Array = size / counted
    return factors


def _taps(length: int, size: int, step: int, margin: int, spacing: int, end: int) -> Array:
    """Return the indices of the elements of each window along one dimension.

    Indices outside of the input are replaced by the first one of the window inside.

    Returns:
        Shape (windows, kernel size).

    Raises:
        InputError: a window covers only padding.
    """
    count = (length + 2 * margin + end - spacing * (size - 1) - 1) // step + 1
    starts = np.arange(count) * step - margin
    firsts = np.where(starts < 0, starts % spacing, starts)
    if (firsts >= length).any():
        raise InputError(
            f"max pooling with a dilation of {spacing}: a window covers only padding around "
            f"{length} element(s). Use a smaller dilation or less padding."
        )
    taps = starts[:, None] + spacing * np.arange(size)
    return np.where((taps >= 0) & (taps < length), taps, firsts[:, None])


def max_of_taps(input: Tensor, taps: list[Array]) -> tuple[Tensor, Tensor]:
    """Return the largest element of each window, and its index in the flattened input.

    Args:
        input: shape (batch, channels, *sizes).
        taps: for each size, the indices of the elements of windows, shape (windows, taps).

    Returns:
        Two tensors of shape (batch, channels, *windows). Of equal elements, the first is chosen.
    """
    indices = _argmax_of_taps(input.detach(), tuple(taps))
    values = gather_unchecked(input.flatten(2), 2, indices.flatten(2))
    return values.unflatten(2, indices.shape[2:]), indices


@fused("max_places")
def _argmax_of_taps(input: Tensor, taps: tuple[Array, ...]) -> Tensor:
    """Return the indices of `max_of_taps`."""
    table = tensor(flat_taps(input.shape[2:], taps), backend=input.backend)
    values = input.flatten(2).index_select(2, table.flatten()).unflatten(2, table.shape)
    best = values.argmax(3, keepdim=True)
    indices = gather_unchecked(table.expand(*best.shape[:2], *table.shape), 3, best)
    return indices.squeeze(3).unflatten(2, tuple(len(each) for each in taps))


def flat_taps(lengths: Sequence[int], taps: Sequence[Array]) -> Array:
    """Combine the taps of each dimension into indices of flattened inputs.

    Args:
        lengths: the sizes of an input.
        taps: for each size, the indices of the elements of windows, shape (*batch, windows, taps).

    Returns:
        Shape (*batch, windows, elements of a window).
    """
    indices: Array = np.zeros((), np.int64)
    for dim, (length, each) in enumerate(zip(lengths, taps, strict=True)):
        shape = [1] * (2 * len(taps))
        shape[dim], shape[len(taps) + dim] = each.shape[-2:]
        indices = indices * length + each.reshape(*each.shape[:-2], *shape)
    batch = taps[0].shape[:-2]
    windows, elements = (math.prod(each.shape[axis] for each in taps) for axis in (-2, -1))
    return indices.reshape(*batch, windows, elements)


# --- Layers ---------------------------------------------------------------------------------------


class MaxPool1d(MaxPool):
    """Max pooling of signals; see `MaxPool2d`."""

    function = staticmethod(max_pool1d)


class MaxPool3d(MaxPool):
    """Max pooling of volumes; see `MaxPool2d`."""

    function = staticmethod(max_pool3d)


class _Pool(FunctionLayer):
    """Base class of layers with the settings of pooling; by default, stride is the kernel size."""

    shown = ("kernel_size", "stride", "padding")
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0

    def _check(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class _AvgPool(_Pool):
    """Base class of average pooling layers; the arguments are those of `avg_pool2d`."""

    ceil_mode: bool = False
    count_include_pad: bool = True


class AvgPool2d(_AvgPool, function=avg_pool2d):
    """Average pooling of images; see `mt_nn.functional.avg_pool2d`."""

    divisor_override: int | None = None


class AvgPool1d(_AvgPool, function=avg_pool1d):
    """Average pooling of signals; see `AvgPool2d`."""


class AvgPool3d(AvgPool2d, function=avg_pool3d):
    """Average pooling of volumes; see `AvgPool2d`."""


class _LPPool(FunctionLayer):
    """Base class of power-average pooling layers; the arguments are those of `lp_pool2d`."""

    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None = None
    ceil_mode: bool = False


class LPPool1d(_LPPool, function=lp_pool1d):
    """Power-average pooling of signals; see `LPPool2d`."""


class LPPool2d(_LPPool, function=lp_pool2d):
    """Power-average pooling of images; see `mt_nn.functional.lp_pool2d`."""


class LPPool3d(_LPPool, function=lp_pool3d):
    """Power-average pooling of volumes; see `LPPool2d`."""


# --- Max unpooling --------------------------------------------------------------------------------


def max_unpool(
    dims: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the results of max pooling of signals, images or volumes back at their positions.

    All other elements are zero.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: the result of max pooling, shape (batch, channels, *sizes), or without the batch.
        indices: their positions in the flattened signals, images or volumes, int64 of the same
            shape. If positions are equal, one of the elements is stored; which one is unspecified.
        kernel_size: the kernel size of the pooling.
        stride: the stride of the pooling; the kernel size if None.
        padding: the padding of the pooling.
        output_size: the sizes of the pooled input, optionally after batch and channels; None for
            `(size - 1) * stride - 2 * padding + kernel`. They must differ from these by less than
            the stride.

    Returns:
        Shape (batch, channels, *output_size).

    Raises:
        InputError: a shape is invalid, or the indices are not int64.
        SettingError: a setting is invalid.
        IndexingError: an index is out of range.
    """
    name = f"max_unpool{dims}d"
    batch = as_batch(name, input, dims)
    if indices.shape != input.shape or indices.dtype is not int64:
        raise InputError(
            f"{name}() takes int64 indices of the shape of the input, {input.shape}; shape "
            f"{indices.shape} and {indices.dtype.name} were given."
        )
    kernel = integers("kernel_size", kernel_size, dims, 1)
    steps = kernel if stride is None else integers("stride", stride, dims, 1)
    margins = integers("padding", padding, dims, 0)
    size = transposed_sizes(batch.shape[2:], kernel, steps, margins, (1,) * dims)
    if output_size is not None:
        size = _checked_output_size(output_size, size, steps)
    if min(size) < 0:
        raise SettingError(f"{name}() with padding {margins} would leave sizes of {size}.")
    n, channels = batch.shape[:2]
    empty = zeros(n, channels, math.prod(size), dtype=batch.dtype, backend=batch.backend)
    positions = indices.reshape(n, channels, math.prod(batch.shape[2:]))
    out = empty.scatter(2, positions, batch.flatten(2)) if empty.numel() else empty
    out = out.unflatten(2, size)
    return out.squeeze(0) if input.ndim == dims + 1 else out


max_unpool1d, max_unpool2d, max_unpool3d = over_dimensions(max_unpool)


def _checked_output_size(output_size: Any, default: Numbers, stride: Numbers) -> Numbers:
    """Return the sizes of an output; raise SettingError if they are invalid for the stride."""
    dims = len(default)
    given = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,)
    if len(given) not in (dims, dims + 2):
        raise SettingError(
            f"max_unpool{dims}d(): output_size must have {dims} size(s); got {output_size}."
        )
    sizes = integers("output_size", given[-dims:], dims, 0)
    if any(abs(n - d) >= step for n, d, step in zip(sizes, default, stride, strict=True)):
        raise SettingError(
            f"max_unpool{dims}d(): output_size {sizes} must differ from {default} by less than the "
            f"stride {stride}."
        )
    return sizes


# --- Layers ---------------------------------------------------------------------------------------


class _MaxUnpool(_Pool):
    """Base class of max unpooling layers; the arguments are those of the max pooling."""

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Return shape (batch, channels, *output_size), given values and indices of max pooling."""
        out: Tensor = super().forward(input, indices, output_size=output_size)
        return out


class MaxUnpool1d(_MaxUnpool, function=max_unpool1d):
    """Max unpooling of signals; see `MaxUnpool2d`."""


class MaxUnpool2d(_MaxUnpool, function=max_unpool2d):
    """Max unpooling of images; see `mt_nn.functional.max_unpool2d`."""


class MaxUnpool3d(_MaxUnpool, function=max_unpool3d):
    """Max unpooling of volumes; see `MaxUnpool2d`."""
