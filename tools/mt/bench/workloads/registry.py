"""The table of workloads.

A workload is a function of a side, which creates data and returns the function to time. Its name
describes the program and its size; its target is the maximum ratio to torch's time.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mt.bench.libraries import Library

Program = Callable[[], Any]
Make = Callable[[Library], Program]


@dataclass(frozen=True)
class Workload:
    """A program to measure.

    Attributes:
        make: a function that returns it for a side.
        target: the maximum ratio of the times to reach.
        group: its group: `kernels`, `calls`, `layers`, `jobs`, `steps` or `programs`.
    """

    make: Make
    target: float
    group: str

    @property
    def duration(self) -> float:
        """The duration of a measurement in seconds, long enough for the resolution of the clock."""
        return 0.004 if self.group == "calls" else 0.03

    @property
    def measures_itself(self) -> bool:
        """Whether the program returns its time in seconds."""
        return self.group == "programs"


WORKLOADS: dict[str, Workload] = {}
"""Every workload by name, in the order of the report."""


def workload(name: str, target: float, group: str = "kernels") -> Callable[[Make], Make]:
    """Add a function to `WORKLOADS`."""

    def enter(make: Make) -> Make:
        WORKLOADS[name] = Workload(make, target, group)
        return make

    return enter


def line(code: str, variables: dict[str, Any]) -> Program:
    """Return a function without arguments that runs code."""
    exec(f"def run():\n{textwrap.indent(code, '    ')}", variables)
    program: Program = variables["run"]
    return program
