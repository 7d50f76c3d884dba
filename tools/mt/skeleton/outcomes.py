"""Run the tests of a student's folder, to find the task that each depends on."""

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
"""The exit codes of a complete run."""


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of the tests of one run.

    Attributes:
        collected: the marks of each test, including those that were not run.
        outcomes: `passed`, `failed` or `skipped`, by test.
        skipped_files: files that were skipped as a whole, whose tests are unknown.
    """

    collected: dict[str, list[str]]
    outcomes: dict[str, str]
    skipped_files: list[str]

    def with_outcome(self, outcome: str) -> list[str]:
        """Return the tests with this outcome."""
        return [test for test, result in self.outcomes.items() if result == outcome]


@dataclass(frozen=True)
class Needs:
    """The tasks that each test of a stage needs.

    Attributes:
        first: the run with nothing solved, in which tests that skip themselves later are `skipped`.
        tasks: by test, the task with which it passes; if several were solved at once, all of them.
        never: tests that fail when everything is solved.
    """

    first: Outcomes
    tasks: dict[str, Sequence[Task]]
    never: list[str]


def needs(
    skeleton: Skeleton, tasks: Sequence[Task], processes: str, *, at_once: bool = False
) -> Needs:
    """Solve task after task, and find the one with which each test starts to pass.

    Args:
        skeleton: a folder with all tasks unsolved; in the end all are solved.
        tasks: the tasks of the stage.
        processes: the number of processes, for pytest-xdist.
        at_once: whether to solve all tasks together, skip slow tests, and use few examples in
            property-based tests, which saves time.

    Raises:
        ToolError: the tests cannot be collected with the solutions removed.
    """
    marks, profile = "not conformance", "repeatable"
    if at_once:
        marks, profile = f"{marks} and not slow", "brief"
    chosen = ["-m", marks, f"--hypothesis-profile={profile}"]
    first = _run(skeleton, "with nothing solved", processes, chosen)
    waiting = first.with_outcome("failed")
    found: dict[str, Sequence[Task]] = {}
    for solved in [list(tasks)] if at_once else [[task] for task in tasks]:
        solve(skeleton, solved)
        if waiting and any(task.functions for task in solved):
            solved_text = "every task" if at_once else f"task {solved[0].number}"
            latest = _run(skeleton, f"with {solved_text} solved", processes, chosen, waiting)
            found |= dict.fromkeys(latest.with_outcome("passed"), solved)
            first.outcomes.update(dict.fromkeys(latest.with_outcome("skipped"), "skipped"))
            waiting = latest.with_outcome("failed")
    if waiting:
        _run(skeleton, "again, to show failures", processes, chosen, waiting, shown=True)
    return Needs(first, found, waiting)


def _run(
    skeleton: Skeleton,
    when: str,
    processes: str,
    chosen: Sequence[str],
    only: Sequence[str] | None = None,
    shown: bool = False,
) -> Outcomes:
    """Run the tests, and print the counts of outcomes.

    Args:
        skeleton: the folder.
        when: the solved tasks, for messages.
        processes: the number of processes.
        chosen: pytest's options that select tests and examples.
        only: the tests to run; None for all.
        shown: whether to show pytest's output.

    Raises:
        ToolError: pytest cannot run.
    """
    start = time.monotonic()
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
    broken = [f"  {file}: {reason}" for file, reason in noted.pop("broken", {}).items()]
    if broken:
        raise ToolError(
            f"{when}, tests cannot be collected, so that students cannot run any. Do not remove "
            "functions that are called while these files are imported:\n" + "\n".join(broken)
        )
    if done.returncode not in ENDED:
        raise ToolError(f"{when}, pytest could not run:\n{done.stdout}{done.stderr}")
    run = Outcomes(outcomes=outcomes, **noted)
    counts = ", ".join(
        f"{len(run.with_outcome(what))} {what}" for what in ("passed", "failed", "skipped")
    )
    print(f"{when}: {counts} ({time.monotonic() - start:.0f} s)", flush=True)
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
        # Naming the files avoids collecting all others, which is slow.
        command += [f"--only={listed}", *sorted({test.partition("::")[0] for test in only})]
    if not importlib.util.find_spec("xdist"):
        return command
    return [*command, "-n", processes, "--dist=worksteal"]


def _environment(skeleton: Skeleton) -> dict[str, str]:
    """Return the environment in which the folder is imported instead of the installed package."""
    given = os.environ.get("PYTHONPATH", "")
    path = [str(skeleton.folder / "src"), str(ROOT / "tools"), *([given] if given else [])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
