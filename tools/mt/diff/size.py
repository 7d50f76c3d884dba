"""How much a stage is: lines of code, and the time that importing it takes."""

from __future__ import annotations

import ast
import io
import statistics
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from mt.source.modules import Library, Module, documentation, lines_of
from mt.source.public import FOR_TESTS

ROUNDS = 5
"""How often a stage is imported, each time by a process of its own; the median counts."""

_SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


@dataclass(frozen=True)
class Size:
    """How much a stage is.

    Attributes:
        modules: how many files it has, without those for tests.
        lines: lines of code in them; comments, docstrings and empty ones do not count.
        import_seconds: what importing it takes, with all that it imports; None if it cannot be
            imported here.
    """

    modules: int
    lines: int
    import_seconds: float | None

    def cells(self) -> tuple[str, str, str]:
        """Return these as the cells of a table."""
        seconds = self.import_seconds
        taken = "not possible here" if seconds is None else f"{1000 * seconds:.0f} ms"
        return str(self.modules), f"{self.lines:,}", taken


@cache
def size_of(library: Library, package: str) -> Size:
    """Return how much a package is."""
    modules = [m for m in library.modules(package) if not set(m.name.split(".")) & set(FOR_TESTS)]
    return Size(len(modules), sum(map(lines_of_code, modules)), import_seconds(package))


def lines_of_code(module: Module) -> int:
    """Return how many lines of a module compute something."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(_documentation(module.tree)))


def _documentation(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of strings that stand alone."""
    for node in ast.walk(tree):
        if documentation(node):
            first, last = lines_of(node)
            yield from range(first, last + 1)


def import_seconds(package: str) -> float | None:
    """Return the median time that importing a package takes; None if it cannot be imported."""
    program = (
        f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    )
    seconds = []
    for _ in range(ROUNDS):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return None
        seconds.append(float(done.stdout))
    return statistics.median(seconds)
