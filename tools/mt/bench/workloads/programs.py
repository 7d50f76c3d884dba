"""The programs of `mt port`, written for torch and run here with other imports.

A program measures itself: the mean time from one backward pass to the next, from the second to the
last of a run. So imports, data, the first step and what follows the training are left out.
"""

from __future__ import annotations

import contextlib
import io
import time
from typing import Any
from unittest import mock

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Program, workload
from mt.errors import ToolError
from mt.port.comparison import Program as Sample
from mt.port.comparison import programs
from mt.port.running import run


def _register(sample: Sample) -> None:
    """Add a program to the workloads."""

    @workload(sample.name, target=1.0, group="programs")
    def make(side: Library) -> Program:
        return lambda: seconds(sample, side)


def seconds(sample: Sample, side: Library) -> float:
    """Run a program, and return the mean time from one backward pass to the next.

    Raises:
        ToolError: the program has fewer than three backward passes.
    """
    times = []
    tensor: Any = side.tensors.Tensor
    backward = tensor.backward

    def timed(*arguments: Any, **options: Any) -> None:
        times.append(time.perf_counter())
        backward(*arguments, **options)

    with mock.patch.object(tensor, "backward", timed), contextlib.redirect_stdout(io.StringIO()):
        run(sample.file, (), side.tensors.__name__)
    if len(times) < 3:
        message = f"{sample.name} has {len(times)} backward passes; its timing needs at least 3"
        raise ToolError(message)
    return (times[-1] - times[1]) / (len(times) - 2)


for _sample in programs():
    _register(_sample)
