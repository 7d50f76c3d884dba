"""What breaks without a stage: a task, done once with the stages before it, and once with it too.

Each experiment is a file of `mt/diff/experiments`, named for the stage, as `nn.py` and
`nn_forgotten.py`, with a docstring that says what is at stake and two functions, `before` and
`after`, that print what came of it. They run in processes of their own; the first one cannot import
the new stage, whatever is installed.
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
"""How many seconds one side may take."""

Side = Literal["before", "after"]


@dataclass(frozen=True)
class Outcome:
    """What came of one side of an experiment.

    Attributes:
        worked: whether the program ended by itself and without an error.
        seconds: how long it ran.
        output: what it printed; the last line is the error if there was one.
    """

    worked: bool
    seconds: float
    output: str


class Absent(importlib.abc.MetaPathFinder):
    """Makes packages impossible to import, as if they were not installed."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = set(packages)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        """Refuse what is to be absent."""
        if fullname.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

    def hide(self) -> None:
        """Let neither imports nor entry points find the packages in this process."""
        sys.meta_path.insert(0, self)
        find = importlib.metadata.Distribution.discover.__func__  # type: ignore[attr-defined]

        def present(cls: type, /, **context: Any) -> Iterator[importlib.metadata.Distribution]:
            for distribution in find(cls, **context):
                if distribution.metadata["Name"].replace("-", "_") not in self.packages:
                    yield distribution

        importlib.metadata.Distribution.discover = classmethod(present)  # type: ignore[method-assign, assignment]


def run_side(file: Path, side: Side, absent: Sequence[str]) -> Outcome:
    """Run one side of an experiment in a process that cannot import some packages."""
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
    """Return the environment of a process that finds this module."""
    known = [path for path in [os.environ.get("PYTHONPATH")] if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOOLS), *known])}


def main(file: str, side: str, *absent: str) -> None:
    """Run one side in this process."""
    Absent(absent).hide()
    runpy.run_path(file)[side]()


if __name__ == "__main__":
    main(*sys.argv[1:])
