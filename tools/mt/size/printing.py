"""Print the sizes of stages as a table, and the reading order of each core."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from mt.size.sizes import StageSize
from mt.source.parts import PARTS, Part


def show(sizes: Sequence[StageSize], console: Console) -> None:
    """Print the sizes, and the files of each core with their lines on the page."""
    table = Table("stage", title="Lines on the page (of code) in files", box=None)
    for part in PARTS:
        table.add_column(part, justify="right")
    for size in sizes:
        table.add_row(size.stage, *(_cell([size], part) for part in PARTS))
    table.add_row("all", *(_cell(sizes, part) for part in PARTS))
    console.print(table)
    for size in sizes:
        if size.order:
            files = (
                f"{path.removeprefix('core/')} {lines}"
                for path, (lines, code) in size.files["core"].items()
                if code
            )
            console.print(f"\n[bold]Core of {size.stage}")
            console.print(Padding(", ".join(files), (0, 0, 0, 2)))


def _cell(sizes: Sequence[StageSize], part: Part) -> str:
    """Return the lines and files of a part."""
    lines, code, files = (
        sum(measure(part) for measure in measures)
        for measures in (
            [size.lines for size in sizes],
            [size.code for size in sizes],
            [size.count for size in sizes],
        )
    )
    return f"{lines:,} ({code:,}) in {files}"
