"""One side of the benchmark, in a process of its own: `python -m bench.side torch 2`.

Two libraries in one process fight for its threads. So each side has a process, which waits for the
name of a workload on its standard input and answers with the seconds that one run took.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

from bench.workloads import WORKLOADS, Program

ENOUGH = 0.01
"""Seconds that a measurement should last, so that the clock's grain does not show."""


def seconds(program: Program, runs: int) -> float:
    """Return the time of one of several runs."""
    began = time.perf_counter()
    for _ in range(runs):
        program()
    return (time.perf_counter() - began) / runs


def runs_needed(program: Program) -> int:
    """Return how often to run a program, once it is warm, to measure it."""
    runs = 1
    while seconds(program, runs) * runs < ENOUGH:
        runs *= 2
    return runs


def main() -> None:
    """Answer until the input ends."""
    library, threads = sys.argv[1], int(sys.argv[2])
    module: Any = importlib.import_module(library)
    if library == "torch":
        module.set_num_threads(threads)
    programs: dict[str, tuple[Program, int]] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in programs:
            module.manual_seed(0)
            program = WORKLOADS[name](module)
            programs[name] = program, runs_needed(program)
        print(json.dumps(seconds(*programs[name])), flush=True)


if __name__ == "__main__":
    main()
