"""One rank of the parallel benchmark: `mpiexec -n 2 python -m mt.bench.rank torch GPT 20 FOLDER`.

It runs steps of a workload, and rank 0 prints the time of each, and the fraction that it
waited for others. Torch's side is started by MPI, but communicates with gloo; its ranks find each
other in the folder. Ranks of the side `apart` train independently, and those of `silent` do
everything except sending. `link` instead of a workload measures the times of all-reduces.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mt.bench.libraries import library
from mt.bench.workloads import WORKLOADS

WARM = 5
"""The number of warm-up steps, which compile code and fill caches."""

OFTEN = 200
"""The minimum number of all-reduces of a short array."""

SIZES = (8, 2**12, 2**16, 2**20, 2**22, 2**24)
"""The sizes of the arrays for all-reduces, in bytes."""


def _of_the_project(side: str, name: str, steps: int) -> dict[str, Any]:
    """Return the times of steps, and the waiting times of the ranks."""
    from mt_nn.parallel import DataParallel, world

    made: list[Any] = []
    ranks = world()
    group = _silent(ranks.rank, ranks.size) if side == "silent" else ranks

    def network(model: Any) -> Any:
        made.append(model if side == "apart" else DataParallel(model, process_group=group))
        return made[-1]

    step = WORKLOADS[name].make(replace(library("mt_tensor", 1), network=network))
    size = sum(4 * parameter.numel() for parameter in made[0].parameters())
    times, waited = _timed(step, steps, lambda: ranks.waited)
    return {"rank": ranks.rank, "times": times, "waited": waited, "size": size}


def _silent(rank: int, size: int) -> Any:
    """Return a group that sends nothing: each rank receives its own values."""
    from mt_nn.parallel import Group

    class Silent(Group):
        def gather(self, value: Any, what: str) -> list[Any]:
            return [value] * self.size

    group = Silent()
    group.rank, group.size = rank, size
    return group


def _of_torch(name: str, steps: int, folder: str) -> dict[str, Any]:
    """Return the times of steps; torch's ranks find each other in the folder."""
    dist: Any = importlib.import_module("torch.distributed")
    parallel: Any = importlib.import_module("torch.nn.parallel")
    side, rank = library("torch", 1), int(os.environ.get("PMI_RANK", "0"))
    size = int(os.environ.get("PMI_SIZE", "1"))
    if size > 1:
        meeting = f"file://{folder}/meeting"
        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size)
        side = replace(side, network=parallel.DistributedDataParallel)
    times, _ = _timed(WORKLOADS[name].make(side), steps, lambda: 0.0)
    if size > 1:
        dist.barrier()
    return {"rank": rank, "times": times}


def _timed(
    step: Callable[[], Any], steps: int, waited: Callable[[], float]
) -> tuple[list[float], float]:
    """Return the time of each step in seconds, and the total waiting time of the rank."""
    for _ in range(WARM):
        step()
    times, before = [], waited()
    for _ in range(steps):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return times, waited() - before


def _of_the_link(steps: int) -> dict[str, Any]:
    """Return the minimum times of all-reduces."""
    from mt_nn.parallel import world

    ranks, found = world(), []
    for size in SIZES:
        array = np.zeros(size // 4, np.float32)
        count = steps if size > 2**20 else max(steps, OFTEN)
        times, _ = _timed(lambda: ranks.sum(array, "array"), count, lambda: 0.0)  # noqa: B023
        found.append((size, min(times)))
    return {"rank": ranks.rank, "sums": found}


def main() -> None:
    """Measure, and print the results as JSON."""
    side, name, steps, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    if name == "link":
        found = _of_the_link(steps)
    else:
        of_torch = side == "torch"
        found = _of_torch(name, steps, folder) if of_torch else _of_the_project(side, name, steps)
    if found["rank"] == 0:
        print(json.dumps(found), flush=True)
    if side == "torch":
        os._exit(0)  # gloo's threads can abort a process that ends normally


if __name__ == "__main__":
    main()
