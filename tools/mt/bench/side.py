"""One side of the benchmark, in a separate process: `python -m mt.bench.side torch 2`.

Two libraries in one process would compete for its threads. So each side has a process, which reads
names of workloads from its standard input, and prints the time of one run in seconds, and the peak
memory of the process in bytes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from mt.bench.libraries import library
from mt.bench.workloads import WORKLOADS, Program

WARM_UP = 1 / 3
"""The duration of the warm-up, as a fraction of the duration of the measurement. It is needed
because the other side has just used the caches and processors."""


def seconds(program: Program, runs: int, duration: float, wait: Program) -> float:
    """Return the mean time of several runs in seconds, after a warm-up.

    Args:
        program: the program to measure.
        runs: the number of runs.
        duration: the expected duration of all runs in seconds, which determines the warm-up.
        wait: a function that waits for the device.
    """
    start = time.perf_counter()
    while time.perf_counter() - start < WARM_UP * duration:
        program()
    wait()
    start = time.perf_counter()
    for _ in range(runs):
        program()
    wait()
    return (time.perf_counter() - start) / runs


def runs_needed(program: Program, duration: float, wait: Program) -> int:
    """Return a number of runs that take at least a given time; the first run compiles."""
    program()
    runs = 1
    while seconds(program, runs, duration, wait) * runs < duration:
        runs *= 2
    return runs


def main() -> None:
    """Measure each requested workload until the input ends."""
    make, wait = _makers(sys.argv[1], int(sys.argv[2]))
    programs: dict[str, Callable[[], float]] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in programs:
            programs[name] = _timed(name, make(name), wait)
        print(json.dumps([programs[name](), _peak()]), flush=True)


def _makers(which: str, threads: int) -> tuple[Callable[[str], Program], Program]:
    """Return a function that creates a program by name, and one that waits for the device."""
    if which == "jax":
        from mt.bench.in_jax import STEPS

        return lambda name: STEPS[name](), lambda: None
    side = library(which, threads)

    def make(name: str) -> Program:
        side.tensors.manual_seed(0)
        return WORKLOADS[name].make(side)

    ours = which.startswith("mt_tensor")
    return make, side.tensors.get_backend().synchronize if ours else lambda: None


def _timed(name: str, program: Program, wait: Program) -> Callable[[], float]:
    """Return a function that measures a program."""
    if WORKLOADS[name].measures_itself:
        return program
    duration = WORKLOADS[name].duration
    runs = runs_needed(program, duration, wait)
    return lambda: seconds(program, runs, duration, wait)


def _peak() -> int:
    """Return the peak memory of this process, in bytes.

    mt-nn has the same function, but must not be imported in the process of another library.
    """
    import resource  # not available on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
