"""Interpolation to other sizes, and rearrangement of channels and pixels.

`interpolate` resizes one dimension after the other. Each element of the result is a weighted sum of
a few elements of the input, its taps; modes differ in the taps and their weights.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.core.arguments import checked
from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.errors import InputError, SettingError, SettingTypeError
from mt_nn.layers.function import FunctionLayer
from mt_nn.utils.settings import check, choice
from mt_tensor import DType, Tensor, arange, fused, tensor, uint8
from mt_tensor.extending import Array, as_number, cached_constants, copy_if_aliased, wide

_NEAREST = ("nearest", "nearest-exact")
_ON_BYTES = (*_NEAREST, "bilinear", "bicubic")
"""The modes that also support uint8."""

Settings = tuple[str, int, int, float | None, bool, bool]
"""The arguments of `_taps`: mode, size, new size, factor, align_corners and antialias."""

_RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
"""The number of sizes, for modes that support only one."""


@checked
def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize signals, images or volumes by interpolation.

    Elements are squares, so that the center of element i of n is at `(i + 0.5) / n`; with
    `align_corners` they are points, and the first and the last are at 0 and 1.

    Args:
        input: floating-point, shape (batch, channels, *sizes), with one to three sizes. "nearest",
            "nearest-exact", "bilinear" and "bicubic" also support uint8, and round after resizing
            the width, and after resizing the height.
        size: the new sizes, or one for all.
        scale_factor: the factors of the sizes, which are rounded down, or one for all; instead of
            `size`.
        mode: "nearest", element `floor(i / factor)`; "nearest-exact", the element at the new
            center; "linear" for one size, "bilinear" for two and "trilinear" for three; "bicubic"
            for two (Keys 1981, "Cubic Convolution Interpolation", with a = -0.75); or "area", the
            means of `adaptive_avg_pool2d`.
        align_corners: whether to align the corner elements, for the linear and cubic modes; None
            for False.
        recompute_scale_factor: whether to use the ratio of the rounded sizes instead of the given
            factor.
        antialias: whether to average all elements that an element of a smaller image covers, for
            "bilinear" and "bicubic" (with a = -0.5).

    Returns:
        Shape (batch, channels, *new sizes).

    Raises:
        InputError: the mode does not support the shape or dtype, or the input is empty.
        SettingError: a setting is invalid, or inconsistent with another.
    """
    _check_mode(input, mode, align_corners, antialias)
    images, input = input, wide(input)  # sums are rounded once
    sizes, factors = _sizes(input.shape[2:], size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise SettingError(
            "interpolate() with recompute_scale_factor=True takes a scale_factor; a size was given."
        )
    # For these ratios of sizes, torch uses the ratio instead of the given factor.
    exact: tuple[int, ...] = (1,) if antialias or mode.endswith("linear") else ()
    exact = (1, 2) if mode == "nearest" and input.ndim == 4 else exact
    for dim in reversed(range(2, input.ndim)):  # the last one first, as documented for uint8
        length, target, given = input.shape[dim], sizes[dim - 2], factors[dim - 2]
        factor = None if recompute_scale_factor or target / length in exact else given
        if target != length or factor not in (None, 1.0):
            settings = (mode, length, target, factor, bool(align_corners), antialias)
            if input.dtype is uint8 and mode not in _NEAREST:
                resampled = _resampled(input.float(), dim, settings)
                input = (resampled + 0.5).floor().clamp(0, 255).to(uint8)
            else:
                input = _resampled(input, dim, settings)
    return copy_if_aliased(input.to(images.dtype), images)


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    """Raise an error unless the mode supports the input and the settings."""
    choice("mode", mode, (*_NEAREST, *_RANKS, "area"))
    dims = input.ndim - 2
    if dims not in (1, 2, 3) or _RANKS.get(mode, dims) != dims or 0 in input.shape[1:]:
        count = _RANKS.get(mode, "one to three")
        raise InputError(
            f"interpolate() with mode={mode!r} takes a tensor of shape (batch, channels, *sizes) "
            f"with {count} size(s), none of them 0; shape {input.shape} was given."
        )
    if not (input.is_floating_point() or (mode in _ON_BYTES and input.dtype is uint8)):
        raise InputError(
            f"interpolate() with mode={mode!r} takes a floating-point tensor; {input.dtype.name} "
            "was given. Convert with x.float()."
        )
    if align_corners is not None and mode not in _RANKS:
        raise SettingError(
            f"interpolate(): align_corners is for linear and cubic modes, not for {mode!r}."
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise SettingError(
            f"interpolate(): antialias is for modes bilinear and bicubic, not for {mode!r}."
        )


def _sizes(
    lengths: tuple[int, ...], size: Any, scale_factor: Any
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Return the new sizes, and the factors or None.

    Raises:
        SettingError: neither or both of size and factor are given, or one is invalid.
    """
    dims = len(lengths)
    if (size is None) == (scale_factor is None):
        raise SettingError(
            f"interpolate() takes either size or scale_factor; got {size!r} and {scale_factor!r}."
        )
    if size is not None:
        is_valid = not isinstance(size, tuple | list) or len(size) == dims
        check("size", size, is_valid, f"one integer or {dims}")
        return integers("size", size, dims, 1), (None,) * dims
    given = scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * dims
    try:
        factors = tuple(float(as_number("scale_factor", factor)) for factor in given)
    except TypeError as error:
        raise SettingTypeError(str(error)) from None
    is_valid = len(factors) == dims and all(0 < factor < math.inf for factor in factors)
    check("scale_factor", scale_factor, is_valid, f"one number or {dims}")
    sizes = tuple(math.floor(e * factor) for e, factor in zip(lengths, factors, strict=True))
    if 0 in sizes:
        raise SettingError(
            f"interpolate(): scale_factor={scale_factor!r} reduces a size of {lengths} to 0."
        )
    return sizes, factors


# --- Taps -----------------------------------------------------------------------------------------


def adaptive_mean(input: Tensor, dim: int, target: int) -> Tensor:
    """Return the means of `target` windows along a dimension; see `adaptive_taps`."""
    return _resampled(input, dim, ("area", input.shape[dim], target, None, False, False))


def _resampled(input: Tensor, dim: int, settings: Settings) -> Tensor:
    """Resample a dimension with the taps and weights of a mode."""
    taps, weights = _tap_tensors(settings, input.dtype, input.backend)
    if weights is None:
        return input.index_select(dim, taps.view(-1))
    return _weighted_sums(input, dim, taps, weights)


@cached_constants(64)
def _tap_tensors(settings: Settings, dtype: DType, backend: Any) -> tuple[Tensor, Tensor | None]:
    """Return taps and weights as cached tensors, which are copied to a device once."""
    taps, weights = _taps(*settings)
    indices = tensor(taps.astype(np.int64), backend=backend)
    return indices, None if weights is None else tensor(weights, dtype=dtype, backend=backend)


@fused("resample")
def _weighted_sums(input: Tensor, dim: int, taps: Tensor, weights: Tensor) -> Tensor:
    """Return weighted sums of elements along a dimension.

    Args:
        input: any shape.
        dim: a dimension.
        taps: for each element of the result, the indices of those summed, shape (new size, taps).
        weights: their weights, of the same shape, which get no gradient.
    """
    shape = (-1, *(1,) * (input.ndim - 1 - dim))
    terms = [
        input.index_select(dim, indices) * factors.view(*shape)
        for indices, factors in zip(taps.unbind(1), weights.detach().unbind(1), strict=True)
    ]
    return functools.reduce(operator.add, terms)


def _taps(
    mode: str, length: int, target: int, factor: float | None, align_corners: bool, antialias: bool
) -> tuple[Array, Array | None]:
    """Return the taps and weights of a mode; None for a weight of 1."""
    if mode in _NEAREST:
        center = 0.5 if mode == "nearest-exact" else 0.0
        positions = (_indices(target) + center) * _step(length, target, factor)
        nearest = np.floor(positions.astype(np.float32))  # float32 rounds 2.999... to 3
        return np.minimum(nearest, length - 1)[:, None], None
    if mode == "area":
        taps = adaptive_taps(length, target)
        return taps, _normalized(taps, np.ones(taps.shape))
    step = _step(length, target, factor, align_corners)
    positions = (_indices(target) + 0.5) * step - 0.5
    if antialias:  # as in torch, align_corners only has an effect on the step
        return _smoothing_taps(length, positions, step, mode == "bicubic")
    if align_corners:
        positions = _indices(target) * step
    if mode == "bicubic":
        return _cubic_taps(length, positions)
    return _smoothing_taps(length, positions, 1.0, False)


def adaptive_taps(length: int, target: int) -> Array:
    """Return the indices of the elements of each window of adaptive pooling.

    Window i of n is `floor(i * size / n) : ceil((i + 1) * size / n)`, as a slice. In windows with
    fewer elements than others, the last is repeated.

    Returns:
        Shape (target, taps).
    """
    windows = _indices(target)
    starts, ends = windows * length // target, -((windows + 1) * -length // target)
    taps: Array = np.minimum(starts[:, None] + np.arange(np.max(ends - starts)), ends[:, None] - 1)
    return taps


def _indices(count: int) -> Array:
    """Return `np.arange(count)`; raise ShapeError if it cannot fit into memory."""
    indices: Array = np.asarray(arange(count, backend="numpy"))
    return indices


def _normalized(taps: Array, weights: Array) -> Array:
    """Scale weights to a sum of 1; the weight of repeated taps is divided evenly.

    A weight of 0 for all but one of them would give nan if the element is infinite.
    """
    repeated = (taps[:, :, None] == taps[:, None, :]).sum(2)
    weights = weights / repeated
    normalized: Array = weights / weights.sum(1, keepdims=True)
    return normalized


def _step(length: int, target: int, factor: float | None, align_corners: bool = False) -> float:
    """Return the distance of new elements, in units of the input."""
    if align_corners:
        return (length - 1) / (target - 1) if target > 1 else 0.0
    return length / target if factor is None else 1.0 / factor


def _cubic_taps(length: int, positions: Array) -> tuple[Array, Array]:
    """Return taps and weights of cubic interpolation between four neighbors."""
    taps = np.floor(positions)[:, None] + np.arange(-1, 3)
    weights = _cubic(positions[:, None] - taps, -0.75)
    return np.clip(taps, 0, length - 1), weights


def _smoothing_taps(length: int, positions: Array, step: float, cubic: bool) -> tuple[Array, Array]:
    """Return taps and weights of a linear or cubic kernel, scaled to the distance of elements."""
    scale = max(step, 1.0)
    radius = (2 if cubic else 1) * scale
    firsts = np.maximum(np.trunc(positions - radius + 1), 0)[:, None]
    ends = np.minimum(np.trunc(positions + radius + 1), length)[:, None]
    taps = np.minimum(firsts + np.arange(np.max(ends - firsts)), ends - 1)
    distances = (taps - positions[:, None]) / scale
    weights = _cubic(distances, -0.5) if cubic else np.maximum(1 - abs(distances), 0)
    return taps, _normalized(taps, weights)


def _cubic(distance: Array, a: float) -> Array:
    """Evaluate the kernel of cubic convolution at distances (Keys 1981, equation 15)."""
    x = abs(distance)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * (x - 1) * (x - 2) ** 2
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


# --- Rearranging channels and pixels --------------------------------------------------------------


@checked
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels into blocks of pixels (Shi et al. 2016, equation 4).

    Args:
        input: shape (*batch, channels * r * r, height, width), where r is the factor.
        upscale_factor: height and width of a block.

    Returns:
        Shape (*batch, channels, height * r, width * r). This is the inverse of `pixel_unshuffle`.

    Raises:
        InputError: the number of channels is not a multiple of `r**2`.
        SettingError: the factor is invalid.
    """
    r = integer("upscale_factor", upscale_factor, 1)
    if input.ndim < 3 or input.shape[-3] % r**2:
        raise InputError(
            f"pixel_shuffle() by {r} takes images of shape (..., channels, height, width) with a "
            f"multiple of {r**2} channels; shape {input.shape} was given."
        )
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels // r**2, r, r, height, width)
    n = len(batch)
    blocks = blocks.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return copy_if_aliased(blocks.reshape(*batch, channels // r**2, height * r, width * r), input)


@checked
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearrange the pixels of each block into channels.

    Args:
        input: shape (*batch, channels, height * r, width * r), where r is the factor.
        downscale_factor: height and width of a block.

    Returns:
        Shape (*batch, channels * r * r, height, width). This is the inverse of `pixel_shuffle`.

    Raises:
        InputError: height or width is not a multiple of r.
        SettingError: the factor is invalid.
    """
    r = integer("downscale_factor", downscale_factor, 1)
    if input.ndim < 3 or input.shape[-2] % r or input.shape[-1] % r:
        raise InputError(
            f"pixel_unshuffle() by {r} takes images of shape (..., channels, height, width) with "
            f"height and width that are multiples of {r}; shape {input.shape} was given."
        )
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    blocks = blocks.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return copy_if_aliased(blocks.reshape(*batch, channels * r**2, height // r, width // r), input)


@checked
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleave the channels of groups (Zhang et al. 2018, "ShuffleNet", section 3.1).

    Args:
        input: shape (batch, channels, *rest), with at least three dimensions.
        groups: number of groups.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: `groups` does not divide the number of channels.
        SettingError: the number of groups is invalid.
    """
    groups = integer("groups", groups, 1)
    if input.ndim < 3 or input.shape[1] % groups:
        raise InputError(
            f"channel_shuffle() takes a tensor of shape (batch, channels, ...), of at least three "
            f"dimensions, with a multiple of {groups} channels; shape {input.shape} was given."
        )
    batch, channels, *rest = input.shape
    split = input.reshape(batch, groups, channels // groups, *rest)
    return copy_if_aliased(split.transpose(1, 2).reshape(input.shape), input)


# --- Layers ---------------------------------------------------------------------------------------


Factors = float | Sequence[float]


class Upsample(FunctionLayer, function=interpolate):
    """Resize inputs; see `mt_nn.functional.interpolate` for the arguments."""

    size: Sizes | None = None
    scale_factor: Factors | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None


class UpsamplingNearest2d(Upsample):
    """Resize images with mode "nearest"; see `Upsample`."""

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Resize images with mode "bilinear" and aligned corners; see `Upsample`."""

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class PixelShuffle(FunctionLayer, function=pixel_shuffle):
    """Rearrange channels into blocks of pixels; see `mt_nn.functional.pixel_shuffle`."""

    upscale_factor: int


class PixelUnshuffle(FunctionLayer, function=pixel_unshuffle):
    """Rearrange blocks of pixels into channels; see `mt_nn.functional.pixel_unshuffle`."""

    downscale_factor: int


class ChannelShuffle(FunctionLayer, function=channel_shuffle):
    """Interleave the channels of groups; see `mt_nn.functional.channel_shuffle`."""

    groups: int
