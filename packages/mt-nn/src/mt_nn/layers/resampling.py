"""Resampling: inputs made larger or smaller, one dimension after the other.

Each element of the result is a weighted sum of a few elements of the input, its taps; the modes
differ in which these are and how much they count.
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
from mt_tensor.extending import Array, apart, as_number, cached_constants

_NEAREST = ("nearest", "nearest-exact")
_ON_BYTES = (*_NEAREST, "bilinear", "bicubic")
"""The modes that take images of uint8, too."""

Settings = tuple[str, int, int, float | None, bool, bool]
"""What the taps depend on: mode, size, new size, factor, align_corners and antialias."""

_RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
"""How many dimensions the modes take that do not take any number of them."""


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
    """Make inputs larger or smaller.

    Elements are taken for squares of which they are the centres, so that element i of n lies at
    `(i + 0.5) / n`, or for points from corner to corner with `align_corners`.

    Args:
        input: floating-point, shape (batch, channels, *sizes), with one to three sizes; the
            modes of the nearest, "bilinear" and "bicubic" also take uint8, and round to it, along
            the rows first and then along the columns.
        size: the new sizes, one for all or one for each.
        scale_factor: what to multiply the sizes by, rounding down, instead of `size`.
        mode: "nearest", whose element i is that at `floor(i / factor)`; "nearest-exact", the one
            whose square holds the new centre; "linear" for one size, "bilinear" for two and
            "trilinear" for three, on straight lines between neighbours; "bicubic" for two, on
            cubic curves through four (Keys, Cubic convolution interpolation, 1981, with a =
            -0.75); "area", means as in `adaptive_avg_pool2d`.
        align_corners: whether the first and last elements stay where they are; for the linear and
            cubic modes, False if None.
        recompute_scale_factor: whether the factor is that of the rounded sizes, and not the one
            given.
        antialias: whether each element of a smaller image is a mean of all that it stands for; for
            "bilinear" and "bicubic" (then with a = -0.5).

    Returns:
        Shape (batch, channels, *new sizes).

    Raises:
        InputError: the input has other dimensions than the mode takes, or nothing in it.
        SettingError: an invalid setting, or not with the others.
    """
    _check_mode(input, mode, align_corners, antialias)
    images = input
    sizes, factors = _sizes(input.shape[2:], size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise SettingError("recompute_scale_factor is for a scale_factor; a size was given.")
    # The ratios of sizes for which torch takes the ratio itself in place of the factor given.
    own: tuple[int, ...] = (1,) if antialias or mode.endswith("linear") else ()
    own = (1, 2) if mode == "nearest" and input.ndim == 4 else own
    for dim in reversed(range(2, input.ndim)):  # rows are enlarged while there are the fewest
        length, target, given = input.shape[dim], sizes[dim - 2], factors[dim - 2]
        factor = None if recompute_scale_factor or target / length in own else given
        if target != length or factor not in (None, 1.0):
            settings = (mode, length, target, factor, bool(align_corners), antialias)
            if input.dtype is uint8 and mode not in _NEAREST:
                input = _as_bytes(_resampled(input.float(), dim, settings))
            else:
                input = _resampled(input, dim, settings)
    return apart(input, images)


def _as_bytes(x: Tensor) -> Tensor:
    """Return numbers rounded to the nearest that uint8 holds, halves upwards."""
    return (x + 0.5).floor().clamp(0, 255).to(uint8)


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    """Raise unless a mode takes an input and the settings."""
    choice("mode", mode, (*_NEAREST, *_RANKS, "area"))
    dims = input.ndim - 2
    if dims not in (1, 2, 3) or _RANKS.get(mode, dims) != dims or 0 in input.shape[1:]:
        wanted = _RANKS.get(mode, "one to three")
        raise InputError(
            f"interpolate() of mode {mode!r} takes shape (batch, channels, *sizes) with {wanted} "
            f"size(s), and something in it; shape {input.shape} was given."
        )
    if not (input.is_floating_point() or (mode in _ON_BYTES and input.dtype is uint8)):
        raise InputError(
            f"interpolate() of mode {mode!r} takes floating-point numbers, not {input.dtype.name}: "
            "convert them with x.float()."
        )
    if align_corners is not None and mode not in _RANKS:
        raise SettingError(f"align_corners is for linear and cubic modes, not for {mode!r}.")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise SettingError(f"antialias is for modes bilinear and bicubic, not for {mode!r}.")


def _sizes(
    lengths: tuple[int, ...], size: Any, scale_factor: Any
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Return the new sizes, and the factors if these were given.

    Raises:
        SettingError: not just one of them is given, or one that is invalid.
    """
    dims = len(lengths)
    if (size is None) == (scale_factor is None):
        raise SettingError(
            f"either size or scale_factor is needed; got {size!r} and {scale_factor!r}."
        )
    if size is not None:
        fits = not isinstance(size, tuple | list) or len(size) == dims
        check("size", size, fits, f"one integer or {dims}")
        return integers("size", size, dims, 1), (None,) * dims
    given = scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * dims
    try:
        factors = tuple(float(as_number("scale_factor", factor)) for factor in given)
    except TypeError as error:
        raise SettingTypeError(str(error)) from None
    fits = len(factors) == dims and all(0 < factor < math.inf for factor in factors)
    check("scale_factor", scale_factor, fits, f"one number or {dims}")
    sizes = tuple(math.floor(e * factor) for e, factor in zip(lengths, factors, strict=True))
    if 0 in sizes:
        raise SettingError(f"scale_factor={scale_factor!r} leaves nothing of sizes {lengths}.")
    return sizes, factors


