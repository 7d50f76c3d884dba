"""A student's folder: a copy of a package without what is to be written, ready for pytest.

What the tests need besides is there too: the settings of this repository, as `pytest.ini`, its
`conftest.py` and the plugins of it. `TASKS.md` tells what to do.
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

from mt.errors import ToolError
from mt.skeleton.blanking import blanked
from mt.skeleton.course import Task, places
from mt.source.modules import Library, Module, defined
from mt.source.symbols import Symbol, Symbols
from mt.workspace import ROOT, Stage, Workspace

KIT = "tests/test_conformance.py"
"""From where a stage runs the conformance kit, if it has one."""

LEFT_BEHIND = shutil.ignore_patterns(
    "__pycache__", "*.py[cod]", "*.egg-info", "build", "dist", ".*"
)
"""What programs put into the folder of a package, and is no part of it."""


@dataclass(frozen=True)
class Skeleton:
    """A student's folder.

    Attributes:
        workspace: what it was made from.
        stage: the package.
        folder: where it lies.
    """

    workspace: Workspace
    stage: Stage
    folder: Path

    @property
    def source(self) -> Path:
        """The folder of its modules."""
        return self.folder / "src" / self.stage.import_name

    def symbols(self) -> Symbols:
        """Return what finds names in it, and in the stages before, as they are now."""
        folders = self.workspace.library().folders | {self.stage.import_name: self.source}
        return Symbols(Library(folders))

    def blank(self, tasks: Iterable[Task]) -> None:
        """Leave out what some tasks are about, of which nothing is left out yet.

        Raises:
            ToolError: a task names what is not there, or what cannot be left out.
        """
        symbols = self.symbols()
        by_module: dict[Module, list[tuple[Symbol, Task]]] = defaultdict(list)
        for task in tasks:
            for symbol in places(task, symbols):
                by_module[symbol.module].append((symbol, task))
        for module, left_out in by_module.items():
            _write(module.file, blanked(module.text, left_out))

    def changed(self) -> list[Path]:
        """Return the files that are not, byte for byte, those of the package, or are missing."""
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
        workspace: where the package is from.
        stage: the package.
        folder: where to write, which must be empty or not there yet.
        tasks: all tasks of the stage.
        left_out: those that are to be done.

    Raises:
        ToolError: there is something in the folder, or a task cannot be left out.
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
    """Return what goes beside the tests: `conftest.py`, and the plugins that it names."""
    conftest = ROOT / "conftest.py"
    for statement in ast.parse(conftest.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and defined(statement) == ["pytest_plugins"]:
            names = ast.literal_eval(statement.value)
            return [conftest, *(ROOT / "tools" / f"{name}.py" for name in names)]
    return [conftest]


def existing(workspace: Workspace, stage: Stage, folder: Path) -> Skeleton:
    """Return the student's folder that somebody has.

    Raises:
        ToolError: it is none of this stage.
    """
    skeleton = Skeleton(workspace, stage, folder)
    if not skeleton.source.is_dir() or not (folder / "TASKS.md").is_file():
        raise ToolError(
            f"{folder} holds no exercises of the stage {stage.short!r}: name a folder that "
            f"`mt skeleton {stage.short} FOLDER` has made."
        )
    return skeleton


def _check_free(folder: Path, stage: Stage) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ToolError(f"{folder} is not empty, and nothing is overwritten: name a new folder.")
    if folder.resolve().is_relative_to(stage.folder.resolve()):
        raise ToolError(f"{folder} lies in the package that is copied: name a folder elsewhere.")


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a package, below its folder."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if file.is_file() and not LEFT_BEHIND("", list(name.parts)):
            yield name


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")


# --- What tells pytest and the student what to do -------------------------------------------------


def settings(tasks: Iterable[Task]) -> str:
    """Return pytest's settings for a student's folder: those of this repository, and the marks."""
    options = dict(_workspace_settings()["pytest"]["ini_options"])
    options |= {"testpaths": ["tests"], "pythonpath": ["."]}
    options["addopts"] = [shlex.join(options["addopts"])]
    options["markers"] = [*options["markers"], *(f"{task.mark}: {task.title}" for task in tasks)]
    lines = [f"{name} = {_ini(value)}" for name, value in options.items()]
    return "\n".join(["[pytest]", *lines, ""])


def _workspace_settings() -> dict[str, Any]:
    """Return what the tools of this repository are told."""
    file = ROOT / "pyproject.toml"
    settings: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["tool"]
    return settings


def _ini(value: Any) -> str:
    """Return a setting as pytest.ini has it: a list with one entry a line."""
    if isinstance(value, list):
        return "".join(f"\n    {entry}" for entry in value)
    return str(value).lower()


def instructions(skeleton: Skeleton, left_out: Sequence[Task]) -> str:
    """Return `TASKS.md`: the tasks in their order, and how to work on them."""
    stage = skeleton.stage
    first = left_out[0]
    for_tests = shlex.join(_workspace_settings()["hatch"]["envs"]["stage"]["dependencies"])
    *before, _ = skeleton.workspace.upstream(stage)
    packages = "".join(f"REPOSITORY/packages/{each.name} " for each in before)
    beside = ", beside the stages it builds on, from the repository" if before else ""
    head = f"""\
# Tasks of {stage.name}

What is to be written raises `NotImplementedError`; its docstring says what it must do, and what is
imported at the top of its file is what the solution uses. Install this folder instead of the
package{beside}, and do the tasks in their order:

    pip install {for_tests}
    pip install {packages}-e .
    pytest -m {first.mark}

Where all stages are installed already, as in a shell of hatch in the repository, go without:

    PYTHONPATH=src pytest -m {first.mark}

A task is done when its tests pass. `pytest` alone runs everything and says how far each task is:

    {first.number}  12 of 37, 1 fail      {first.title}

A test that stops at something that is still to be written *waits*, and nothing more is said of it
than what it waits for. Of mistakes it shows the first of the first task that has any, and
`pytest -m {first.mark}` all of one task. Tests that pass before anything is written have no task,
and must go on passing.

Tests ask for words of error messages, so what is to be written has the errors of the solution as
comments. The docstring says when each is due.

The solution is the package itself, `packages/{stage.name}` in the repository. There this command
puts that of one task into this folder. What you have written in its place is kept in a copy beside
the file, and the command says where:

    hatch run mt skeleton {stage.short} FOLDER --solve {first.name}
"""
    if (skeleton.folder / KIT).is_file():
        head += f"""
The conformance kit, `pytest {KIT}`, is the examination at the end, for most of
its tests need several tasks.
"""
    symbols = skeleton.symbols()
    return "\n".join([head, *(_section(skeleton, task, symbols) for task in left_out)])


def _section(skeleton: Skeleton, task: Task, symbols: Symbols) -> str:
    parts = [f"## Task {task.number}: {task.title}", task.text]
    if task.functions:
        wanted = (
            f"- `{symbol.name}`, {symbol.module.file.relative_to(skeleton.folder).as_posix()}, "
            f"line {symbol.lines[0]}"
            for symbol in places(task, symbols)
        )
        parts.append("To write:\n\n" + "\n".join(wanted))
    if task.start:
        parts.append(f"Begin with {', '.join(f'`{file}`' for file in task.start)}:")
    parts.append(f"    pytest -m {task.mark}")
    return "\n\n".join(parts) + "\n"
