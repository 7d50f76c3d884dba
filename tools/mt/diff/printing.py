"""A comparison of two stages on the terminal."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mt.diff.code import CodeChange
from mt.diff.comparison import Comparison, Experiment
from mt.source.symbols import Symbol

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show(comparison: Comparison, console: Console, *, code: bool) -> None:
    """Print a comparison.

    Args:
        comparison: what is to be shown.
        console: where.
        code: whether functions are shown beside their counterparts, or only counted.
    """
    before, after = comparison.before.name, comparison.after.name
    console.rule(f"[bold]What {after} adds to {before}")
    for paragraph in comparison.text.split("\n\n"):
        console.print(escape(" ".join(paragraph.split())), end="\n\n")
    console.print(_sizes(comparison))
    console.print(_names(f"Added: {len(comparison.names.added)} names", comparison.names.added))
    if comparison.names.changed:
        console.print(_changed(comparison))
    passed = ", ".join(comparison.names.passed_on) or "nothing"
    console.print(f"[bold]Passed on from {before}:[/] {escape(passed)}")
    fates = ", ".join(f"{fate}: {count}" for fate, count in comparison.fates().items())
    console.print(f"[bold]Its functions, set against those of {before} and below:[/] {fates}")
    console.print(_versions(comparison))
    if code:
        for change in comparison.code:
            console.print(_code(change))
    for experiment in comparison.experiments:
        console.print(_experiment(experiment, before, after))


def _sizes(comparison: Comparison) -> Table:
    table = Table("", "modules", "lines of code", "import", "needs also")
    before, after = comparison.before.name, comparison.after.name
    table.add_row(before, *comparison.sizes[before].cells(), "")
    table.add_row(
        after,
        *comparison.sizes[after].cells(),
        escape(", ".join(map(str, comparison.dependencies))),
    )
    return table


def _names(title: str, names: dict[str, Symbol]) -> Table:
    table = Table("name", "what it is", "where", title=title, title_justify="left")
    for name, symbol in names.items():
        shown = Text(name, style="bold") + Text(symbol.signature, style="dim")
        table.add_row(shown, escape(symbol.summary), _place(symbol))
    return table


def _changed(comparison: Comparison) -> Table:
    first, second = comparison.before.name, comparison.after.name
    table = Table("name", first, second, title="Defined anew", title_justify="left")
    for change in comparison.names.changed:
        table.add_row(
            change.name, *(escape(s.signature or s.kind) for s in (change.before, change.after))
        )
    return table


def _versions(comparison: Comparison) -> Table:
    """Return the functions that have a counterpart, beside it."""
    before, after = comparison.before.name, comparison.after.name
    table = Table("", f"in {before} and below", f"in {after}")
    table.title, table.title_justify = "Versions of what was there", "left"
    for change in comparison.code:
        if change.before:
            table.add_row(change.fate, change.before.name, change.after.name)
    return table


def _place(symbol: Symbol) -> str:
    return f"{symbol.module.name}:{symbol.lines[0]}"


def _code(change: CodeChange) -> RenderableType:
    beside = f", was {change.before.name}" if change.before else ""
    lines = [Text(line, style=COLOURS.get(line[:1], "")) for line in change.lines()]
    return Panel(
        Group(*lines), title=f"{change.fate}: {change.after.name}{beside}", title_align="left"
    )


def _experiment(experiment: Experiment, before: str, after: str) -> Panel:
    table = Table("", "", "seconds", "what it printed", show_header=False, box=None)
    for name, outcome in ((before, experiment.before), (after, experiment.after)):
        mark = "[green]works[/]" if outcome.worked else "[red]fails[/]"
        table.add_row(
            f"with {name}", mark, f"{outcome.seconds:.1f} s in all", escape(outcome.output)
        )
    return Panel(
        Group(Text(experiment.text), Text(), table), title=f"Without {after}", title_align="left"
    )
