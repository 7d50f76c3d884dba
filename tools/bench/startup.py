"""What a newcomer waits for: `import`, and the first step of training of a new process.

    python -m bench.startup

Kernels are compiled when they are first needed and kept on disk, so that there are two first steps:
the very first one, and that of every process after it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

TOOLS = Path(__file__).parents[1]

_WRITING = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

STEP = """
import sys, time
from bench.libraries import library
from bench.workloads import WORKLOADS
program = WORKLOADS["LeNet training step, batch 64"].make(library(sys.argv[1], 2))
began = time.perf_counter()
program()
print(time.perf_counter() - began)
"""


def import_seconds(module: str, runs: int) -> float:
    """Return the median wall time of a process that imports a module, compiled before, and ends."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=_WRITING)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:] or times)


def first_step(module: str, environment: Mapping[str, str]) -> float:
    """Return the seconds that the first step of training takes in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", STEP, module],
        env={**os.environ, **environment},
        cwd=TOOLS,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="bench.startup", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=15, help="processes for each import")
    runs = parser.parse_args().runs
    numpy = import_seconds("numpy", runs)
    print(f"import numpy      {numpy:6.3f} s")
    for module in ("mt_tensor", "mt_nn", "torch"):
        seconds = import_seconds(module, runs)
        print(f"import {module:10} {seconds:6.3f} s   {seconds / numpy:.2f} times numpy's")
    print(f"first LeNet step, torch                   {first_step('torch', {}):6.3f} s")
    print(f"first LeNet step, numpy                   {first_step('mt_tensor', {}):6.3f} s")
    with tempfile.TemporaryDirectory() as cache:
        fast = {"MT_BACKEND": "fast", "MT_FAST_CACHE": cache}
        for what in ("nothing compiled yet", "the next process"):
            seconds = first_step("mt_tensor", fast)
            print(f"first LeNet step, fast, {what:21} {seconds:5.3f} s")


if __name__ == "__main__":
    main()
