"""The table of workloads.

A workload is a function of a side. It makes its data and returns what is to be timed. Its name says
what it does, and on how much; its target is the ratio to torch's time that it should stay below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mt.bench.libraries import Library

Program = Callable[[], object]
Make = Callable[[Library], Program]


@dataclass(frozen=True)
class Workload:
    """A program to measure.

    Attributes:
        make: returns it for a side.
        target: what the ratio of the times should be at most.
        group: what it is measured with: `kernels`, `calls`, `layers`, `jobs` or `steps`.
    """

    make: Make
    target: float
    group: str

    @property
    def duration(self) -> float:
        """Seconds that a measurement should last, so that the clock's resolution does not show."""
        return 0.004 if self.group == "calls" else 0.03


def on_random(operation: Callable[..., object], *shapes: tuple[int, ...]) -> Make:
    """Return what makes a program that runs an operation on tensors of normal random numbers.

    Args:
        operation: takes the library, and a tensor for each shape.
        shapes: those of the tensors.
    """

    def make(side: Library) -> Program:
        tensors = [side.tensors.randn(*shape) for shape in shapes]
        return lambda: operation(side, *tensors)

    return make


WORKLOADS: dict[str, Workload] = {}
"""Every workload by name, in the order of the report."""


def workload(name: str, target: float, group: str = "kernels") -> Callable[[Make], Make]:
    """Enter a function into `WORKLOADS`."""

    def enter(make: Make) -> Make:
        WORKLOADS[name] = Workload(make, target, group)
        return make

    return enter
