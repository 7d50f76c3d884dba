"""Measure a step on several ranks compared with one and with torch, and predict it for many.

Each rank has its own processor and batch, so that without communication N ranks would do N times
the work of one. The sides take turns, each in processes started by MPI. From the measured times of
a step and an all-reduce, `cost.py` predicts those on up to 1,024 ranks.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from mt.bench.cost import RANKS, Cost, hidden_share, link_of
from mt.bench.libraries import environment
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError

TIMEOUT = 600.0
"""The timeout for a side, in seconds."""


def run(options: argparse.Namespace) -> None:
    """Measure, print and draw.

    Raises:
        ToolError: the step is unknown, or a side does not respond.
    """
    names = [each for each in WORKLOADS if options.pattern in each]
    names = [each for each in names if WORKLOADS[each].group == "steps"]
    if len(names) != 1:
        raise ToolError(
            f"{options.pattern!r} is in the names of {len(names)} steps; of one, please: "
            f"{'; '.join(each for each in WORKLOADS if WORKLOADS[each].group == 'steps')}"
        )
    ranks = sorted({1, *options.ranks})
    sides = ["mt_tensor", "torch"] if "torch" in options.needs else ["mt_tensor"]
    found: dict[tuple[str, int], list[dict[str, Any]]] = {
        (side, size): [] for size in ranks for side in sides
    }
    found |= {(side, size): [] for size in ranks[1:] for side in ("apart", "silent")}
    for _ in range(options.rounds):
        for (side, size), rows in found.items():
            rows.append(_measured(side, names[0], size, options))
    print(f"{names[0]}, on {options.backend}, a thread and a batch for each rank")
    best = {key: min(min(row["times"]) for row in rows) for key, rows in found.items()}
    for (side, size), rows in found.items():
        _tell(side, size, best, rows)
    for size in ranks:
        if "torch" in sides:
            ratio = best["mt_tensor", size] / best["torch", size]
            print(f"{size} rank(s): {ratio:.2f} of torch's time, in minima")
    if len(ranks) > 1:
        cost = _cost(best, found, ranks, options)
        if options.picture:
            _draw(cost, names[0], options.picture)


def _measured(side: str, name: str, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return the results of rank 0 of a side."""
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if mpiexec is None:
        raise ToolError("mpiexec is not installed: pip install mpich, or hatch run mpi:test")
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "mt.bench.rank", side, name, str(options.steps), folder]
        ended = subprocess.run(
            [mpiexec, "-n", str(size), *program],
            env={**os.environ, **environment(side, options.backend, 1)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    if ended.returncode:
        raise ToolError(f"{side} on {size} rank(s): {ended.stderr.strip() or ended.returncode}")
    answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return answer


def _tell(
    side: str, size: int, best: dict[tuple[str, int], float], rows: list[dict[str, Any]]
) -> None:
    step, middle = best[side, size], median(median(row["times"]) for row in rows)
    more = size * best.get((side, 1), best["mt_tensor", 1]) / step
    line = f"{side:9}  {size} rank(s)  {1e3 * step:8.2f} ms a step (median {1e3 * middle:.2f})"
    line += f"  {more:.2f} times the samples of one"
    if "waited" in rows[0] and size > 1:
        share = min(row["waited"] / sum(row["times"]) for row in rows)
        line += f"  {100 * share:.1f} % of the time waiting"
    print(line)


def _cost(
    best: dict[tuple[str, int], float],
    found: dict[tuple[str, int], list[dict[str, Any]]],
    ranks: list[int],
    options: argparse.Namespace,
) -> Cost:
    """Print the properties of the link, and predictions for more ranks."""
    least, size = ranks[1], found["mt_tensor", 1][0]["size"]
    sums = [tuple(each) for each in _measured("mt_tensor", "link", least, options)["sums"]]
    link = link_of(sums, least)
    step = best["apart", least]
    cost = Cost(step, max(best["silent", least] - step, 0.0), size, link)
    print(
        f"the link: {1e6 * link.latency:.1f} us for a message, {link.bandwidth / 1e9:.2f} GB a "
        f"second; {size / 2**20:.2f} MB of gradients, {1e3 * cost.copies:.2f} ms for copies"
    )
    for count in ranks[1:]:
        silent, together = best["silent", count], best["mt_tensor", count]
        alone = link.sum_of(size, count)
        hidden = hidden_share(silent, together, alone)
        print(
            f"checked on {count} rank(s): predicted {1e3 * (silent + alone):.2f} ms a step, "
            f"measured {1e3 * together:.2f}; {100 * hidden:.0f} % of {1e3 * alone:.2f} ms of sums "
            "hidden"
        )
    for count in RANKS:
        line = f"{count:5} rank(s)  predicted {1e3 * cost.with_a_batch_each(count):8.2f} ms a step"
        print(f"{line}, {100 * cost.efficiency(count):.0f} % of it for training")
    pays = cost.most_that_pay()
    end = "" if pays == RANKS[-1] else f"; more than {pays} take longer"
    print(f"one batch for all: {pays} ranks take the least time{end}")
    return cost


def _draw(cost: Cost, name: str, file: Path) -> None:
    """Draw the predictions."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    more = [count * cost.step / cost.with_a_batch_each(count) for count in RANKS]
    axes.plot(RANKS, more, marker="o", label="a batch for each rank: samples a second")
    faster = [cost.step / cost.with_one_batch(count) for count in RANKS]
    axes.plot(RANKS, faster, marker="s", label="one batch for all: steps a second")
    axes.plot(RANKS, RANKS, color="#888888", linewidth=0.8, label="if nothing had to be sent")
    pays = cost.most_that_pay()
    axes.axvline(pays, color="#e76f51", linewidth=0.8, label=f"one batch pays up to {pays} ranks")
    axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="times those of one", title=name)
    axes.set_xticks(RANKS, [str(count) for count in RANKS])
    axes.legend()
    with rc_context({"svg.hashsalt": "parallel"}):  # identical numbers give identical files
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
