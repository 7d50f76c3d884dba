"""Observe which kernels of mt-fast a computation runs.

mt-fast selects a kernel for each layout, leaves some work to NumPy, and runs some kernels in
parallel. Python's profiling hook observes the calls inside mt-fast during the computation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType
from typing import Any

from mt_fast.core import reductions
from mt_fast.core.kernel import Kernel
from mt_tensor.core.plans import drop_plans

RUN = Kernel.run.__code__


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a kernel.

    Attributes:
        kernel: the kernel.
        units: the number of units of work.
        parts: the number of threads.
        arguments: the arguments of the kernel after the range of units.
    """

    kernel: Kernel
    units: int
    parts: int
    arguments: tuple[Any, ...]

    def shares(self) -> list[range]:
        """Return the units of each thread, divided as by `Kernel.parallel`."""
        ends = [self.units * part // self.parts for part in range(self.parts + 1)]
        return [range(*pair) for pair in pairwise(ends)]


def kernels_of(computation: Callable[[], Any]) -> dict[Kernel, int]:
    """Return the kernels that a computation runs.

    Each has the number of units that threads divide, or 0 if one thread runs all of them.
    """
    found: dict[Kernel, int] = {}

    def inspect_frame(frame: FrameType) -> None:
        variables = frame.f_locals
        for value in variables.values():
            kernel = getattr(value, "kernel", value)  # of a plan, or itself
            if isinstance(kernel, Kernel):
                found.setdefault(kernel, 0)
        if frame.f_code is RUN and variables["parallel"]:
            found[variables["self"]] = variables["units"]

    drop_plans()  # cached plans run without a frame that refers to the kernel
    reductions.planned.cache_clear()
    with _profiled(inspect_frame):
        computation()
    return found


def runs_of(computation: Callable[[], Any]) -> tuple[list[Run], Any]:
    """Return the runs of kernels in a computation, and its result."""
    found: list[Run] = []

    def inspect_frame(frame: FrameType) -> None:
        if frame.f_code is RUN:
            variables = frame.f_locals
            found.append(
                Run(
                    variables["self"],
                    variables["units"],
                    variables.get("parts", 1),
                    variables["args"],
                )
            )

    with _profiled(inspect_frame):
        result = computation()
    return found, result


@contextmanager
def _profiled(inspect_frame: Callable[[FrameType], None]) -> Iterator[None]:
    """Call `inspect_frame` with the frame of each function of mt-fast that returns."""

    def returned(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_globals.get("__name__", "").startswith("mt_fast."):
            inspect_frame(frame)

    before = sys.getprofile()
    sys.setprofile(returned)
    try:
        yield
    finally:
        sys.setprofile(before)
