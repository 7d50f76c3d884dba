"""Inputs made larger or smaller, and elements moved between channels and space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_nn import functional
from mt_nn.core.settings import Sizes, integer
from mt_nn.layers.function import FunctionLayer

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

    function = staticmethod(functional.interpolate)

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: Factors | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.scale_factor = _as_floats(scale_factor)
        self.recompute_scale_factor = recompute_scale_factor

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

    shown = ("upscale_factor",)

    function = staticmethod(functional.pixel_shuffle)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = integer("upscale_factor", upscale_factor, 1)


class PixelUnshuffle(FunctionLayer):
    """Channels made of the pixels of each block; see `mt_nn.functional.pixel_unshuffle`."""

    shown = ("downscale_factor",)

    function = staticmethod(functional.pixel_unshuffle)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = integer("downscale_factor", downscale_factor, 1)


class ChannelShuffle(FunctionLayer):
    """One channel of each group in turn; see `mt_nn.functional.channel_shuffle`."""

    shown = ("groups",)

    function = staticmethod(functional.channel_shuffle)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = integer("groups", groups, 1)
