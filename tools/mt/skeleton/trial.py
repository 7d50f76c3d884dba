"""Running the tests of a student's folder, to see which task each of them waits for."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from mt.errors import ToolError
from mt.skeleton.course import Task
from mt.skeleton.folder import Skeleton
from mt.skeleton.solving import solve
from mt.workspace import ROOT

ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
"""How pytest ends when it has run whatever it was to run."""


@dataclass(frozen=True)
class Outcomes:
    """What became of the tests in one run.

    Attributes:
        collected: the marks of each test, also of those that were not run.
        outcomes: `passed`, `failed` or `skipped`, by test.
        skipped_files: files that were skipped as a whole, so that nobody knows their tests.
    """

    collected: dict[str, list[str]]
    outcomes: dict[str, str]
    skipped_files: list[str]

    def that(self, outcome: str) -> list[str]:
        """Return the tests of some outcome."""
        return [test for test, became in self.outcomes.items() if became == outcome]


@dataclass(frozen=True)
class Needs:
    """What each test of a stage needs.

    Attributes:
        first: the run with nothing solved; a test that later skips itself is `skipped` there, too.
        tasks: by test that waits for something to be written, the task with which it passes; if
            several were solved at once, each of them.
        never: those that fail when everything is solved.
    """

    first: Outcomes
    tasks: dict[str, Sequence[Task]]
    never: list[str]


def needs(
    skeleton: Skeleton, tasks: Sequence[Task], processes: str, *, at_once: bool = False
) -> Needs:
    """Solve task after task, and find out with which one each test begins to pass.

    Args:
        skeleton: a folder in which all tasks are left out; in the end all are solved.
        tasks: those of the stage.
        processes: how many run the tests, for pytest-xdist.
        at_once: whether all tasks are solved together, slow tests left out and few examples taken
            of properties, which spares time.

    Raises:
        ToolError: the tests cannot be collected without what is left out.
    """
    marks, profile = "not conformance", "repeatable"
    if at_once:
        marks, profile = f"{marks} and not slow", "brief"
    chosen = ["-m", marks, f"--hypothesis-profile={profile}"]
    first = _run(skeleton, "with nothing solved", processes, chosen)
    waiting = first.that("failed")
    found: dict[str, Sequence[Task]] = {}
    for solved in [list(tasks)] if at_once else [[task] for task in tasks]:
        solve(skeleton, solved)
        if waiting and any(task.functions for task in solved):
            which = "every task" if at_once else f"task {solved[0].number}"
            now = _run(skeleton, f"with {which} solved", processes, chosen, waiting)
            found |= dict.fromkeys(now.that("passed"), solved)
            first.outcomes.update(dict.fromkeys(now.that("skipped"), "skipped"))
            waiting = now.that("failed")
    if waiting:
        _run(skeleton, "once more, as they should not fail", processes, chosen, waiting, shown=True)
    return Needs(first, found, waiting)


def _run(
    skeleton: Skeleton,
    when: str,
    processes: str,
    chosen: Sequence[str],
    only: Sequence[str] | None = None,
    shown: bool = False,
) -> Outcomes:
    """Run the tests, and say how it went.

    Args:
        skeleton: the folder.
        when: what is solved, for messages.
        processes: how many run the tests.
        chosen: pytest's options that say which of them run, and with which examples.
        only: which of them are run; all, if None.
        shown: whether pytest itself says how it goes, too.

    Raises:
        ToolError: pytest cannot run them.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            _command(Path(scratch), processes, chosen, only, "short" if shown else "no"),
            cwd=skeleton.folder,
            env=_environment(skeleton),
            capture_output=not shown,
            text=True,
            check=False,
        )
        files = [Path(scratch, name) for name in ("collected.json", "outcomes.json")]
        noted, outcomes = (
            json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {} for file in files
        )
    broken = [f"  {file}: {why}" for file, why in noted.pop("broken", {}).items()]
    if broken:
        raise ToolError(
            f"{when}, tests cannot be collected, so that a student can run none. Leave out "
            "functions that are not called while these files are imported:\n" + "\n".join(broken)
        )
    if done.returncode not in ENDED:
        raise ToolError(f"{when}, pytest could not run:\n{done.stdout}{done.stderr}")
    run = Outcomes(outcomes=outcomes, **noted)
    counts = ", ".join(f"{len(run.that(what))} {what}" for what in ("passed", "failed", "skipped"))
    print(f"{when}: {counts} ({time.monotonic() - began:.0f} s)", flush=True)
    return run


def _command(
    scratch: Path, processes: str, chosen: Sequence[str], only: Sequence[str] | None, traceback: str
) -> list[str]:
    command = [
        *(sys.executable, "-m", "pytest", "-q", f"--tb={traceback}", *chosen),
        *("-p", "no:cacheprovider"),
        *("-p", "mt.skeleton.recording", f"--record={scratch}"),
    ]
    if only is not None:
        listed = scratch / "only.json"
        listed.write_text(json.dumps(only), encoding="utf-8")
        # Without these files' names all others would be collected, too, which takes its time.
        command += [f"--only={listed}", *sorted({test.partition("::")[0] for test in only})]
    if not importlib.util.find_spec("xdist"):
        return command
    return [*command, "-n", processes, "--dist=worksteal"]


def _environment(skeleton: Skeleton) -> dict[str, str]:
    """Return variables with which the folder is imported instead of the installed package."""
    given = os.environ.get("PYTHONPATH", "")
    path = [str(skeleton.folder / "src"), str(ROOT / "tools"), *([given] if given else [])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