# --- Taps -----------------------------------------------------------------------------------------


def means_of_parts(input: Tensor, dim: int, target: int) -> Tensor:
    """Return the means of so many parts of a dimension; see `part_taps`."""
    return _resampled(input, dim, ("area", input.shape[dim], target, None, False, False))


def _resampled(input: Tensor, dim: int, settings: Settings) -> Tensor:
    """Return sums of elements along a dimension, with the taps and weights of a mode."""
    taps, weights = _sent(settings, input.dtype, input.backend)
    if weights is None:
        return input.index_select(dim, taps.view(-1))
    return _weighted_sums(input, dim, taps, weights)


@cached_constants(64)
def _sent(settings: Settings, dtype: DType, backend: Any) -> tuple[Tensor, Tensor | None]:
    """Return the taps and weights of a mode as tensors, which are sent to a device once.

    They are the same tensors for the same arguments, which must not be changed.
    """
    taps, weights = _taps(*settings)
    places = tensor(taps.astype(np.int64), backend=backend)
    return places, None if weights is None else tensor(weights, dtype=dtype, backend=backend)


@fused("resample")
def _weighted_sums(input: Tensor, dim: int, taps: Tensor, weights: Tensor) -> Tensor:
    """Return sums of elements along a dimension.

    Args:
        input: any shape.
        dim: a dimension.
        taps: which elements make one of the result, shape (new size, taps).
        weights: how much each counts, of the same shape. They get no gradient.
    """
    shape = (-1, *(1,) * (input.ndim - 1 - dim))
    weighed = [
        input.index_select(dim, places) * shares.view(*shape)
        for places, shares in zip(taps.unbind(1), weights.detach().unbind(1), strict=True)
    ]
    return functools.reduce(operator.add, weighed)


def _taps(
    mode: str, length: int, target: int, factor: float | None, align_corners: bool, antialias: bool
) -> tuple[Array, Array | None]:
    """Return the taps and weights of a mode."""
    if mode in _NEAREST:
        return _nearest(length, target, factor, mode == "nearest-exact")[:, None], None
    if mode == "area":
        return _mean_taps(length, target)
    step = _step(length, target, factor, align_corners)
    places = (_numbers(target) + 0.5) * step - 0.5
    if antialias:  # as in torch, aligned corners set the step alone then
        return _smoothing_taps(length, places, step, mode == "bicubic")
    if align_corners:
        places = _numbers(target) * step
    if mode == "bicubic":
        return _cubic_taps(length, places)
    return _smoothing_taps(length, places, 1.0, False)


