"""Calls of padding."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import call
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
