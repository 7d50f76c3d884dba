"""Measure both sides on the same programs in turn, in separate processes.

Shared machines are noisy, and a single time means little: the main result is the ratio of the
minimum times. The median of the ratios of adjacent measurements, with the quartiles, shows what is
usual.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass

from mt.bench.libraries import environment
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError
from mt.programs import Server

MEMORY = "memory"
"""The requests to a side besides the names of workloads."""

STALLED = 3.0
"""The ratio of median and minimum above which a side counts as stalled."""


class Side(Server):
    """A running process of `mt.bench.side`."""

    def __init__(self, library: str, threads: int, backend: str) -> None:
        variables = environment(library, backend, threads)
        super().__init__("mt.bench.side", [library, str(threads)], variables)

    def seconds(self, name: str) -> float:
        """Return the current time of one run of a workload.

        Raises:
            ToolError: the process has ended.
        """
        self.request(name)
        line = self.reply()
        if not line:
            message = f"the process measuring {name!r} ended; its own message is above"
            raise ToolError(message)
        return float(json.loads(line))

    def memory(self) -> int:
        """Return the peak memory of the process, in bytes."""
        self.request(MEMORY)
        return int(json.loads(self.reply()))


@dataclass(frozen=True)
class Row:
    """The measurement of a workload.

    Attributes:
        name: the name of the workload.
        ours: the minimum time of one run, in seconds.
        torch: the same for the other side.
        ratio: the ratio of these two; below 1 ours is faster.
        median: the median of the ratios of adjacent measurements.
        quartiles: the quartiles of these ratios.
        stalled: whether a side usually waited for something else.
        target: the maximum ratio to reach.
    """

    name: str
    ours: float
    torch: float
    ratio: float
    median: float
    quartiles: tuple[float, float]
    stalled: bool
    target: float

    def __str__(self) -> str:
        """Return a line of the table, without the name."""
        times = f"{1e6 * self.ours:10.2f}us {1e6 * self.torch:10.2f}us"
        low, high = self.quartiles
        usual = f"{self.median:.2f} ({low:.2f} to {high:.2f})"
        met = "" if self.ratio <= self.target else "  above"
        stalled = "  stalled" if self.stalled else ""
        return f"{times}   {self.ratio:.2f}  {usual:21}  {self.target:.1f}{met}{stalled}"


def measured(ours: Side, other: Side, name: str, rounds: int) -> Row:
    """Measure a workload on both sides in turn, after a warm-up."""
    for side in (ours, other):
        side.seconds(name)
    pairs = [(ours.seconds(name), other.seconds(name)) for _ in range(rounds)]
    low, median, high = statistics.quantiles((a / b for a, b in pairs), n=4)
    columns = list(zip(*pairs, strict=True))
    mine, theirs = map(min, columns)
    stalled = any(is_stalled(min(times), statistics.median(times)) for times in columns)
    target = WORKLOADS[name].target
    return Row(name, mine, theirs, mine / theirs, median, (low, high), stalled, target)


def is_stalled(minimum: float, median: float) -> bool:
    """Return whether a side usually waited for something else, given its times."""
    return median > STALLED * minimum
