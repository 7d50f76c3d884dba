"""The tasks of the course, `tasks/2_3.toml`: the functions that a student writes, by stage.

A task is a file, named by its number, and tasks are done in the order of their numbers:

    stage = "tensor"
    title = "Map, zip and reduce over strided views"
    start = ["tests/test_course.py"]
    functions = ["mt_tensor.core.simple.tensor_map"]
    text = "instructions: the idea, a hint, an example"

`start` lists the first tests to work on. `functions` has the qualified names of functions and
methods, `mt_tensor.core.tensor_data.TensorData.permute`, and of rows of the operator table,
`mt_operators.core.table[mul]`. A task without functions is about properties of the code of earlier
tasks, and lists its tests in the format of `task_marks`:

    [tests]
    "test_laws.py" = "all"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from griffe import ModulesCollection, Object

import task_marks
from mt.errors import ToolError
from mt.source.symbols import UnknownSymbolError, find, name_of, node_of
from mt.tables import TableError, check_table, read_table

FOLDER = Path(__file__).with_name("tasks")


class TaskError(ToolError):
    """The task does not exist."""


@dataclass(frozen=True)
class Task:
    """An exercise.

    Attributes:
        name: its number, such as `2_3`.
        stage: the short name of its stage.
        title: its topic, in a few words.
        text: its instructions.
        start: the test files to start with, below the folder of the package.
        functions: the qualified names of the functions to implement.
        tests: for a task without functions, its tests.
        file: the file that describes it.
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
        """The number of the task: 2.3."""
        return self.name.replace("_", ".")

    @property
    def mark(self) -> str:
        """The mark of the tests that depend on it."""
        return f"task{self.name}"


# --- Reading --------------------------------------------------------------------------------------


def read_tasks(folder: Path = FOLDER) -> dict[str, Task]:
    """Read the tasks, and return them by name, in order.

    Raises:
        TableError: something in a file is missing, unknown or of the wrong type.
    """
    tasks = [_task(file) for file in folder.glob("*.toml")]
    return {task.name: task for task in sorted(tasks, key=lambda task: _order(task.name))}


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("_"))


def _task(file: Path) -> Task:
    if not re.fullmatch(r"\d+_\d+", file.stem):
        raise TableError(f"{file.name}: the name must be the number of a task, as in 2_3.toml.")
    table = read_table(file)
    needed = {"stage": str, "title": str, "start": list, "functions": list, "text": str}
    check_table(file.name, table, needed, {"tests": dict})
    try:
        task_marks.check(table.get("tests", {}))
    except ValueError as error:
        raise TableError(f"{file.name}: 'tests': {error}") from error
    if bool(table["functions"]) == ("tests" in table):
        raise TableError(
            f"{file.name}: a task needs either functions or a table [tests] with the tests of "
            "earlier code."
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
    """Return the tasks of a stage, in order, or some of them by name.

    Raises:
        TaskError: the stage has no task of this name.
    """
    found = {task.name: task for task in tasks.values() if task.stage == stage}
    for name in names:
        if name not in found:
            known = ", ".join(found) or "none"
            raise TaskError(f"the stage {stage!r} has no task {name!r}; its tasks are {known}.")
    return [task for task in found.values() if not names or task.name in names]


def awaited(task: Task, tasks: Sequence[Task]) -> Task:
    """Return the task whose solution the tests of a task need: itself, if it has functions.

    Args:
        task: one of the tasks.
        tasks: the tasks of its stage, in order.

    Raises:
        TableError: neither this task nor an earlier one has functions.
    """
    before = [each for each in tasks[: tasks.index(task) + 1] if each.functions]
    if not before:
        raise TableError(f"{task.file.name}: neither this task nor any before it has functions.")
    return before[-1]


# --- Functions of a task --------------------------------------------------------------------------


def places(task: Task, modules: ModulesCollection) -> list[Object]:
    """Return the functions and rows of a task.

    Raises:
        TableError: a name is not defined, or is not a function or row of the task's stage.
    """
    found = []
    for name, line in _named(task):
        where = f"{task.file.name}:{line}"
        try:
            symbol = find(modules, name)
        except UnknownSymbolError as error:
            raise TableError(f"{where}: {error}") from error
        if not isinstance(node_of(symbol), ast.FunctionDef) and not name.endswith("]"):
            raise TableError(
                f"{where}: {name} is not a function; name functions, methods or rows of the table."
            )
        package = symbol.package.name
        if package != f"mt_{task.stage}":
            raise TableError(
                f"{where}: {name} belongs to {package}, not to the stage {task.stage}."
            )
        found.append(symbol)
    return found


def _named(task: Task) -> Iterator[tuple[str, int]]:
    """Yield each name in a task with its line number."""
    lines = task.file.read_text(encoding="utf-8").splitlines()
    for name in task.functions:
        numbers = (number for number, line in enumerate(lines, 1) if f'"{name}"' in line)
        yield name, next(numbers, 1)


def check(tasks: Mapping[str, Task], modules: ModulesCollection) -> None:
    """Raise TableError if a name in the tasks is undefined, or in two tasks."""
    owners: dict[str, Task] = {}
    for task in tasks.values():
        awaited(task, tasks_of(tasks, task.stage))
        for symbol in places(task, modules):
            owner = owners.setdefault(name_of(symbol), task)
            if owner is not task:
                raise TableError(
                    f"{task.file.name}: {name_of(symbol)} is already in {owner.file.name}."
                )
