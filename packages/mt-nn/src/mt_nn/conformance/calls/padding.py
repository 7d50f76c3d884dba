"""Padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.calls.convolution import NUMPYS
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def padded(x: Array, padding: Any, mode: str = "constant", value: float | None = None) -> Array:
    """Return an array that is padded, and then cropped where numbers are negative."""
    sides = [(0, 0)] * (x.ndim - len(padding) // 2)
    sides += [(padding[i], padding[i + 1]) for i in range(len(padding) - 2, -1, -2)]
    more = [(max(before, 0), max(after, 0)) for before, after in sides]
    less = tuple(slice(max(-b, 0), a if a < 0 else None) for b, a in sides)
    if mode in ("circular", "wrap"):
        x, less = x[less], ()
    constant = {"constant_values": value or 0.0} if mode == "constant" else {}
    found: Any = np.pad(x, more, mode=NUMPYS.get(mode, mode), **constant)  # type: ignore[call-overload]
    return found[less]  # type: ignore[no-any-return]


def _layer(dims: int, mode: str) -> Any:
    def oracle(x: Array, padding: Any, value: float = 0.0) -> Array:
        sides = (padding,) * (2 * dims) if isinstance(padding, int) else padding
        return padded(x, sides, mode, value)

    return oracle


X = {1: draw(2, 3, 5), 2: draw(2, 2, 3, 4), 3: draw(1, 2, 3, 2, 3)}
_SIDES = {1: (2, -1), 2: (1, 2, 0, 1), 3: (1, 0, 1, 1, 2, 0)}

CALLS = [
    *(
        call(f"{name}{dims}d", x, padding=padding, oracle=_layer(dims, mode))
        for name, mode in (
            ("ZeroPad", "constant"),
            ("ReflectionPad", "reflect"),
            ("ReplicationPad", "edge"),
            ("CircularPad", "wrap"),
        )
        for dims in (1, 2, 3)
        for x, padding in ((X[dims], 1), (X[dims][0], _SIDES[dims]))
    ),
    *(
        call(f"ConstantPad{dims}d", X[dims], padding=_SIDES[dims], value=1.5,
             oracle=_layer(dims, "constant"))
        for dims in (1, 2, 3)
    ),
    call("functional.pad", X[1], (1, 2), oracle=padded),
    call("functional.pad", X[1], (1, -2, 0, 3), value=2.5, oracle=padded),
    call("functional.pad", draw(4), (1, 0), oracle=padded),
    *(
        call("functional.pad", X[2], (3, 2, -1, 1), mode=mode, oracle=padded)
        for mode in ("reflect", "replicate", "circular")
    ),
    call("functional.pad", draw(2, 1), (5, 0), mode="replicate", oracle=padded),
    call("functional.pad", X[1], (5, 5), mode="circular", oracle=padded),
    call("functional.pad", np.arange(6).reshape(2, 3), (1, 2), mode="reflect", smooth=False,
         oracle=padded),
]  # fmt: skip

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