def part_taps(length: int, target: int) -> Array:
    """Return which elements lie in each of so many parts of a size, shape (target, taps).

    Part i of n goes from `floor(i size / n)` to before `ceil((i + 1) size / n)`. Of a part with
    fewer elements than others the last is repeated.
    """
    parts = _numbers(target)
    starts, ends = parts * length // target, -((parts + 1) * -length // target)
    taps: Array = starts[:, None] + np.arange(np.max(ends - starts))
    within: Array = np.minimum(taps, ends[:, None] - 1)
    return within


def _numbers(count: int) -> Array:
    """Return 0, 1 and so on, so many; raise ShapeError if no memory could hold them."""
    numbers: Array = np.asarray(arange(count, backend="numpy"))
    return numbers


def _mean_taps(length: int, target: int) -> tuple[Array, Array]:
    """Return taps and weights of the means of so many parts of a size."""
    taps = part_taps(length, target)
    return taps, _normalized(taps, np.ones(taps.shape))


def _normalized(taps: Array, weights: Array) -> Array:
    """Return weights that add up to 1, in which taps that are repeated share one.

    None is 0 for that reason, for it would make nan of an infinite element.
    """
    repeated = (taps[:, :, None] == taps[:, None, :]).sum(2)
    weights = weights / repeated
    normalized: Array = weights / weights.sum(1, keepdims=True)
    return normalized


def _nearest(length: int, target: int, factor: float | None, exact: bool) -> Array:
    """Return which element is nearest to each of the new ones."""
    centre = 0.5 if exact else 0.0
    places = ((_numbers(target) + centre) * _step(length, target, factor)).astype(
        np.float32
    )  # rounds 2.999... to 3
    return np.minimum(np.floor(places), length - 1)


def _step(length: int, target: int, factor: float | None, align_corners: bool = False) -> float:
    """Return how far apart the new elements lie among the old ones."""
    if align_corners:
        return (length - 1) / (target - 1) if target > 1 else 0.0
    return length / target if factor is None else 1.0 / factor


def _cubic_taps(length: int, places: Array) -> tuple[Array, Array]:
    """Return taps and weights on cubic curves through four neighbours."""
    taps = np.floor(places)[:, None] + np.arange(-1, 3)
    weights = _cubic(places[:, None] - taps, -0.75)
    return np.clip(taps, 0, length - 1), weights


def _smoothing_taps(length: int, places: Array, step: float, cubic: bool) -> tuple[Array, Array]:
    """Return taps and weights of a kernel as wide as the new elements are far apart."""
    widening = max(step, 1.0)
    reach = (2 if cubic else 1) * widening
    firsts = np.maximum(np.trunc(places - reach + 1), 0)[:, None]
    ends = np.minimum(np.trunc(places + reach + 1), length)[:, None]
    taps = np.minimum(firsts + np.arange(np.max(ends - firsts)), ends - 1)
    distances = (taps - places[:, None]) / widening
    weights = _cubic(distances, -0.5) if cubic else np.maximum(1 - abs(distances), 0)
    return taps, _normalized(taps, weights)


def _cubic(distance: Array, a: float) -> Array:
    """Return how much an element counts at a distance (Keys 1981, equation 15)."""
    x = abs(distance)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * (x - 1) * (x - 2) ** 2
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


# --- Elements moved between channels and space ----------------------------------------------------


