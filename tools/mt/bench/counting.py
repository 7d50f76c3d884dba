"""`mt bench --group calls --count`: the number of Python calls in each row.

Small operations spend most of their time in Python calls, and unlike the time, the number of calls
is the same on every machine.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import mt_tensor
from mt.bench.comparison import names_of
from mt.bench.libraries import library
from mt.bench.workloads.calls import Call, prepare
from mt.errors import ToolError
from mt.workspace import ROOT
from mt_tensor.errors import BackendError

PACKAGES = str(ROOT / "packages")

WARM_UP = 2
"""The number of warm-up runs, which fill caches and compile code."""


def count_calls(
    function: Callable[[], object], before: Callable[[], object] = lambda: None
) -> tuple[int, int]:
    """Return the number of calls in a function, and how often they move between source files.

    This counts calls of functions, methods, properties and comprehensions in the Python code of the
    packages of this project, but not in NumPy, the standard library, C or generated code. A move
    is a call to a function that is in another file than the function called before it.

    Args:
        function: runs three times; the third run is counted.
        before: runs before each of these, and is not counted.
    """
    for _ in range(WARM_UP):
        before()
        function()
    before()
    files: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGES) and f"{os.sep}src{os.sep}" in file:
            files.append(file)

    collecting, profile = gc.isenabled(), sys.getprofile()
    gc.disable()  # callbacks of the garbage of other code would be counted
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(profile)
        if collecting:
            gc.enable()
    return len(files), sum(file != following for file, following in pairwise(files))


def run(options: argparse.Namespace) -> None:
    """Print the calls and moves of each row, and of its backward alone.

    Raises:
        ToolError: no row matches, or there is no such backend.
    """
    names = names_of(options.group, options.pattern)
    width = max(map(len, names))
    try:
        backend = mt_tensor.get_backend(options.backend)
    except BackendError as error:
        raise ToolError(str(error)) from error
    print(f"{f'backend {options.backend}':{width}}  calls  moves  (backward alone)")
    with mt_tensor.use_backend(backend):
        side = library("mt_tensor", options.threads[-1])
        for name in names:
            print(f"{name:{width}}{_counts(prepare(name, side))}", flush=True)


def _counts(call: Call) -> str:
    """Return the columns of a row."""
    counts: tuple[int, ...] = count_calls(call.run, call.clear)
    if call.forward is not None:
        counts += _count_backward(call.forward, call.clear)
    return "".join(f"{count:7}" for count in counts)


def _count_backward(forward: Callable[[], Any], clear: Callable[[], None]) -> tuple[int, int]:
    """Return the counts of `backward()` alone, on the result of a function."""
    results: list[Any] = []

    def before() -> None:
        clear()
        results[:] = [forward()]

    def backward() -> None:
        results[0].backward()

    return count_calls(backward, before)
