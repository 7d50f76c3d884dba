"""Measure imports, and the first training step of a new process.

    mt bench startup

Kernels are compiled when they are first needed, and cached on disk, so that there are two times of
a first step: with an empty cache, and in every later process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from mt.programs import output
from mt.workspace import ROOT

_WRITING = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

STEP = """
import sys, time
from mt.bench.libraries import library
from mt.bench.workloads import WORKLOADS
program = WORKLOADS["LeNet training step, batch 64"].make(library(sys.argv[1], 2))
began = time.perf_counter()
program()
print(time.perf_counter() - began)
"""


def import_seconds(module: str, runs: int) -> float:
    """Return the median time of a process that only imports a module with cached bytecode."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        _output([f"import {module}"], _WRITING)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:] or times)


def first_step(module: str, environment: Mapping[str, str]) -> float:
    """Return the time of the first training step in a new process, in seconds."""
    return float(_output([STEP, module], {**os.environ, **environment}))


def _output(program: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a program in a new process, and return its output.

    Raises:
        ToolError: it fails.
    """
    return output([sys.executable, "-c", *program], ROOT / "tools", environment)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    numpy = import_seconds("numpy", options.runs)
    print(f"import numpy      {numpy:6.3f} s")
    for module in ("mt_tensor", "mt_nn", "torch"):
        seconds = import_seconds(module, options.runs)
        print(f"import {module:10} {seconds:6.3f} s   {seconds / numpy:.2f} times numpy's")
    print(f"first LeNet step, torch                   {first_step('torch', {}):6.3f} s")
    print(f"first LeNet step, numpy                   {first_step('mt_tensor', {}):6.3f} s")
    with tempfile.TemporaryDirectory() as cache:
        fast = {"MT_BACKEND": "fast", "MT_FAST_CACHE": cache}
        for what in ("nothing compiled yet", "the next process"):
            seconds = first_step("mt_tensor", fast)
            print(f"first LeNet step, fast, {what:21} {seconds:5.3f} s")
