"""Both sides run the same programs in turn, one at a time, in processes of their own.

Machines are shared and noisy, so no single time means anything: what counts is the ratio of the
shortest times. Beside it stands the median of the ratios of neighbouring measurements, with the
quartiles around it, for what is usual.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import IO, Self

from mt.bench.libraries import environment
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError
from mt.workspace import ROOT

MEMORY = "memory"
"""What a side is asked instead of the name of a workload."""

STALLED = 3.0
"""How many times its minimum a median is where a side has been kept waiting."""


class Side:
    """A running process of `mt.bench.side`."""

    def __init__(self, library: str, threads: int, backend: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mt.bench.side", library, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT / "tools",
            env=os.environ | environment(library, backend, threads),
        )

    def seconds(self, name: str) -> float:
        """Return how long one run of a workload takes now.

        Raises:
            ToolError: The process has ended.
        """
        ask, answer = self._pipes()
        with contextlib.suppress(BrokenPipeError):  # no answer will come, then
            print(name, file=ask, flush=True)
        line = answer.readline()
        if not line:
            message = f"the process that measures {name!r} ended; its own message is above"
            raise ToolError(message)
        return float(json.loads(line))

    def memory(self) -> int:
        """Return the most memory that the process has had, in bytes."""
        ask, answer = self._pipes()
        print(MEMORY, file=ask, flush=True)
        return int(json.loads(answer.readline()))

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        ask, answer = self._process.stdin, self._process.stdout
        if ask is None or answer is None:
            raise RuntimeError("the process has no pipes.")
        return ask, answer

    def __enter__(self) -> Self:
        """Leave the process running."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        for pipe in self._pipes():
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process.wait()


@dataclass(frozen=True)
class Row:
    """What was measured of a workload.

    Attributes:
        name: the workload's.
        ours: the shortest time of one run, in seconds.
        torch: the same of the other side.
        ratio: of these two; below 1 ours is faster.
        median: the median of the ratios of neighbouring measurements.
        quartiles: between which half of these lie.
        stalled: whether a side usually waited for something else.
        target: what the ratio should be at most.
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
        """Return a line of the table, but for the name."""
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
    """Whether something usually waited for something else, by the times that it took."""
    return median > STALLED * minimum
