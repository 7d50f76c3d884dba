"""`hatch run bench:run`: this project against torch.

Both sides run the same programs in turn, one at a time, in processes of their own and on as many
threads. Machines are shared and noisy, so no single time means anything: what counts is the median
of the ratios of neighbouring measurements, with the quartiles around it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from bench.workloads import WORKLOADS

TOOLS = Path(__file__).parents[1]


class Side:
    """A running process of `bench.side`."""

    def __init__(self, library: str, threads: int, backend: str) -> None:
        number = str(threads)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.side", library, number],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=TOOLS,
            env={
                **os.environ,
                "MT_BACKEND": backend,
                "NUMBA_NUM_THREADS": number,
                "OMP_NUM_THREADS": number,
                "OPENBLAS_NUM_THREADS": number,
            },
        )

    def seconds(self, name: str) -> float:
        """Return how long one run of a workload takes now."""
        ask, answer = self._pipes()
        with contextlib.suppress(BrokenPipeError):  # no answer will come, then
            print(name, file=ask, flush=True)
        line = answer.readline()
        if not line:
            raise SystemExit(f"the process that measures {name!r} ended; see its message above.")
        return float(json.loads(line))

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
        ours: the median time of one run, in seconds.
        torch: the same of the other side.
        ratio: the median of the ratios of neighbouring measurements; below 1 ours is faster.
        quartiles: between which half of the ratios lie.
        target: what the ratio should be at most.
    """

    name: str
    ours: float
    torch: float
    ratio: float
    quartiles: tuple[float, float]
    target: float

    def __str__(self) -> str:
        """Return a line of the table, but for the name."""
        times = f"{1e6 * self.ours:10.2f}us {1e6 * self.torch:10.2f}us"
        low, high = self.quartiles
        spread = f"({low:.2f} to {high:.2f})"
        met = "" if self.ratio <= self.target else "  above"
        return f"{times}   {self.ratio:.2f}  {spread:16}  {self.target:.1f}{met}"


def measured(ours: Side, other: Side, name: str, rounds: int) -> Row:
    """Measure a workload on both sides in turn, after a warm-up."""
    for side in (ours, other):
        side.seconds(name)
    pairs = [(ours.seconds(name), other.seconds(name)) for _ in range(rounds)]
    low, ratio, high = statistics.quantiles((a / b for a, b in pairs), n=4)
    mine, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    return Row(name, mine, theirs, ratio, (low, high), WORKLOADS[name].target)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and write it as JSON if told to."""
    parser = argparse.ArgumentParser(prog="bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="?", default="", help="a pattern that names must contain")
    parser.add_argument("--group", choices=("kernels", "layers"), default="kernels")
    parser.add_argument("--backend", default="numpy", help="the project's backend")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=15, help="measurements of each row")
    parser.add_argument("--against", default="torch", help="the module of the other side")
    parser.add_argument("--json", type=Path, help="a file to write the rows to")
    given = parser.parse_args(arguments)
    names = [
        name
        for name, workload in WORKLOADS.items()
        if workload.group == given.group and re.search(given.rows, name)
    ]
    if not names:
        parser.error(f"no row matches {given.rows!r}; there are: {'; '.join(WORKLOADS)}")
    width = max(map(len, names))
    columns = f"ours {given.against:>12}  ratio  (quartiles)       target"
    print(f"{f'backend {given.backend}':{width}}         {columns}")
    rows = []
    with (
        Side("mt_tensor", given.threads, given.backend) as ours,
        Side(given.against, given.threads, given.backend) as other,
    ):
        for name in names:
            rows.append(measured(ours, other, name, max(given.rounds, 2)))
            print(f"{name:{width}} {rows[-1]}", flush=True)
    mean = statistics.geometric_mean(row.ratio for row in rows)
    print(f"geometric mean of {len(rows)} ratios: {mean:.2f}")
    if given.json:
        given.json.write_text(
            json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
