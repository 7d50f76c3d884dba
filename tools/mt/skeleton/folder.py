"""A student's folder: a copy of a package with functions removed, ready for pytest.

It also contains what the tests need: pytest's settings from this repository, `conftest.py` and its
plugins. `TASKS.md` has the instructions.
"""

from __future__ import annotations

import ast
import shlex
import shutil
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from griffe import Object

from mt.errors import ToolError
from mt.skeleton.blanking import blanked
from mt.skeleton.course import Task, places
from mt.source.symbols import file_of, find, load, name_of, parse
from mt.workspace import ROOT, Stage, Workspace

KIT = "tests/test_conformance.py"
"""The file that runs the conformance kit on a stage, if it has one."""

LEFT_BEHIND = shutil.ignore_patterns(
    "__pycache__", "*.py[cod]", "*.egg-info", "build", "dist", ".*"
)
"""Generated files in the folder of a package."""


@dataclass(frozen=True)
class Skeleton:
    """A student's folder.

    Attributes:
        workspace: the workspace it was made from.
        stage: the package.
        folder: its path.
    """

    workspace: Workspace
    stage: Stage
    folder: Path

    @property
    def source(self) -> Path:
        """The folder of its modules."""
        return self.folder / "src" / self.stage.import_name

    def places(self, task: Task) -> list[Object]:
        """Return the functions and rows of a task in the package.

        Raises:
            TableError: a name is not defined, or is not a function or row of the stage.
        """
        return places(task, load(*self.workspace.sources))

    def file(self, solution: Object) -> Path:
        """Return the file in this folder of a function or row of the package."""
        return self.folder / file_of(solution).relative_to(self.stage.folder)

    def counterpart(self, solution: Object) -> Object:
        """Return a function or row of the package as it is in this folder now.

        Raises:
            ToolError: its file is not valid Python, or does not define it.
        """
        file, module = self.file(solution), solution.module.path
        try:
            found = parse(module, file, file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError) as error:  # ValueError for a wrong encoding
            raise ToolError(f"{file} is not readable as Python: {error}.") from error
        return find(found, name_of(solution).removeprefix(module))

    def blank(self, tasks: Iterable[Task]) -> None:
        """Remove the functions of some tasks.

        Raises:
            ToolError: a function does not exist or cannot be removed.
        """
        by_file: dict[Path, list[tuple[Object, Task]]] = defaultdict(list)
        for task in tasks:
            for symbol in self.places(task):
                by_file[self.file(symbol)].append((symbol, task))
        for file, left_out in by_file.items():
            _write(file, blanked(file.read_text(encoding="utf-8"), left_out))

    def changed(self) -> list[Path]:
        """Return the files that are missing or differ from those of the package."""
        return [
            name
            for name in _files(self.stage.folder)
            if not (self.folder / name).is_file()
            or (self.folder / name).read_bytes() != (self.stage.folder / name).read_bytes()
        ]


def make(
    workspace: Workspace,
    stage: Stage,
    folder: Path,
    tasks: Sequence[Task],
    left_out: Sequence[Task],
) -> Skeleton:
    """Write a student's folder.

    Args:
        workspace: the workspace of the package.
        stage: the package.
        folder: the folder to write, which must be empty or not exist.
        tasks: all tasks of the stage.
        left_out: the tasks to remove the solutions of.

    Raises:
        ToolError: the folder is not empty, or a function cannot be removed.
    """
    _check_free(folder, stage)
    for name in _files(stage.folder):
        _copy(stage.folder / name, folder / name)
    for file in shared():
        _copy(file, folder / file.name)
    skeleton = Skeleton(workspace, stage, folder)
    skeleton.blank(left_out)
    _write(folder / "pytest.ini", settings(tasks))
    if left_out:
        _write(folder / "TASKS.md", instructions(skeleton, left_out))
    return skeleton


def shared() -> list[Path]:
    """Return the files to put next to the tests: `conftest.py`, and the plugins that it names."""
    conftest = ROOT / "conftest.py"
    plugins = parse("conftest", conftest, conftest.read_text(encoding="utf-8"))["pytest_plugins"]
    names = ast.literal_eval(str(plugins.value))
    return [conftest, *(ROOT / "tools" / f"{name}.py" for name in names)]


