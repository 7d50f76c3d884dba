"""The tasks of the course, `tasks/2_3.toml`: what a student writes, stage by stage.

A task is a file, named by its number, and the tasks are done in the order of their numbers:

    stage = "tensor"
    title = "Map, zip and reduce over strided views"
    start = ["tests/test_course.py"]
    functions = ["mt_tensor.core.simple.tensor_map"]
    text = "what to write: the idea, a hint, an example"

`start` is where a student finds the first tests to make pass. The names are those of functions and
methods, `mt_tensor.core.tensor_data.TensorData.permute`, and of rows of the operator table,
`mt_operators.core.table[mul]`. A task without functions is about what must hold of the tasks before
it. It says which tests it is about, in the form of `task_marks`:

    [tests]
    "test_laws.py" = "all"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import task_marks
from mt.errors import ToolError
from mt.source.symbols import Symbol, Symbols, UnknownSymbolError
from mt.tables import TableError, check_table, read_table

FOLDER = Path(__file__).with_name("tasks")


class TaskError(ToolError):
    """There is no such task."""


@dataclass(frozen=True)
class Task:
    """Something to write.

    Attributes:
        name: its number, as in `2_3`.
        stage: the short name of the stage in which it is done.
        title: what it is about, in a few words.
        text: what to write, in sentences.
        start: the files of tests to begin with, below the folder of the package.
        functions: the qualified names of what is left out.
        tests: of a task without functions, the tests that it is about.
        file: where all of this stands.
    """

    name: str
    stage: str
    title: str
    text: str = field(repr=False)
    start: tuple[str, ...]
    functions: tuple[str, ...]
    tests: Mapping[str, task_marks.Patterns]
    file: Path

    @property
    def number(self) -> str:
        """The name in the spelling of the course: 2.3."""
        return self.name.replace("_", ".")

    @property
    def mark(self) -> str:
        """The mark of the tests that wait for it."""
        return f"task{self.name}"


# --- Reading --------------------------------------------------------------------------------------


def read_tasks(folder: Path = FOLDER) -> dict[str, Task]:
    """Read the tasks, and return them by name, in their order.

    Raises:
        TableError: something in a file is missing, unknown or of the wrong kind; says where.
    """
    tasks = [_task(file) for file in folder.glob("*.toml")]
    return {task.name: task for task in sorted(tasks, key=lambda task: _order(task.name))}


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("_"))


def _task(file: Path) -> Task:
    if not re.fullmatch(r"\d+_\d+", file.stem):
        raise TableError(f"{file.name}: a task is named by its number, as in 2_3.toml.")
    table = read_table(file)
    needed = {"stage": str, "title": str, "start": list, "functions": list, "text": str}
    check_table(file.name, table, needed, {"tests": dict})
    try:
        task_marks.check(table.get("tests", {}))
    except ValueError as error:
        raise TableError(f"{file.name}: 'tests': {error}") from error
    if bool(table["functions"]) == ("tests" in table):
        raise TableError(
            f"{file.name}: a task has functions, which are left out, or else a table [tests]: "
            "those that are about what was written before."
        )
    return Task(
        name=file.stem,
        stage=table["stage"],
        title=table["title"],
        text=table["text"].strip(),
        start=tuple(table["start"]),
        functions=tuple(table["functions"]),
        tests=table.get("tests", {}),
        file=file,
    )


def tasks_of(tasks: Mapping[str, Task], stage: str, names: Sequence[str] = ()) -> list[Task]:
    """Return the tasks of a stage in their order, or those of some names.

    Raises:
        TaskError: the stage has none of these names.
    """
    found = {task.name: task for task in tasks.values() if task.stage == stage}
    for name in names:
        if name not in found:
            known = ", ".join(found) or "none"
            raise TaskError(f"the stage {stage!r} has no task {name!r}; its tasks are {known}.")
    return [task for task in found.values() if not names or task.name in names]


def awaited(task: Task, tasks: Sequence[Task]) -> Task:
    """Return the task with which the tests of a task pass: itself, if it has functions.

    Args:
        task: one of the tasks.
        tasks: those of its stage, in their order.

    Raises:
        TableError: there is nothing to write up to this task.
    """
    before = [each for each in tasks[: tasks.index(task) + 1] if each.functions]
    if not before:
        raise TableError(f"{task.file.name}: it has no functions, nor has any task before it.")
    return before[-1]


# --- What is left out -----------------------------------------------------------------------------


def places(task: Task, symbols: Symbols) -> list[Symbol]:
    """Return what a task leaves out.

    Raises:
        TableError: a name leads nowhere, or to what is no function or row of the task's stage.
    """
    found = []
    for name, line in _named(task):
        where = f"{task.file.name}:{line}"
        try:
            symbol = symbols.find(name)
        except UnknownSymbolError as error:
            raise TableError(f"{where}: {error}") from error
        if not isinstance(symbol.node, ast.FunctionDef) and not name.endswith("]"):
            raise TableError(
                f"{where}: {name} is a {symbol.kind}; name functions, methods or rows of the table."
            )
        package = symbol.module.name.partition(".")[0]
        if package != f"mt_{task.stage}":
            raise TableError(
                f"{where}: {name} belongs to {package}, not to the stage {task.stage}."
            )
        found.append(symbol)
    return found


def _named(task: Task) -> Iterator[tuple[str, int]]:
    """Yield each name in a task with the line where it stands."""
    lines = task.file.read_text(encoding="utf-8").splitlines()
    for name in task.functions:
        numbers = (number for number, line in enumerate(lines, 1) if f'"{name}"' in line)
        yield name, next(numbers, 1)


def check(tasks: Mapping[str, Task], symbols: Symbols) -> None:
    """Raise TableError if something in the tasks leads nowhere, or is left out twice."""
    owners: dict[str, Task] = {}
    for task in tasks.values():
        awaited(task, tasks_of(tasks, task.stage))
        for symbol in places(task, symbols):
            owner = owners.setdefault(symbol.name, task)
            if owner is not task:
                raise TableError(
                    f"{task.file.name}: {symbol.name} is left out by {owner.file.name}, too."
                )
