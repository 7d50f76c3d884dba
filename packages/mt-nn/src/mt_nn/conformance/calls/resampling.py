"""Inputs made larger or smaller, and elements moved between channels and space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def _cubic(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _row(mode: str, extent: int, i: int, count: int, step: float, align: Any) -> Array:
    """Return how much each element counts for element i of the result."""
    row = np.zeros(extent)
    if mode == "nearest":
        row[min(math.floor(i * step + 1e-9), extent - 1)] = 1
    elif mode == "nearest-exact":
        row[min(math.floor((i + 0.5) * step + 1e-9), extent - 1)] = 1
    elif mode == "area":
        part = slice(i * extent // count, math.ceil((i + 1) * extent / count))
        row[part] = 1 / len(row[part])
    else:
        place = (i + 0.5) * step - 0.5
        if align:
            place = i * (extent - 1) / (count - 1) if count > 1 else 0.0
        cubic = mode == "bicubic"
        for tap in range(math.floor(place) - 1, math.floor(place) + 3):
            share = _cubic(place - tap, -0.75) if cubic else max(1 - abs(place - tap), 0)
            row[min(max(tap, 0), extent - 1)] += share
    return row


def _smoothed_row(mode: str, extent: int, i: int, step: float) -> Array:
    """Return the same for a kernel as wide as elements of the result are far apart."""
    wide, place = max(step, 1.0), (i + 0.5) * step - 0.5
    row = np.array([
        _cubic((tap - place) / wide, -0.5) if mode == "bicubic"
        else max(1 - abs(tap - place) / wide, 0)
        for tap in range(extent)
    ])  # fmt: skip
    normalized: Array = row / row.sum()
    return normalized


def interpolated(
    x: Array,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    """Return resampled inputs: a matrix for each dimension, row by row."""
    dims = x.ndim - 2
    for dim in range(dims):
        extent = x.shape[2 + dim]
        if size is None:
            factor = scale_factor[dim] if isinstance(scale_factor, tuple) else scale_factor
            count = math.floor(extent * factor)
            kept = extent == count and mode.endswith("linear")
            kept |= mode == "nearest" and dims == 2 and count in (extent, 2 * extent)
            step = extent / count if recompute_scale_factor or kept else 1 / factor
        else:
            count = size[dim] if isinstance(size, tuple) else size
            step = (extent - 1) / (count - 1) if align_corners and count > 1 else extent / count
        matrix = np.stack([
            _smoothed_row(mode, extent, i, step) if antialias
            else _row(mode, extent, i, count, step, align_corners)
            for i in range(count)
        ])  # fmt: skip
        x = np.moveaxis(np.tensordot(x, matrix, (2 + dim, 1)), -1, 2 + dim)
    return x


def _shuffled(x: Array, upscale_factor: int) -> Array:
    r = upscale_factor
    out = np.zeros((*x.shape[:-3], x.shape[-3] // r**2, x.shape[-2] * r, x.shape[-1] * r))
    for i in range(r):
        for j in range(r):
            out[..., i::r, j::r] = x[..., i * r + j :: r**2, :, :]
    return out


def _unshuffled(x: Array, downscale_factor: int) -> Array:
    r = downscale_factor
    out = np.zeros((*x.shape[:-3], x.shape[-3] * r**2, x.shape[-2] // r, x.shape[-1] // r))
    for i in range(r):
        for j in range(r):
            out[..., i * r + j :: r**2, :, :] = x[..., i::r, j::r]
    return out


def _mixed(x: Array, groups: int) -> Array:
    each = x.shape[1] // groups
    return np.stack([x[:, g * each + i] for i in range(each) for g in range(groups)], 1)


X1, X2, X3 = draw(2, 3, 5), draw(1, 2, 4, 6), draw(1, 2, 3, 2, 4)

_SETTINGS: list[tuple[Array, dict[str, Any]]] = [
    (X1, {"scale_factor": 2}),
    (X1, {"size": 3}),
    (X1, {"size": (7,), "mode": "nearest-exact"}),
    (X1, {"scale_factor": 1.5, "mode": "linear"}),
    (X1, {"size": 8, "mode": "area"}),
    (X2, {"scale_factor": 2.0}),
    (X2, {"size": (4, 5)}),
    (X2, {"scale_factor": (1.7, 0.6)}),
    (X2, {"scale_factor": (2.5, 1.1), "mode": "nearest-exact"}),
    (X2, {"size": (7, 3), "mode": "bilinear"}),
    (X2, {"size": (1, 9), "mode": "bilinear", "align_corners": True}),
    (X2, {"scale_factor": (1.7, 0.6), "mode": "bilinear", "align_corners": False}),
    (X2, {"scale_factor": 1.7, "mode": "bilinear", "recompute_scale_factor": True}),
    (X2, {"scale_factor": 1.1, "mode": "bilinear"}),
    (X2, {"scale_factor": (1.1, 2.1)}),
    (X2, {"size": (6, 4), "mode": "bicubic"}),
    (X2, {"scale_factor": 1.4, "mode": "bicubic", "align_corners": True}),
    (X2, {"scale_factor": 0.6, "mode": "area"}),
    (X3, {"size": 3}),
    (X3, {"scale_factor": (1.5, 2, 0.5), "mode": "trilinear"}),
    (X3, {"size": (2, 3, 4), "mode": "trilinear", "align_corners": True}),
]

CALLS = [
    *(
        call(name, x, oracle=interpolated, **settings)
        for name in ("Upsample", "functional.interpolate")
        for x, settings in _SETTINGS
    ),
    *(
        call("functional.interpolate", X2, antialias=True, oracle=interpolated, **settings)
        for settings in (
            {"size": (2, 3), "mode": "bilinear"},
            {"scale_factor": (0.3, 1.5), "mode": "bilinear"},
            {"size": (3, 4), "mode": "bicubic"},
            {"size": (2, 9), "mode": "bilinear", "align_corners": True},
        )
    ),
    call("UpsamplingNearest2d", X2, scale_factor=2, oracle=interpolated),
    call("UpsamplingNearest2d", X2, size=(3, 5), oracle=interpolated),
    call(
        "UpsamplingBilinear2d", X2, scale_factor=1.5,
        oracle=lambda x, **s: interpolated(x, mode="bilinear", align_corners=True, **s),
    ),
    call("PixelShuffle", draw(2, 8, 2, 3), upscale_factor=2,
         oracle=_shuffled),
    call("functional.pixel_shuffle", draw(9, 1, 2), 3, oracle=_shuffled),
    call("functional.pixel_shuffle", draw(2, 1, 4, 2, 2), 2, oracle=_shuffled),
    call("PixelUnshuffle", draw(2, 2, 4, 6), downscale_factor=2,
         oracle=_unshuffled),
    call("functional.pixel_unshuffle", draw(2, 3, 6), 3, oracle=_unshuffled),
    call("ChannelShuffle", draw(2, 6, 2), groups=3, oracle=_mixed),
    call("functional.channel_shuffle", draw(1, 4, 2, 2), 2, oracle=_mixed),
]  # fmt: skip

REFUSED: list[Refused] = [
    refused("functional.interpolate", X2, says="either size or scale_factor"),
    refused("functional.interpolate", X2, size=3, scale_factor=2, says="either size or"),
    refused("functional.interpolate", X2, size=(3,), says="one integer or 2"),
    refused("functional.interpolate", X2, size=0, says="size must be"),
    refused("functional.interpolate", X1, size=2**62, says="than this machine can address"),
    refused("functional.adaptive_avg_pool1d", X1, 2**63 - 1, says="than this machine can address"),
    refused("functional.interpolate", X2, scale_factor=(2.0,), says="one number or 2"),
    refused("functional.interpolate", X2, scale_factor=0.1, says="leaves nothing"),
    refused("functional.interpolate", X2, scale_factor=-1.0, says="scale_factor must be"),
    refused("functional.interpolate", X2, size=3, mode="closest", says="mode must be one of"),
    refused("functional.interpolate", X2, size=3, mode="linear", says="'linear' takes"),
    refused("functional.interpolate", X1, size=3, mode="bicubic", says="'bicubic' takes"),
    refused("functional.interpolate", X1[0], size=3, says="'nearest' takes"),
    refused("functional.interpolate", X2, size=3, align_corners=True, says="align_corners is for"),
    refused("functional.interpolate", X2, size=3, antialias=True, says="antialias is for"),
    refused("functional.interpolate", X2, size=3, recompute_scale_factor=True, says="a size was"),
    refused("functional.interpolate", np.zeros((1, 1, 2), np.int64), size=3, says="not int64"),
    refused("Upsample", X2, says="either size or scale_factor"),
    refused("functional.pixel_shuffle", X2, 2, says="multiple of 4 channels"),
    refused("functional.pixel_shuffle", X2[0, 0], 1, says="takes images"),
    refused("PixelShuffle", X2, upscale_factor=0, says="from 1 on"),
    refused("functional.pixel_unshuffle", X2, 3, says="multiples of 3"),
    refused("functional.channel_shuffle", X2, 3, says="multiple of 3 channels"),
]
