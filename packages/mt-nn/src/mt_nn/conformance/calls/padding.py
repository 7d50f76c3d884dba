"""Padding."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw

X = {1: draw(2, 3, 5), 2: draw(2, 2, 3, 4), 3: draw(1, 2, 3, 2, 3)}
_SIDES = {1: (2, -1), 2: (1, 2, 0, 1), 3: (1, 0, 1, 1, 2, 0)}

CALLS = [
    *(
        call(f"{name}{dims}d", x, padding=padding)
        for name in ("ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad")
        for dims in (1, 2, 3)
        for x, padding in ((X[dims], 1), (X[dims][0], _SIDES[dims]))
    ),
    *(call(f"ConstantPad{dims}d", X[dims], padding=_SIDES[dims], value=1.5) for dims in (1, 2, 3)),
    call("functional.pad", X[1], (1, 2)),
    call("functional.pad", X[1], (1, -2, 0, 3), value=2.5),
    call("functional.pad", draw(4), (1, 0)),
    *(
        call("functional.pad", X[2], (3, 2, -1, 1), mode=mode)
        for mode in ("reflect", "replicate", "circular")
    ),
    call("functional.pad", draw(2, 1), (5, 0), mode="replicate"),
    call("functional.pad", X[1], (5, 5), mode="circular"),
    call("functional.pad", np.arange(6).reshape(2, 3), (1, 2), mode="reflect", smooth=False),
]

REFUSED: list[Refused] = [
    refused("functional.pad", X[1], (1, 1), mode="mirror", says="mode must be one of constant"),
    refused("functional.pad", X[1], (1, 1), mode="reflect", value=1.0, says="takes a value"),
    refused("functional.pad", X[1], (5, 1), mode="reflect", says="cannot be padded by 5"),
    refused("functional.pad", X[1], (1, 6), mode="circular", says="cannot be padded by 1 and 6"),
    refused("functional.pad", X[1], (-6, 1), mode="replicate", says="cannot be padded by -6"),
    refused("functional.pad", X[1], (1,), mode="reflect", says="pairs of numbers"),
    refused("functional.pad", X[2], (1, 1), mode="reflect", says="one or two dimensions more"),
    refused("functional.pad", X[1][:, :, :0], (1, 1), mode="replicate", says="0 element"),
    refused("ReflectionPad1d", X[2], padding=1, says="one or two dimensions more"),
    refused("CircularPad2d", X[1][0, 0], padding=1, says="one or two dimensions more"),
    refused("ZeroPad2d", X[2], padding=(1, 2, 3), says="one integer or 4"),
    refused("ConstantPad1d", X[1], padding=1.5, value=0.0, says="one integer or 2"),
    refused("ReflectionPad1d", draw(2, 0, 4), padding=1, says="nothing to pad from"),
    refused("ReplicationPad2d", draw(2, 0, 4, 4), padding=1, says="nothing to pad from"),
]
