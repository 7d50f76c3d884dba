"""One side of the benchmark, in a process of its own: `python -m mt.bench.side torch 2`.

Two libraries in one process fight for its threads. So each side has a process, which waits for the
name of a workload on its standard input and answers with the seconds that one run took.
"""

from __future__ import annotations

import json
import sys
import time

from mt.bench import in_jax
from mt.bench.libraries import Library, library
from mt.bench.measuring import MEMORY
from mt.bench.workloads import WORKLOADS, Program

WARM_UP = 1 / 3
"""Uncounted runs before a measurement, as a share of its duration: the other side has just used the
caches and the processors."""


def seconds(program: Program, runs: int, duration: float, wait: Program) -> float:
    """Return the time of one of several runs; `wait` waits until a device has done all."""
    began = time.perf_counter()
    while time.perf_counter() - began < WARM_UP * duration:
        program()
    wait()
    began = time.perf_counter()
    for _ in range(runs):
        program()
    wait()
    return (time.perf_counter() - began) / runs


def runs_needed(program: Program, duration: float, wait: Program) -> int:
    """Return how many runs last so long, after a first run that compiles what is needed."""
    program()
    runs = 1
    while seconds(program, runs, duration, wait) * runs < duration:
        runs *= 2
    return runs


def main() -> None:
    """Answer until the input ends."""
    which, threads = sys.argv[1], int(sys.argv[2])
    side = None if which == "jax" else library(which, threads)
    wait = _no_wait
    if side is not None and which.startswith("mt_tensor"):
        wait = side.tensors.get_backend().synchronize
    programs: dict[str, tuple[Program, int]] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name == MEMORY:
            print(json.dumps(_peak()), flush=True)
            continue
        duration = WORKLOADS[name].duration
        if name not in programs:
            program = in_jax.STEPS[name]() if side is None else _program(name, side)
            programs[name] = program, runs_needed(program, duration, wait)
        print(json.dumps(seconds(*programs[name], duration, wait)), flush=True)


def _no_wait() -> None:
    """Return at once: the work is done when the program returns."""


def _peak() -> int:
    """Return the most memory that this process has had, in bytes.

    mt-nn has such a function, too, which would bring itself into the process of another library.
    """
    import resource  # which not every system has; only this needs it

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


def _program(name: str, side: Library) -> Program:
    side.tensors.manual_seed(0)
    return WORKLOADS[name].make(side)


if __name__ == "__main__":
    main()
