"""Putting solutions into a student's folder, in which nothing that somebody wrote is lost.

A solution takes the place of one function or row, and all else in its file stays. Where anything
but the reminder of a task stands in that place, the file is first copied, under a new name.
"""

from __future__ import annotations

import ast
import itertools
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mt.errors import ToolError
from mt.skeleton.blanking import hole, restored, whole
from mt.skeleton.course import Task, places
from mt.skeleton.folder import Skeleton
from mt.source.modules import Module, definitions
from mt.source.symbols import Symbol, Symbols


@dataclass
class _Merge:
    """A file of the student with solutions to put into it.

    Attributes:
        module: the file.
        pairs: what stands there, and what takes its place.
        loses: whether something that is replaced was written by the student.
    """

    module: Module
    pairs: list[tuple[Symbol, Symbol]] = field(default_factory=list)
    loses: bool = False

    def add(self, symbol: Symbol, solution: Symbol, task: Task) -> None:
        """Let a solution take the place of a symbol."""
        self.pairs.append((symbol, solution))
        self.loses |= whole(symbol) not in (hole(solution, task), whole(solution))

    def text(self) -> str:
        """Return the file with the solutions.

        Raises:
            ToolError: a solution uses what the file does not have any more.
        """
        text = restored(self.module.text, self.pairs)
        module = Module(self.module.name, self.module.file, text, ast.parse(text))
        for _, solution in self.pairs:
            known = solution.module.names.keys()
            used = {node.id for node in ast.walk(solution.node) if isinstance(node, ast.Name)}
            missing = sorted((used & known) - module.names.keys())
            if missing:
                raise ToolError(
                    f"{module.file} has no {missing[0]!r}, which the solution of {solution.name} "
                    "uses: import or define it as the package does."
                )
        return text


def solve(skeleton: Skeleton, tasks: Sequence[Task]) -> dict[Path, Path]:
    """Put back what some tasks are about, whatever stands there by now.

    Returns:
        by file in which a student's work was replaced, the copy of it as it was.

    Raises:
        ToolError: a solution cannot be put where it belongs; nothing was changed then.
    """
    try:
        merges = _merges(skeleton, tasks)
        texts = [(merge, merge.text()) for merge in merges]
    except ToolError as error:
        raise ToolError(f"{error} Nothing was changed.") from error
    files = [merge.module.file for merge in merges if merge.loses]
    kept = {file: _written_beside(file, "bak", file.read_bytes()) for file in files}
    for merge, text in texts:
        _overwrite(merge.module.file, text)
    return kept


def _merges(skeleton: Skeleton, tasks: Iterable[Task]) -> list[_Merge]:
    """Return the files in which something is to be put, with what."""
    solutions = Symbols(skeleton.workspace.library())
    symbols = skeleton.symbols()
    merges: dict[str, _Merge] = {}
    for task in tasks:
        for solution in places(task, solutions):
            symbol = symbols.find(solution.name)
            _check_replaceable(symbol, solution)
            merge = merges.setdefault(symbol.module.name, _Merge(symbol.module))
            merge.add(symbol, solution, task)
    return list(merges.values())


def _check_replaceable(symbol: Symbol, solution: Symbol) -> None:
    """Raise unless a symbol is where the solution has it, and is of its kind, once."""
    place = f"{symbol.module.file}, line {symbol.lines[0]}"
    if symbol.name != solution.name:
        raise ToolError(
            f"{solution.name} is now {symbol.name} ({place}), so that the solution has no place: "
            f"define it in {solution.module.name} again."
        )
    if type(symbol.node) is not type(solution.node):
        raise ToolError(
            f"{solution.name} is no function any more ({place}): define it by `def` again."
        )
    if _count(symbol) != _count(solution):
        raise ToolError(
            f"{solution.name} is defined {_count(symbol)} times in {symbol.module.file}: keep "
            "the one that the solution shall replace."
        )


def _count(symbol: Symbol) -> int:
    """Return how often the module of a symbol defines its name."""
    return sum(name == symbol.name for name, _ in definitions(symbol.module))


def _overwrite(file: Path, text: str) -> None:
    """Replace the text of a file at once, with line endings as it has them."""
    newline = "\r\n" if b"\r\n" in file.read_bytes() else "\n"
    new = _written_beside(file, "new", text.replace("\n", newline).encode())
    shutil.copymode(file, new)
    new.replace(file)


def _written_beside(file: Path, suffix: str, content: bytes) -> Path:
    """Write a file that is new, beside another, and return its path."""
    for number in itertools.count(1):
        path = file.with_name(f"{file.name}.{suffix}{number}")
        try:
            with path.open("xb") as opened:
                opened.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers do not end.")