@checked
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Lay out channels as blocks of pixels (Shi et al. 2016, equation 4).

    Args:
        input: shape (*batch, channels r^2, height, width), where r is the factor.
        upscale_factor: height and width of a block.

    Returns:
        Shape (*batch, channels, height r, width r); undoes `pixel_unshuffle`.

    Raises:
        InputError: the channels cannot be laid out so.
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
    return apart(blocks.reshape(*batch, channels // r**2, height * r, width * r), input)


@checked
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Make channels of the pixels of each block.

    Args:
        input: shape (*batch, channels, height r, width r), where r is the factor.
        downscale_factor: height and width of a block.

    Returns:
        Shape (*batch, channels r^2, height, width); undoes `pixel_shuffle`.

    Raises:
        InputError: the images are not made of such blocks.
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
    return apart(blocks.reshape(*batch, channels * r**2, height // r, width // r), input)


@checked
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Take one channel of each group in turn (Zhang et al., ShuffleNet, 2018, section 3.1).

    Args:
        input: shape (batch, channels, *rest), of at least three dimensions.
        groups: into how many groups the channels are split.

    Returns:
        The shape of the input.

    Raises:
        InputError: the channels cannot be split so.
        SettingError: the number of groups is invalid.
    """
    groups = integer("groups", groups, 1)
    if input.ndim < 3 or input.shape[1] % groups:
        raise InputError(
            f"channel_shuffle() takes shape (batch, channels, ...) of at least three dimensions "
            f"with a multiple of {groups} channels; shape {input.shape} was given."
        )
    batch, channels, *rest = input.shape
    split = input.reshape(batch, groups, channels // groups, *rest)
    return apart(split.transpose(1, 2).reshape(input.shape), input)


# --- Layers ---------------------------------------------------------------------------------------


Factors = float | Sequence[float]


class Upsample(FunctionLayer):
    """Inputs made larger, or smaller; see `mt_nn.functional.interpolate`.

    Args:
        size: the new sizes, one for all or one for each.
        scale_factor: what to multiply the sizes by, instead of `size`.
        mode: how.
        align_corners: whether the first and last elements stay where they are.
        recompute_scale_factor: whether the factor is that of the rounded sizes.
    """

    function = staticmethod(interpolate)
    size: Sizes | None = None
    scale_factor: Factors | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def _check(self) -> None:
        self.scale_factor = _as_floats(self.scale_factor)

    def extra_repr(self) -> str:
        """Show the settings."""
        by_factor = self.scale_factor is not None
        given = f"scale_factor={self.scale_factor}" if by_factor else f"size={self.size}"
        return f"{given}, mode={self.mode!r}"


def _as_floats(factors: Any) -> Any:
    """Return factors as floats, as torch shows them; what is no number is refused when used."""
    if isinstance(factors, tuple | list):
        return tuple(map(_as_floats, factors))
    return float(factors) if isinstance(factors, int) else factors


class UpsamplingNearest2d(Upsample):
    """Images made larger, each element that of the nearest before; see `Upsample`."""

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Images made larger on straight lines, their corners where they were; see `Upsample`."""

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class PixelShuffle(FunctionLayer):
    """Channels laid out as blocks of pixels; see `mt_nn.functional.pixel_shuffle`."""

    function = staticmethod(pixel_shuffle)
    shown = ("upscale_factor",)
    upscale_factor: int

    def _check(self) -> None:
        self.upscale_factor = integer("upscale_factor", self.upscale_factor, 1)


class PixelUnshuffle(FunctionLayer):
    """Channels made of the pixels of each block; see `mt_nn.functional.pixel_unshuffle`."""

    function = staticmethod(pixel_unshuffle)
    shown = ("downscale_factor",)
    downscale_factor: int

    def _check(self) -> None:
        self.downscale_factor = integer("downscale_factor", self.downscale_factor, 1)


class ChannelShuffle(FunctionLayer):
    """One channel of each group in turn; see `mt_nn.functional.channel_shuffle`."""

    function = staticmethod(channel_shuffle)
    shown = ("groups",)
    groups: int

    def _check(self) -> None:
        self.groups = integer("groups", self.groups, 1)
