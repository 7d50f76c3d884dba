"""Insert solutions into a student's folder, without losing the student's work.

A solution replaces one function or row, and the rest of its file stays the same. If the student has
written anything in its place, the file is first copied under a new name.
"""

from __future__ import annotations

import ast
import itertools
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from griffe import Object

from mt.errors import ToolError
from mt.skeleton.blanking import hole, restored, source_of
from mt.skeleton.course import Task
from mt.skeleton.folder import Skeleton
from mt.source.symbols import file_of, name_of, node_of, parse


@dataclass
class _Merge:
    """A file of the student with solutions to insert.

    Attributes:
        file: its path.
        pairs: symbols of the file, each with its solution.
        loses: whether the student has written any of these symbols.
    """

    file: Path
    pairs: list[tuple[Object, Object]] = field(default_factory=list)
    loses: bool = False

    def add(self, symbol: Object, solution: Object, task: Task) -> None:
        """Add a symbol to replace by its solution."""
        self.pairs.append((symbol, solution))
        self.loses |= source_of(symbol) not in (hole(solution, task), source_of(solution))

    def text(self) -> str:
        """Return the file with the solutions.

        Raises:
            ToolError: a solution uses a name that the file no longer has.
        """
        text = restored(self.file.read_text(encoding="utf-8"), self.pairs)
        names = parse(self.file.stem, self.file, text).members.keys()
        for _, solution in self.pairs:
            nodes = ast.walk(node_of(solution))
            used = {node.id for node in nodes if isinstance(node, ast.Name)}
            missing = sorted((used & solution.module.members.keys()) - names)
            if missing:
                raise ToolError(
                    f"{self.file} has no {missing[0]!r}, which the solution of "
                    f"{name_of(solution)} uses: import or define it as the package does."
                )
        return text


def solve(skeleton: Skeleton, tasks: Sequence[Task]) -> dict[Path, Path]:
    """Insert the solutions of some tasks.

    Returns:
        The copies of files in which a student's work was replaced, by file.

    Raises:
        ToolError: a solution cannot be inserted; then nothing was changed.
    """
    try:
        merges = _merges(skeleton, tasks)
        texts = [(merge, merge.text()) for merge in merges]
    except ToolError as error:
        raise ToolError(f"{error} Nothing was changed.") from error
    files = [merge.file for merge in merges if merge.loses]
    copies = {file: _write_sibling(file, "bak", file.read_bytes()) for file in files}
    for merge, text in texts:
        _overwrite(merge.file, text)
    return copies


def _merges(skeleton: Skeleton, tasks: Iterable[Task]) -> list[_Merge]:
    """Return the files to change, with their solutions."""
    merges: dict[Path, _Merge] = {}
    for task in tasks:
        for solution in skeleton.places(task):
            symbol = skeleton.counterpart(solution)
            _check_replaceable(symbol, solution)
            merge = merges.setdefault(skeleton.file(solution), _Merge(skeleton.file(solution)))
            merge.add(symbol, solution, task)
    return list(merges.values())


def _check_replaceable(symbol: Object, solution: Object) -> None:
    """Raise an error unless a symbol has the type of its solution, and is unique."""
    file = file_of(symbol)
    if type(node_of(symbol)) is not type(node_of(solution)):
        raise ToolError(
            f"{name_of(solution)} is no longer a function ({file}, line {symbol.lineno}): define "
            "it with `def` again."
        )
    if _count(symbol) != _count(solution):
        raise ToolError(
            f"{name_of(solution)} is defined {_count(symbol)} times in {file}: keep only the one "
            "that the solution is to replace."
        )


def _count(symbol: Object) -> int:
    """Return how many statements of the module or class of a symbol define its name."""
    body = node_of(symbol.parent or symbol).body
    return sum(getattr(statement, "name", None) == symbol.name for statement in body)


def _overwrite(file: Path, text: str) -> None:
    """Replace a file atomically, with its line endings."""
    newline = "\r\n" if b"\r\n" in file.read_bytes() else "\n"
    new = _write_sibling(file, "new", text.replace("\n", newline).encode())
    shutil.copymode(file, new)
    new.replace(file)


def _write_sibling(file: Path, suffix: str, content: bytes) -> Path:
    """Write a new file next to another, and return its path."""
    for number in itertools.count(1):
        path = file.with_name(f"{file.name}.{suffix}{number}")
        try:
            with path.open("xb") as opened:
                opened.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers do not end.")
