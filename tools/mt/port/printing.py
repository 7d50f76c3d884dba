"""Print outcomes and advice on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mt.port.comparison import Outcome
from mt.port.names import Use


def show_outcomes(outcomes: Iterable[Outcome], run: str, console: Console) -> bool:
    """Print a line for each program as it finishes; return whether all follow torch."""
    console.print(f"Largest differences from torch {run}, relative:\n")
    console.print(f"{'program':16}{'steps':>6}{'losses':>10}{'results':>10}{'allowed':>10}")
    shown = []
    for outcome in outcomes:
        shown.append(outcome)
        name = outcome.program.name
        if outcome.failure:
            console.print(f"{name:16}[red]fails[/]: {escape(outcome.failure)}")
            continue
        numbers = f"{outcome.loss:10.1e}{outcome.result:10.1e}{outcome.allowed:10.0e}"
        mark = "" if outcome.follows else "  [red]too far[/]"
        console.print(f"{name:16}{outcome.steps:6}{numbers}{mark}", highlight=False)
    follow = sum(outcome.follows for outcome in shown)
    console.print(f"\n{follow} of {len(shown)} follow torch.")
    return follow == len(shown)


def show_advice(uses: Sequence[Use], console: Console) -> None:
    """Print the unsupported names that a program uses, and what to use instead."""
    table = Table("", "", box=None, show_header=False, padding=(0, 1, 0, 0))
    for use in uses:
        table.add_row(f"line {use.line}", escape(use.advice))
    console.print(table)
