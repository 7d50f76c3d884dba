"""Experiments: a task done with the stages before a new one, and again with the new stage.

An experiment is a file of `mt/diff/experiments`, named after the stage, such as `nn.py` or
`nn_forgotten.py`, with a docstring that describes it and two functions, `before` and `after`, that
print their results. Each runs in a new process; that of `before` cannot import the new stage, even
if it is installed.
"""

from __future__ import annotations

import importlib.abc
import importlib.metadata
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent / "experiments"
TOOLS = Path(__file__).parents[2]
LIMIT = 120.0
"""The time limit of one side, in seconds."""

Side = Literal["before", "after"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one side of an experiment.

    Attributes:
        worked: whether the program exited without an error.
        seconds: its running time.
        output: its output; the last line is the error if there was one.
    """

    worked: bool
    seconds: float
    output: str


class Absent(importlib.abc.MetaPathFinder):
    """An import hook that makes packages unavailable, as if they were not installed."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = set(packages)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        """Raise an error for absent packages."""
        if fullname.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

    def hide(self) -> None:
        """Hide the packages from imports and from entry points in this process."""
        sys.meta_path.insert(0, self)
        find = importlib.metadata.Distribution.discover.__func__  # type: ignore[attr-defined]

        def present(cls: type, /, **context: Any) -> Iterator[importlib.metadata.Distribution]:
            for distribution in find(cls, **context):
                if distribution.metadata["Name"].replace("-", "_") not in self.packages:
                    yield distribution

        importlib.metadata.Distribution.discover = classmethod(present)  # type: ignore[method-assign, assignment]


def run_side(file: Path, side: Side, absent: Sequence[str]) -> Outcome:
    """Run one side of an experiment in a process that cannot import the absent packages."""
    command = [sys.executable, "-m", "mt.diff.experiment", str(file), side, *absent]
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, env=_environment(), capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        text = error.stdout.decode() if isinstance(error.stdout, bytes) else ""
        return Outcome(False, LIMIT, f"{text}stopped after {LIMIT:.0f} seconds")
    error_line = done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
    output = "\n".join(part for part in (done.stdout.strip(), error_line) if part)
    return Outcome(done.returncode == 0, time.perf_counter() - start, output)


def _environment() -> dict[str, str]:
    """Return the environment of a process that can import this module."""
    known = [path for path in [os.environ.get("PYTHONPATH")] if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOOLS), *known])}


def main(file: str, side: str, *absent: str) -> None:
    """Run one side in this process."""
    Absent(absent).hide()
    runpy.run_path(file)[side]()


if __name__ == "__main__":
    main(*sys.argv[1:])
