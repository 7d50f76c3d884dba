"""A pytest plugin that reads the marks of the course's tasks from a file next to the tests.

`pytest -m task2_3` runs the tests that depend on task 2.3 of the course. The task of a test may
depend on its parameters, so decorators are not enough. `mt skeleton STAGE --mark` writes a file
`tasks.toml`:

    [task2_3]
    "test_course.py" = "all"

    [task2_3."test_strides.py"]
    test_broadcast_index = "all"
    test_views = ["simple-3", "*-float64"]

An entry marks every test of a file, of a function, or with some parameters, where a star matches
any text, and `[*]` a star. This module imports no other module of the tools, because it is copied
into a student's folder with the tests, where it also checks that the student's code is imported.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

NAME = "tasks.toml"
"""The name of the file next to the tests."""

HERE = Path(__file__).parent

TASKS = HERE / "mt" / "skeleton" / "tasks"
"""The folder of the tasks; a student's folder does not have it, but lists the marks in settings."""

Parameters = str | Sequence[str]
"""The marked tests of a function: `"all"`, or patterns of parameters."""

Patterns = str | Mapping[str, Parameters]
"""The marked tests of a file: `"all"`, or those of some functions."""

Marks = Mapping[str, Mapping[str, Patterns]]
"""The marked tests, by mark and file."""

ALL = "all"


def read(file: Path) -> Marks:
    """Read the marks from a file; there are none if it does not exist.

    Raises:
        pytest.UsageError: the file is invalid.
    """
    if not file.is_file():
        return {}
    try:
        marks: Marks = tomllib.loads(file.read_text(encoding="utf-8"))
        for files in marks.values():
            check(files)
    except ValueError as error:
        raise pytest.UsageError(f"{file}: {error}") from error
    return marks


def check(files: Any) -> None:
    """Raise ValueError unless a table from TOML has valid patterns for each file."""
    for file, patterns in _items(files):
        for function, parameters in [] if patterns == ALL else _items(patterns):
            texts = isinstance(parameters, list) and all(isinstance(p, str) for p in parameters)
            if parameters != ALL and not texts:
                raise ValueError(
                    f'{file}: {function} must be "all" or a list of parameters, not {parameters!r}.'
                )


def _items(table: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(table, dict):
        raise ValueError(f'patterns must be a table or "all", not {table!r}.')
    return table.items()


def meant(patterns: Patterns, test: str) -> bool:
    """Return whether patterns match a test of their file: `test_views[simple-3]`."""
    if isinstance(patterns, str):
        return True
    function, _, inside = test.partition("[")
    wanted = patterns.get(function, ())
    if isinstance(wanted, str):
        return True
    return any(matches(pattern, inside.removesuffix("]")) for pattern in wanted)


def matches(pattern: str, parameters: str) -> bool:
    """Return whether a pattern matches the parameters of a test."""
    return _compiled(pattern).fullmatch(parameters) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    stars = (".*".join(map(re.escape, part.split("*"))) for part in pattern.split("[*]"))
    return re.compile(r"\*".join(stars), re.DOTALL)


def literal(parameters: str) -> str:
    """Return the pattern that matches exactly these parameters."""
    return parameters.replace("*", "[*]")


def marks_of(marks: Marks, name: str) -> list[str]:
    """Return the marks of a test, `test_strides.py::test_views[simple-3]`: normally at most one."""
    file, _, test = name.partition("::")
    return [mark for mark, files in marks.items() if file in files and meant(files[file], test)]


# --- Hooks of pytest ------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and check that packages are imported from `src`."""
    for file in sorted(TASKS.glob("*.toml")):
        title = tomllib.loads(file.read_text(encoding="utf-8")).get("title", "")
        config.addinivalue_line("markers", f"task{file.stem}: {title}")
    for file in (HERE / "src").glob("*/__init__.py"):
        name = file.parent.name
        found = find_spec(name)
        if found is None or found.origin is None or Path(found.origin).resolve() != file.resolve():
            raise pytest.UsageError(
                f"{name} is {'not installed' if found is None else f'imported from {found.origin}'}"
                f", not from {file.parent}: run `pip install --no-deps -e {HERE}`, or put "
                f"{HERE / 'src'} in front of PYTHONPATH."
            )


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test with the task it depends on."""
    known = {line.partition(":")[0].strip() for line in config.getini("markers")}
    read_once = cache(read)
    for item in items:
        file = item.path.with_name(NAME)
        marks = read_once(file)
        for mark in marks:
            if mark not in known:
                raise pytest.UsageError(f"{file}: there is no task for the mark {mark!r}.")
        name = f"{item.path.name}::{item.nodeid.partition('::')[2]}"
        found = marks_of(marks, name)
        if len(found) > 1:
            raise pytest.UsageError(
                f"{file}: {name} has the marks {' and '.join(found)}, but may have only one."
            )
        for mark in found:
            item.add_marker(mark)
