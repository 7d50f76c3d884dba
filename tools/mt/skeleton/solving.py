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

from mt.errors import ToolError
from mt.skeleton.blanking import hole, restored, whole
from mt.skeleton.course import Task, places
from mt.skeleton.folder import Skeleton
from mt.source.modules import Module, definitions
from mt.source.symbols import Symbol, Symbols


@dataclass
class _Merge:
    """A file of the student with solutions to insert.

    Attributes:
        module: the file.
        pairs: symbols of the file, each with its solution.
        loses: whether the student has written any of these symbols.
    """

    module: Module
    pairs: list[tuple[Symbol, Symbol]] = field(default_factory=list)
    loses: bool = False

    def add(self, symbol: Symbol, solution: Symbol, task: Task) -> None:
        """Add a symbol to replace by its solution."""
        self.pairs.append((symbol, solution))
        self.loses |= whole(symbol) not in (hole(solution, task), whole(solution))

    def text(self) -> str:
        """Return the file with the solutions.

        Raises:
            ToolError: a solution uses a name that the file no longer has.
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
    """Insert the solutions of some tasks.

    Returns:
        the copies of files in which a student's work was replaced, by file.

    Raises:
        ToolError: a solution cannot be inserted; then nothing was changed.
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
    """Return the files to change, with their solutions."""
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
    """Raise an error unless a symbol has the name and type of its solution, and is unique."""
    place = f"{symbol.module.file}, line {symbol.lines[0]}"
    if symbol.name != solution.name:
        raise ToolError(
            f"{solution.name} is now {symbol.name} ({place}), so the solution cannot be inserted: "
            f"define it in {solution.module.name} again."
        )
    if type(symbol.node) is not type(solution.node):
        raise ToolError(
            f"{solution.name} is no longer a function ({place}): define it by `def` again."
        )
    if _count(symbol) != _count(solution):
        raise ToolError(
            f"{solution.name} is defined {_count(symbol)} times in {symbol.module.file}: keep "
            "the one to replace by the solution."
        )


def _count(symbol: Symbol) -> int:
    """Return how many times the module of a symbol defines its name."""
    return sum(name == symbol.name for name, _ in definitions(symbol.module))


def _overwrite(file: Path, text: str) -> None:
    """Replace a file atomically, with its line endings."""
    newline = "\r\n" if b"\r\n" in file.read_bytes() else "\n"
    new = _written_beside(file, "new", text.replace("\n", newline).encode())
    shutil.copymode(file, new)
    new.replace(file)


def _written_beside(file: Path, suffix: str, content: bytes) -> Path:
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
