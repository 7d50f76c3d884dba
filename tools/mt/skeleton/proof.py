"""Find, write and check the marks that say which task each test depends on.

`mark` and `prove` run the tests of a stage in a student's folder: first with all solutions removed,
and then, as task after task is solved, those that still fail. At the end each test has passed once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import task_marks
from mt.errors import ToolError
from mt.skeleton.course import Task, awaited
from mt.skeleton.folder import make
from mt.skeleton.outcomes import Needs, needs
from mt.skeleton.patterns import Table, shortened, written
from mt.workspace import Stage, Workspace

SHOWN = 30
"""The number of differences to print; a single wrong task can affect hundreds of tests."""

TESTS = "tests/"
"""The common prefix of the names of all tests, which patterns omit."""


def mark(workspace: Workspace, stage: Stage, tasks: Sequence[Task], processes: str) -> int:
    """Write the task that each test of a stage depends on, and return the exit status.

    Tests that are not run, such as the conformance kit, keep their marks. A test that skips itself
    and has no mark, such as one that needs a GPU, may get the mark of its function.

    Raises:
        ToolError: a test fails with everything solved, or the tests cannot run.
    """
    file = stage.folder / TESTS / task_marks.NAME
    known = {task.mark for task in tasks}
    before = {each: files for each, files in task_marks.read(file).items() if each in known}
    with tempfile.TemporaryDirectory() as scratch:
        skeleton = make(workspace, stage, Path(scratch, stage.name), tasks, tasks)
        (skeleton.folder / TESTS / task_marks.NAME).unlink(missing_ok=True)
        found = needs(skeleton, tasks, processes)
    if found.never:
        raise ToolError("\n".join(["no marks were written.", *_failures(found)]))
    names = [test.removeprefix(TESTS) for test in found.first.collected]
    marks = dict(_marks(found, tasks, before))
    skipped = {
        test.removeprefix(TESTS) for test in found.first.with_outcome("skipped")
    } - marks.keys()
    patterns = shortened(marks, [name for name in names if name not in skipped])
    _keep(patterns, before, found.first.skipped_files)
    file.write_text(written(patterns, stage.short), encoding="utf-8", newline="\n")
    print(f"{file} marks {len(marks)} of {len(names)} tests.")
    return 0


def _marks(
    found: Needs, tasks: Sequence[Task], before: task_marks.Marks
) -> Iterator[tuple[str, str]]:
    """Yield tests with their marks: the result of the runs, or the old mark if they did not run."""
    for test in found.first.collected:
        name = test.removeprefix(TESTS)
        if test in found.tasks:
            yield name, _about(name, found.tasks[test][0], tasks).mark
        elif found.first.outcomes.get(test) != "passed":
            for each in task_marks.marks_of(before, name)[:1]:
                yield name, each


def _about(name: str, needed: Task, tasks: Sequence[Task]) -> Task:
    """Return the task of a test: the one it needs, or a later one without functions."""
    for task in tasks:
        is_about = not task.functions and task_marks.marks_of({task.mark: task.tests}, name)
        if is_about and awaited(task, tasks) is needed:
            return task
    return needed


def _keep(patterns: Table, before: task_marks.Marks, skipped_files: Sequence[str]) -> None:
    """Keep the patterns of files that were skipped as a whole."""
    names = {file.removeprefix(TESTS) for file in skipped_files}
    for each, files in before.items():
        kept = {file: what for file, what in files.items() if file in names}
        if kept:
            patterns[each] = dict(sorted({**patterns.get(each, {}), **kept}.items()))


def prove(
    workspace: Workspace,
    stage: Stage,
    tasks: Sequence[Task],
    processes: str,
    *,
    at_once: bool = False,
) -> int:
    """Check that exactly the marked tests depend on each task, and return the exit status.

    With all solutions removed, the marked tests fail and the others pass; after each task that is
    solved, the tests of its mark pass; and with all solved, the code equals that of the package.
    `at_once` solves all tasks together, without checking which test depends on which. It skips
    tests marked `slow`, and runs property-based tests with few examples.

    Raises:
        ToolError: the tests cannot run.
    """
    with tempfile.TemporaryDirectory() as scratch:
        skeleton = make(workspace, stage, Path(scratch, stage.name), tasks, tasks)
        found = needs(skeleton, tasks, processes, at_once=at_once)
        changed = skeleton.changed()
    marks = task_marks.read(stage.folder / TESTS / task_marks.NAME)
    wrong = [*_wrong_marks(found, tasks), *_of_nothing(found, marks)]
    problems = [
        *_failures(found),
        *(f"{file}: differs from the package when everything is solved." for file in changed),
        *wrong,
    ]
    for problem in problems[:SHOWN]:
        print(problem)
    if len(problems) > SHOWN:
        print(f"... and {len(problems) - SHOWN} more.")
    if wrong:
        print(f"To fix the marks: hatch run mt skeleton {stage.short} --mark")
    if not problems:
        print(f"{stage.name}: {len(found.tasks)} tests depend on {len(tasks)} tasks, as marked.")
    return int(bool(problems))


def _failures(found: Needs) -> Iterator[str]:
    for test in found.never:
        yield f"{test}: fails with everything solved."


def _wrong_marks(found: Needs, tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a message for each test that depends on another task than its mark says."""
    by_mark = {task.mark: task for task in tasks}
    for test, outcome in found.first.outcomes.items():
        marked = [by_mark[each] for each in found.first.collected[test] if each in by_mark]
        expected = [awaited(task, tasks) for task in marked]
        needed = found.tasks.get(test, [])
        fits = len(expected) == 1 and expected[0] in needed if needed else not expected
        if not fits and outcome != "skipped" and test not in found.never:
            yield (
                f"{test}: depends on {_listed(needed, ' or ')}, but is marked with "
                f"{_listed(marked, ' and ')}."
            )


def _listed(tasks: Sequence[Task], joint: str) -> str:
    return joint.join(f"task {task.number}" for task in tasks) or "no task"


def _of_nothing(found: Needs, marks: task_marks.Marks) -> Iterator[str]:
    """Yield a message for each file or function that has marks and no tests.

    The tests of a skipped file are unknown. Parameters may match nothing, because they depend on
    the installed backends and libraries.
    """
    names = [test.removeprefix(TESTS).partition("[")[0] for test in found.first.collected]
    known = {*names, *(name.partition("::")[0] for name in names)}
    skipped = {file.removeprefix(TESTS) for file in found.first.skipped_files}
    for each, files in marks.items():
        for file, patterns in files.items():
            functions = [] if isinstance(patterns, str) else patterns
            selected = [f"{file}::{function}" for function in functions] or [file]
            for name in selected if file not in skipped else ():
                if name not in known:
                    yield f"{TESTS}{task_marks.NAME}: [{each}] {name}: the test does not exist."
