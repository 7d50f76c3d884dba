"""Findings in colour, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from mt.doctor.findings import Finding, State
from mt.doctor.report import cures

MARKS: dict[State, str] = {
    "fine": "[green]fine[/]",
    "note": "[yellow]note[/]",
    "fault": "[red]fault[/]",
}


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print findings, and below them what to do."""
    table = Table("", "", Column("found", overflow="fold"), box=None, show_header=False)
    for finding in findings:
        table.add_row(MARKS[finding.state], finding.subject, escape(finding.text))
    console.print(table)
    for state, subjects, cure in cures(findings):
        # In one line each, to be copied into the shell.
        console.print(f"\n{MARKS[state]} {subjects}: {escape(cure)}", soft_wrap=True)
