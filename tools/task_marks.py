"""A pytest plugin: the marks of the course's tasks, from a file beside the tests.

`pytest -m task2_3` runs the tests that wait for task 2.3 of the course. Which ones these are may
depend on parameters, so that no decorator can say it. A file `tasks.toml` beside the tests does,
which `mt skeleton STAGE --mark` writes:

    [task2_3]
    "test_course.py" = "all"

    [task2_3."test_strides.py"]
    test_broadcast_index = "all"
    test_views = ["simple-3", "*-float64"]

That is every test of a file, or of a function, or those with some parameters, where a star stands
for any text, and `[*]` for a star. This module stands alone: it goes with the tests into a
student's folder, and there makes sure that the student's code is what is tested.
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
"""What the file beside the tests is called."""

HERE = Path(__file__).parent

TASKS = HERE / "mt" / "skeleton" / "tasks"
"""Where the tasks are; a student's folder has none, and lists their marks in its settings."""

Parameters = str | Sequence[str]
"""Which tests of a function are meant: `"all"`, or those with some parameters."""

Patterns = str | Mapping[str, Parameters]
"""Which tests of a file are meant: `"all"`, or some of its functions."""

Marks = Mapping[str, Mapping[str, Patterns]]
"""For each mark, for each file, which of its tests have it."""

ALL = "all"


def read(file: Path) -> Marks:
    """Read the marks of the tests beside a file; there are none if there is no such file.

    Raises:
        pytest.UsageError: the file is not what it should be.
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
    """Raise ValueError unless something read from TOML says for files which tests are meant."""
    for file, patterns in _items(files):
        for function, parameters in [] if patterns == ALL else _items(patterns):
            texts = isinstance(parameters, list) and all(isinstance(p, str) for p in parameters)
            if parameters != ALL and not texts:
                raise ValueError(
                    f'{file}: {function} must be "all" or a list of parameters; {parameters!r} was '
                    "given."
                )


def _items(table: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(table, dict):
        raise ValueError(f'a table or "all" must say which tests are meant; {table!r} was given.')
    return table.items()


def meant(patterns: Patterns, test: str) -> bool:
    """Whether patterns mean a test of their file: `test_views[simple-3]`."""
    if isinstance(patterns, str):
        return True
    function, _, inside = test.partition("[")
    wanted = patterns.get(function, ())
    if isinstance(wanted, str):
        return True
    return any(matches(pattern, inside.removesuffix("]")) for pattern in wanted)


def matches(pattern: str, parameters: str) -> bool:
    """Whether a pattern means the parameters of a test."""
    return _compiled(pattern).fullmatch(parameters) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    stars = (".*".join(map(re.escape, part.split("*"))) for part in pattern.split("[*]"))
    return re.compile(r"\*".join(stars), re.DOTALL)


def literal(parameters: str) -> str:
    """Return the pattern that means some parameters and nothing else."""
    return parameters.replace("*", "[*]")


def marks_of(marks: Marks, name: str) -> list[str]:
    """Return the marks of a test, `test_strides.py::test_views[simple-3]`: one at most, if well."""
    file, _, test = name.partition("::")
    return [mark for mark, files in marks.items() if file in files and meant(files[file], test)]


# --- What pytest calls ----------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and make sure that packages in `src` are what is imported."""
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


@pytest.hookimpl(tryfirst=True)  # before anybody chooses tests by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give every test the mark of the task it waits for."""
    known = {line.partition(":")[0].strip() for line in config.getini("markers")}
    read_once = cache(read)
    for item in items:
        file = item.path.with_name(NAME)
        marks = read_once(file)
        for mark in marks:
            if mark not in known:
                raise pytest.UsageError(f"{file}: there is no task of the mark {mark!r}.")
        name = f"{item.path.name}::{item.nodeid.partition('::')[2]}"
        found = marks_of(marks, name)
        if len(found) > 1:
            raise pytest.UsageError(
                f"{file}: {name} waits for one task, and has the marks {' and '.join(found)}."
            )
        for mark in found:
            item.add_marker(mark)
