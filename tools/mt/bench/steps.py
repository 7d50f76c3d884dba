"""`mt bench --group steps`: whole training steps, compiled and eager, and those of torch and JAX.

Each step has a process for each side, and these are measured in turn. The result is the minimum
time, because threads have to wait on shared machines; if the median is far above it, the row
reports that a side stalled. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
from dataclasses import asdict, dataclass

from mt.bench.comparison import names_of, write
from mt.bench.in_jax import STEPS as IN_JAX
from mt.bench.measuring import Side, is_stalled
from mt.bench.workloads import WORKLOADS
from mt.elsewhere import missing

COMPILED, EAGER = "mt_tensor+compile", "mt_tensor"
OTHERS = ("torch", "torch+compile", "jax")


@dataclass(frozen=True)
class Measured:
    """The measurement of a step on a side.

    Attributes:
        minimum: the minimum time, in seconds.
        median: the median time.
        memory: the peak memory of the process, in bytes.
    """

    minimum: float
    median: float
    memory: int

    @property
    def stalled(self) -> bool:
        """Whether the side usually waited for something else."""
        return is_stalled(self.minimum, self.median)


@dataclass(frozen=True)
class Row:
    """A step on all sides.

    Attributes:
        name: the name of the step.
        threads: the number of threads.
        sides: the measurements, by the name of the side.
        ratio: the compiled minimum relative to the best of the others; None if there is no other.
        target: the maximum ratio to reach.
    """

    name: str
    threads: int
    sides: dict[str, Measured]
    ratio: float | None
    target: float


def run(options: argparse.Namespace) -> None:
    """Measure, print the table, and write it as JSON if requested.

    Raises:
        ToolError: no row matches, the file cannot be written, or a side cannot measure.
    """
    names = names_of("steps", options.pattern)
    if options.json:
        write(options.json, "", "a")
    others = OTHERS if options.against == "torch" else ()
    sides = [COMPILED, EAGER, *(each for each in others if not missing([each.partition("+")[0]]))]
    rows = []
    for threads in options.threads:
        print(f"backend {options.backend}, {threads} thread(s); minimum (median) in ms, peak in MB")
        for name in names:
            rows.append(measured(name, sides, options.backend, threads, max(options.rounds, 2)))
            print("\n".join(lines(rows[-1])), flush=True)
    if options.json:
        write(options.json, json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def measured(name: str, sides: list[str], backend: str, threads: int, rounds: int) -> Row:
    """Measure a step on all sides that implement it, in turn."""
    having = [side for side in sides if side != "jax" or name in IN_JAX]
    with contextlib.ExitStack() as stack:
        running = {side: stack.enter_context(Side(side, threads, backend)) for side in having}
        for each in running.values():
            each.seconds(name)
        times: dict[str, list[float]] = {side: [] for side in running}
        for _ in range(rounds):
            for side, each in running.items():
                times[side].append(each.seconds(name))
        found = {
            side: Measured(min(times[side]), statistics.median(times[side]), each.memory())
            for side, each in running.items()
        }
    others = [found[side].minimum for side in having if side in OTHERS]
    ratio = found[COMPILED].minimum / min(others) if others else None
    return Row(name, threads, found, ratio, WORKLOADS[name].target)


def lines(row: Row) -> list[str]:
    """Return a row of the table as lines of text."""
    told = [row.name]
    for side, each in row.sides.items():
        stalled = "  stalled" if each.stalled else ""
        times = f"{1e3 * each.minimum:9.3f} ({1e3 * each.median:.3f})"
        told.append(f"  {side:18} {times:24} {each.memory / 2**20:8.0f}{stalled}")
    if row.ratio is not None:
        above = "" if row.ratio <= row.target else "  above"
        told.append(f"  compiled / best other: {row.ratio:.2f}, target {row.target:.2f}{above}")
    return told
