"""All findings, on the terminal or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mt.doctor.backends import check_backends
from mt.doctor.findings import Finding, State
from mt.doctor.packages import check_libraries, check_python, check_stages
from mt.doctor.speed import check_cache, check_compiler, check_processors
from mt.workspace import Workspace

MARKS: dict[State, str] = {
    "fine": "[green]fine[/]",
    "note": "[yellow]note[/]",
    "fault": "[red]fault[/]",
}


def examined(workspace: Workspace) -> Iterator[Finding]:
    """Yield what every check finds."""
    yield from check_python()
    yield from check_stages(workspace)
    yield from check_libraries(workspace)
    yield from check_backends()
    yield from check_processors()
    yield from check_compiler()
    yield from check_cache()


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print findings, and below them what to do."""
    table = Table("", "", "found", box=None, show_header=False)
    for finding in findings:
        table.add_row(MARKS[finding.state], finding.subject, escape(finding.text))
    console.print(table)
    for finding in findings:
        if finding.cure:
            console.print(f"\n{MARKS[finding.state]} {finding.subject}: {escape(finding.cure)}")
