"""The matrix as a table: a row for each stage and backend, a column for each Python."""

from __future__ import annotations

from collections.abc import Sequence

from mt.matrix.jobs import Job


def table(jobs: Sequence[Job]) -> str:
    """Return the jobs as a table; a cell lists the NumPy versions of its tests."""
    pythons = list(dict.fromkeys(job.python for job in jobs))
    cells: dict[tuple[str, str], dict[str, list[str]]] = {}
    for job in jobs:
        what = f"{job.tested}'s kit on {job.backend}" if job.backend else "its own"
        row = cells.setdefault((job.stage, what), {})
        row.setdefault(job.python, []).append(job.numpy or "no NumPy")
    rows = [["stage", "tests", *(f"Python {python}" for python in pythons)]]
    for names, row in cells.items():
        rows.append([*names, *(", ".join(row.get(python, ())) for python in pythons)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    first = f"; the first is `{jobs[0].command}`" if jobs else ""
    return "\n".join([*lines, "", f"{len(jobs)} jobs{first}"])
