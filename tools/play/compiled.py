"""Which kernels of mt-fast a computation runs, seen while it runs.

mt-fast chooses a kernel for each layout, and leaves some of the work to NumPy. So that nothing has
to be guessed, Python's own hook for profilers looks on while the computation goes through mt-fast.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from mt_fast.compilation.kernel import Kernel

RUN = Kernel.run.__code__


@dataclass(frozen=True)
class Ran:
    """A kernel that was run.

    Attributes:
        kernel: which one.
        units: how many units of work its threads shared; 0 if one thread did all of them.
    """

    kernel: Kernel
    units: int


def kernels_of(computation: Callable[[], Any]) -> list[Ran]:
    """Return the kernels that a computation runs, each once."""
    found: dict[Kernel, int] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_globals.get("__name__", "").startswith("mt_fast."):
            held = frame.f_locals
            for value in held.values():
                if isinstance(value, Kernel):
                    found.setdefault(value, 0)
            if frame.f_code is RUN and held["parallel"]:
                found[held["self"]] = held["units"]

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        computation()
    finally:
        sys.setprofile(before)
    return [Ran(kernel, units) for kernel, units in found.items()]
