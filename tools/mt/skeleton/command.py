"""`mt skeleton STAGE OUT`: a stage as exercises."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from mt.errors import reported
from mt.skeleton.course import Task, TaskError, check, read_tasks, tasks_of
from mt.skeleton.folder import Skeleton, existing, make
from mt.skeleton.proof import mark, prove
from mt.skeleton.solving import solve
from mt.source.symbols import load
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Write exercises, insert solutions, or write or check the marks of tests."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.task or options.solve) and options.out is None:
        parser.error("--task and --solve need a folder after the stage.")
    if (options.mark or options.prove) and options.out is not None:
        parser.error("--mark and --prove create their own folder: do not name one.")
    with reported("skeleton"):
        workspace = Workspace.read()
        stage = workspace[options.stage]
        every = read_tasks()
        check(every, load(*workspace.sources))
        tasks = tasks_of(every, stage.short)
        if options.mark:
            return mark(workspace, stage, tasks, options.processes)
        if options.prove:
            return prove(workspace, stage, tasks, options.processes, at_once=options.at_once)
        if not tasks:
            raise TaskError(f"the stage {stage.short!r} has no tasks.")
        if options.solve:
            _solve(
                existing(workspace, stage, options.out),
                tasks_of(every, stage.short, options.solve),
            )
        elif options.out is not None:
            make(workspace, stage, options.out, tasks, tasks_of(every, stage.short, options.task))
            print(f"See {options.out / 'TASKS.md'} for instructions.")
        else:
            for task in tasks:
                print(f"{task.name}  {task.title}")
    return 0


def _solve(skeleton: Skeleton, tasks: Sequence[Task]) -> None:
    """Insert solutions into a folder, and print a report."""
    kept = solve(skeleton, tasks)
    for task in tasks:
        done = f"is solved in {skeleton.folder}" if task.functions else "has no functions"
        print(f"Task {task.number} {done}.")
    for file, copy in kept.items():
        back = shlex.join(["cp", str(copy), str(file)])
        print(f"Your version is saved in a copy; to restore it:\n    {back}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mt skeleton",
        description="Make exercises of a stage: its tests, and its code with parts left out.",
    )
    parser.add_argument("stage", help="a stage, such as `tensor`")
    parser.add_argument(
        "out", nargs="?", type=Path, help="the folder to write; without it, list the tasks"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--task",
        action="append",
        type=_task_name,
        default=[],
        help="leave out only this task, such as 2_3; may be repeated",
    )
    what.add_argument(
        "--solve",
        action="append",
        type=_task_name,
        default=[],
        metavar="TASK",
        help="put the solution of a task into an existing folder, and keep a copy of the code "
        "there; may be repeated",
    )
    what.add_argument(
        "--mark", action="store_true", help="write the marks of tests, tests/tasks.toml"
    )
    what.add_argument(
        "--prove", action="store_true", help="check that exactly the marked tests depend on tasks"
    )
    parser.add_argument(
        "--at-once",
        action="store_true",
        help="with --prove: solve all tasks together, without slow tests",
    )
    parser.add_argument(
        "-n", "--processes", default="auto", help="the number of test processes (auto)", metavar="N"
    )
    return parser


def _task_name(text: str) -> str:
    """Return the name of a task, which may be given as its number, 2.3, or as its mark."""
    return text.removeprefix("task").replace(".", "_")
