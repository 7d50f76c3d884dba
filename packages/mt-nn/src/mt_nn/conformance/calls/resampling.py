"""Calls of interpolation, and of rearrangement of channels and pixels."""

from __future__ import annotations

from typing import Any

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

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
        call(name, x, **settings)
        for name in ("Upsample", "functional.interpolate")
        for x, settings in _SETTINGS
    ),
    *(
        call("functional.interpolate", X2, antialias=True, **settings)
        for settings in (
            {"size": (2, 3), "mode": "bilinear"},
            {"scale_factor": (0.3, 1.5), "mode": "bilinear"},
            {"size": (3, 4), "mode": "bicubic"},
            {"size": (2, 9), "mode": "bilinear", "align_corners": True},
        )
    ),
    call("UpsamplingNearest2d", X2, scale_factor=2),
    call("UpsamplingNearest2d", X2, size=(3, 5)),
    call("UpsamplingBilinear2d", X2, scale_factor=1.5),
    call("PixelShuffle", draw(2, 8, 2, 3), upscale_factor=2),
    call("functional.pixel_shuffle", draw(9, 1, 2), 3),
    call("functional.pixel_shuffle", draw(2, 1, 4, 2, 2), 2),
    call("PixelUnshuffle", draw(2, 2, 4, 6), downscale_factor=2),
    call("functional.pixel_unshuffle", draw(2, 3, 6), 3),
    call("ChannelShuffle", draw(2, 6, 2), groups=3),
    call("functional.channel_shuffle", draw(1, 4, 2, 2), 2),
]
