"""How much a stage is: lines of code, and the time that importing it takes."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from functools import cache

from mt.programs import ProgramError, output
from mt.source.modules import Library
from mt.source.parts import Part, lines_of_code, part_of

ROUNDS = 5
"""How often a stage is imported, each time by a process of its own; the median counts."""


@dataclass(frozen=True)
class Size:
    """How much a stage is.

    Attributes:
        modules: how many files there are in the parts that are compared.
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
def size_of(library: Library, package: str, parts: tuple[Part, ...]) -> Size:
    """Return how much some parts of a package are."""
    modules = [m for m in library.modules(package) if part_of(m) in parts]
    return Size(len(modules), sum(map(lines_of_code, modules)), import_seconds(package))


@cache
def import_seconds(package: str) -> float | None:
    """Return the median time that importing a package takes; None if it cannot be imported."""
    program = (
        f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    )
    try:
        seconds = [float(output([sys.executable, "-c", program])) for _ in range(ROUNDS)]
    except ProgramError:
        return None
    return statistics.median(seconds)
