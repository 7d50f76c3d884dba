"""One rank of the benchmark of several: `mpiexec -n 2 python -m mt.bench.rank torch GPT 20 FOLDER`.

It makes so many steps of a workload, and rank 0 prints how long each took, and which share of them
it waited for others. Torch's side talks over gloo, which MPI only starts; its ranks meet in the
folder. Ranks of the side `apart` train for themselves, and those of `silent` do all that training
together takes, but send nothing. `link` in place of a workload measures how long sums of arrays
take.
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
"""Steps that are not counted: compilers and caches take a while."""

OFTEN = 200
"""How often a short array is added up, at least."""

SIZES = (8, 2**12, 2**16, 2**20, 2**22, 2**24)
"""Bytes of the arrays that are added up."""


def _of_the_project(side: str, name: str, steps: int) -> dict[str, Any]:
    """Return the times of steps, with what the ranks waited."""
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
    """Return a group that sends nothing: what is gathered is what this rank has given."""
    from mt_nn.parallel import Group

    class Silent(Group):
        def gather(self, value: Any, what: str) -> list[Any]:
            return [value] * self.size

    group = Silent()
    group.rank, group.size = rank, size
    return group


def _of_torch(name: str, steps: int, folder: str) -> dict[str, Any]:
    """Return the times of steps; the folder is where torch's ranks find one another."""
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
    """Return the seconds of each step, and how long the rank waited in all of them."""
    for _ in range(WARM):
        step()
    times, before = [], waited()
    for _ in range(steps):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return times, waited() - before


def _of_the_link(steps: int) -> dict[str, Any]:
    """Return how long sums of arrays take, the least of several."""
    from mt_nn.parallel import world

    ranks, found = world(), []
    for size in SIZES:
        array = np.zeros(size // 4, np.float32)
        count = steps if size > 2**20 else max(steps, OFTEN)
        times, _ = _timed(lambda: ranks.sum(array, "array"), count, lambda: 0.0)  # noqa: B023
        found.append((size, min(times)))
    return {"rank": ranks.rank, "sums": found}


def main() -> None:
    """Measure, and print what was found as JSON."""
    side, name, steps, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    if name == "link":
        found = _of_the_link(steps)
    else:
        of_torch = side == "torch"
        found = _of_torch(name, steps, folder) if of_torch else _of_the_project(side, name, steps)
    if found["rank"] == 0:
        print(json.dumps(found), flush=True)
    if side == "torch":
        os._exit(0)  # threads of gloo may abort a process that ends as others do


if __name__ == "__main__":
    main()
