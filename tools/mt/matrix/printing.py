"""The matrix as a table: a row for each stage and backend, a column for each Python."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from mt.matrix.jobs import Job


def show(jobs: Sequence[Job], console: Console | None = None) -> None:
    """Print jobs; a cell names the NumPys that its tests run with.

    Args:
        jobs: What to print, in order.
        console: Where to; the terminal if none is given.
    """
    console = console or Console()
    pythons = list(dict.fromkeys(job.python for job in jobs))
    rows: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for job in jobs:
        row = rows.setdefault((job.stage, job.tested, job.backend), {})
        row.setdefault(job.python, []).append(job.numpy or "no NumPy")
    table = Table("stage", "tests", *(f"Python {python}" for python in pythons), box=None)
    for (stage, tested, backend), row in rows.items():
        what = f"{tested}'s kit on {backend}" if backend else "its own"
        table.add_row(stage, what, *(", ".join(row.get(python, ())) for python in pythons))
    console.print(table)
    console.print(f"\n{len(jobs)} jobs", end="")
    console.print(f"; the first is `{jobs[0].command}`" if jobs else "")