def existing(workspace: Workspace, stage: Stage, folder: Path) -> Skeleton:
    """Return an existing student's folder.

    Raises:
        ToolError: it does not contain this stage.
    """
    skeleton = Skeleton(workspace, stage, folder)
    if not skeleton.source.is_dir() or not (folder / "TASKS.md").is_file():
        raise ToolError(
            f"{folder} contains no exercises of the stage {stage.short!r}: name a folder that "
            f"`mt skeleton {stage.short} FOLDER` has created."
        )
    return skeleton


def _check_free(folder: Path, stage: Stage) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ToolError(f"{folder} is not empty, and nothing is overwritten: name a new folder.")
    if folder.resolve().is_relative_to(stage.folder.resolve()):
        raise ToolError(f"{folder} is inside the package to copy: name another folder.")


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a package, relative to its folder."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if file.is_file() and not LEFT_BEHIND("", list(name.parts)):
            yield name


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")


# --- Settings and instructions --------------------------------------------------------------------


def settings(tasks: Iterable[Task]) -> str:
    """Return pytest's settings for a student's folder: those of this repository, and the marks."""
    options = dict(_workspace_settings()["pytest"]["ini_options"])
    options |= {"testpaths": ["tests"], "pythonpath": ["."]}
    options["addopts"] = [shlex.join(options["addopts"])]
    options["markers"] = [*options["markers"], *(f"{task.mark}: {task.title}" for task in tasks)]
    lines = [f"{name} = {_ini(value)}" for name, value in options.items()]
    return "\n".join(["[pytest]", *lines, ""])


def _workspace_settings() -> dict[str, Any]:
    """Return the tool settings of this repository."""
    file = ROOT / "pyproject.toml"
    settings: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["tool"]
    return settings


def _ini(value: Any) -> str:
    """Return a setting in the syntax of pytest.ini: a list has one entry per line."""
    if isinstance(value, list):
        return "".join(f"\n    {entry}" for entry in value)
    return str(value).lower()


def instructions(skeleton: Skeleton, left_out: Sequence[Task]) -> str:
    """Return `TASKS.md`: the tasks in order, and how to work on them."""
    stage = skeleton.stage
    first = left_out[0]
    for_tests = shlex.join(_workspace_settings()["hatch"]["envs"]["stage"]["dependencies"])
    *before, _ = skeleton.workspace.upstream(stage)
    packages = "".join(f"REPOSITORY/packages/{each.name} " for each in before)
    dependencies = ", together with the stages it depends on, from the repository" if before else ""
    head = f"""\
# Tasks of {stage.name}

Functions to implement raise `NotImplementedError`. Their docstrings say what they must do, and the
imports at the top of the file are those of the solution. Install this folder instead of the
package{dependencies}, and do the tasks in order:

    pip install {for_tests}
    pip install {packages}-e .
    pytest -m {first.mark}

If all stages are installed already, as in a shell of hatch in the repository, skip this:

    PYTHONPATH=src pytest -m {first.mark}

A task is done when its tests pass. `pytest` alone runs everything and prints the progress of each
task:

    {first.number}  12 of 37, 1 fail      {first.title}

A test that reaches a function that is not implemented is *waiting*, and only counted. Of real
failures, `pytest` shows the first of the first task that has any; `pytest -m {first.mark}` shows
all of one task. Tests that pass before you write anything belong to no task, and must keep passing.

Tests check words of error messages, so the errors of the solution are in comments of each function.
The docstring says when to raise them.

The solution is the package itself, `packages/{stage.name}` in the repository. This command, run
there, inserts the solution of one task into this folder. It saves your version in a copy next to
the file, and prints its path:

    hatch run mt skeleton {stage.short} FOLDER --solve {first.name}
"""
    if (skeleton.folder / KIT).is_file():
        head += f"""
The conformance kit, `pytest {KIT}`, comes last: most of its tests need several
tasks.
"""
    return "\n".join([head, *(_section(skeleton, task) for task in left_out)])


def _section(skeleton: Skeleton, task: Task) -> str:
    parts = [f"## Task {task.number}: {task.title}", task.text]
    if task.functions:
        functions = (
            f"- `{name_of(symbol)}`, {file_of(symbol).relative_to(skeleton.folder).as_posix()}, "
            f"line {symbol.lineno}"
            for symbol in map(skeleton.counterpart, skeleton.places(task))
        )
        parts.append("To implement:\n\n" + "\n".join(functions))
    if task.start:
        parts.append(f"Start with {', '.join(f'`{file}`' for file in task.start)}:")
    parts.append(f"    pytest -m {task.mark}")
    return "\n\n".join(parts) + "\n"
