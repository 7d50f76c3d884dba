"""One side of the benchmark, in a separate process: `python -m mt.bench.side torch 2`.

Two libraries in one process would compete for its threads. So each side has a process, which reads
names of workloads from its standard input, and prints the time of one run in seconds.
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
"""The duration of the warm-up before a measurement, as a fraction of it: the other side has just
used the caches and processors."""


def seconds(program: Program, runs: int, duration: float, wait: Program) -> float:
    """Return the mean time of several runs; `wait` waits for the device."""
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
    """Return the number of runs in a given time, after a first run that compiles."""
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
        workload = WORKLOADS[name]
        if workload.measures_itself and side is not None:
            print(json.dumps(workload.make(side)()), flush=True)
            continue
        duration = workload.duration
        if name not in programs:
            program = in_jax.STEPS[name]() if side is None else _program(name, side)
            programs[name] = program, runs_needed(program, duration, wait)
        print(json.dumps(seconds(*programs[name], duration, wait)), flush=True)


def _no_wait() -> None:
    """Do nothing: the program is synchronous."""


def _peak() -> int:
    """Return the peak memory of this process, in bytes.

    mt-nn has such a function, too, but must not be imported in the process of another library.
    """
    import resource  # not available on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


def _program(name: str, side: Library) -> Program:
    side.tensors.manual_seed(0)
    return WORKLOADS[name].make(side)


if __name__ == "__main__":
    main()
