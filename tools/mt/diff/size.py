"""The size of a stage: lines of code, and its import time."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from functools import cache

from mt.programs import ProgramError, output
from mt.source.modules import Library
from mt.source.parts import Part, lines_of_code, part_of

ROUNDS = 5
"""The number of imports, each in a new process; the median counts."""


@dataclass(frozen=True)
class Size:
    """The size of a stage.

    Attributes:
        modules: the number of files in the parts that are compared.
        lines: their lines of code, without comments, docstrings and blank lines.
        import_seconds: the time to import it and its dependencies; None if that fails.
    """

    modules: int
    lines: int
    import_seconds: float | None

    def cells(self) -> tuple[str, str, str]:
        """Return the sizes as cells of a table."""
        seconds = self.import_seconds
        taken = "not possible here" if seconds is None else f"{1000 * seconds:.0f} ms"
        return str(self.modules), f"{self.lines:,}", taken


@cache
def size_of(library: Library, package: str, parts: tuple[Part, ...]) -> Size:
    """Return the size of some parts of a package."""
    modules = [m for m in library.modules(package) if part_of(m) in parts]
    return Size(len(modules), sum(map(lines_of_code, modules)), import_seconds(package))


@cache
def import_seconds(package: str) -> float | None:
    """Return the median import time of a package; None if it cannot be imported."""
    program = (
        f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    )
    try:
        seconds = [float(output([sys.executable, "-c", program])) for _ in range(ROUNDS)]
    except ProgramError:
        return None
    return statistics.median(seconds)
