"""Measure a program on several sides in turn, each in its own process.

Shared machines are noisy, and a single time means little: the main result is the ratio of the
minimum times. The median of the ratios of adjacent measurements, with the quartiles, shows the
typical ratio.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mt.bench.libraries import environment
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError
from mt.programs import Server

STALLED = 3.0
"""The ratio of median and minimum above which a side counts as stalled."""


class Side(Server):
    """A running process of `mt.bench.side`.

    Attributes:
        name: the name of the side.
        memory: the peak memory of the process after the last measurement, in bytes.
    """

    def __init__(self, name: str, threads: int, backend: str) -> None:
        variables = environment(name, backend, threads)
        super().__init__("mt.bench.side", [name, str(threads)], variables)
        self.name, self.memory = name, 0

    def seconds(self, workload: str) -> float:
        """Return the current time of one run of a workload.

        Raises:
            ToolError: the process has ended.
        """
        self.request(workload)
        line = self.reply()
        if not line:
            message = f"the process measuring {workload!r} ended; its own message is above"
            raise ToolError(message)
        seconds, self.memory = json.loads(line)
        return float(seconds)


@dataclass(frozen=True)
class Row:
    """The measurement of a workload.

    Attributes:
        name: the name of the workload.
        sides: the name of each side; the first is the project's.
        times: for each side, the times of one run, in seconds.
        memory: for each side, the peak memory of its process, in bytes.
        rivals: the number of sides, the last ones, that the first is compared with.
        target: the maximum ratio to reach.
    """

    name: str
    sides: tuple[str, ...]
    times: tuple[tuple[float, ...], ...]
    memory: tuple[int, ...]
    rivals: int
    target: float

    @property
    def minima(self) -> list[float]:
        """The minimum time of each side."""
        return [min(times) for times in self.times]

    @property
    def ratio(self) -> float:
        """The ratio of the minima of ours and of the best rival; below 1 ours is faster."""
        return self.minima[0] / min(self.minima[-self.rivals :])

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The quartiles of the ratios of adjacent measurements; the second is the median."""
        rounds = zip(*self.times, strict=True)
        ratios = [ours / min(others[-self.rivals :]) for ours, *others in rounds]
        low, median, high = statistics.quantiles(ratios, n=4)
        return low, median, high

    @property
    def stalled(self) -> bool:
        """Whether a side usually waited for something else."""
        return any(statistics.median(times) > STALLED * min(times) for times in self.times)

    def __str__(self) -> str:
        """Return a line of the table, without the name."""
        low, median, high = self.quartiles
        usual = f"{median:.2f} ({low:.2f} to {high:.2f})"
        above = "  above" if self.ratio > self.target else ""
        columns = "".join(f" {1e6 * least:12.2f}us" for least in self.minima)
        stalled = "  stalled" if self.stalled else ""
        return f"{columns}   {self.ratio:.2f}  {usual:21}  {self.target:.2f}{above}{stalled}"

    def as_json(self) -> dict[str, Any]:
        """Return the row for JSON."""
        columns = zip(self.sides, self.times, self.memory, strict=True)
        return {
            "name": self.name,
            "sides": [{"side": s, "seconds": t, "memory": m} for s, t, m in columns],
            "ratio": self.ratio,
            "quartiles": self.quartiles,
            "target": self.target,
        }


def measured(sides: Sequence[Side], rivals: int, name: str, rounds: int) -> Row:
    """Measure a workload on all sides in turn, after a warm-up."""
    for side in sides:
        side.seconds(name)
    taken = [[side.seconds(name) for side in sides] for _ in range(max(rounds, 2))]
    times = tuple(zip(*taken, strict=True))
    names = tuple(side.name for side in sides)
    memory = tuple(side.memory for side in sides)
    return Row(name, names, times, memory, rivals, WORKLOADS[name].target)
