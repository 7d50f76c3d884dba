"""Inputs made larger or smaller, and elements moved between channels and space."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
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
