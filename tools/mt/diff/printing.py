"""Print a comparison of two stages on the terminal.

Signatures and qualified names are long, so they are printed below each other, not in columns, which
also fits a terminal of sixty characters.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
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
        comparison: the comparison.
        console: the console to print to.
        code: whether to print the code of all functions, or only count them.
    """
    before, after = comparison.before.name, comparison.after.name
    console.rule(f"[bold]What {after} adds to {before}")
    console.print(_flowing(comparison.text), end="\n\n")
    console.print(f"Compared: {' and '.join(comparison.parts)}")
    console.print(_sizes(comparison))
    if comparison.dependencies:
        needed = ", ".join(map(str, comparison.dependencies))
        console.print(f"[bold]Additional dependencies:[/] {escape(needed)}")
    console.print(f"\n[bold]Added: {len(comparison.names.added)} names")
    for name, symbol in comparison.names.added.items():
        console.print(_name(symbol, name))
    if comparison.names.changed:
        console.print("\n[bold]Redefined")
    for entry in _changed(comparison):
        console.print(entry)
    console.print()
    passed = ", ".join(comparison.names.passed_on) or "nothing"
    console.print(f"[bold]Re-exported from {before}:[/] {escape(passed)}")
    fates = ", ".join(f"{fate}: {count}" for fate, count in comparison.fates().items())
    console.print(f"[bold]Its functions, compared with those of {before} and below:[/] {fates}")
    versions = list(_versions(comparison))
    if versions:
        console.print("\n[bold]Versions of earlier functions")
    for entry in versions:
        console.print(entry)
    console.print()
    if code:
        for change in comparison.code:
            console.print(_code(change))
    for experiment in comparison.experiments:
        console.print(_experiment(experiment, before, after))


def _flowing(text: str) -> Text:
    """Return paragraphs with their lines joined, to be wrapped at the width of the terminal."""
    return Text("\n\n".join(" ".join(part.split()) for part in text.split("\n\n")))


def _sizes(comparison: Comparison) -> Table:
    table = Table("", "modules", "lines of code", "import")
    for name in (comparison.before.name, comparison.after.name):
        table.add_row(name, *comparison.sizes[name].cells())
    return table


def _entry(heading: Text, *lines: Text) -> Group:
    """Return a heading with indented lines below it, at the full width of the terminal."""
    parts = [(heading, 2), *((line, 6) for line in lines)]
    return Group(
        *(Padding(_folded(part), (0, 0, 0, indent), expand=False) for part, indent in parts)
    )


def _folded(text: Text) -> Text:
    """Wrap words that are longer than a line."""
    text.overflow = "fold"
    return text


def _name(symbol: Symbol, name: str) -> Group:
    heading = Text.assemble((name, "bold"), (symbol.signature, "dim"))
    return _entry(heading, Text.assemble(f"{symbol.summary} ", (_place(symbol), "cyan")))


def _changed(comparison: Comparison) -> Iterator[Group]:
    first, second = comparison.before.name, comparison.after.name
    for change in comparison.names.changed:
        pairs = ((first, change.before), (second, change.after))
        yield _entry(
            Text(change.name, "bold"),
            *(Text.assemble((f"{stage}: ", "dim"), s.signature or s.kind) for stage, s in pairs),
        )


def _versions(comparison: Comparison) -> Iterator[Group]:
    """Yield the functions that have a counterpart, with it."""
    for change in comparison.code:
        if change.before:
            was = Text.assemble((f"{change.fate}, was ", "dim"), change.before.name)
            yield _entry(Text(change.after.name, "bold"), was)


def _place(symbol: Symbol) -> str:
    return f"{symbol.module.name}:{symbol.lines[0]}"


def _code(change: CodeChange) -> RenderableType:
    former = f", was {change.before.name}" if change.before else ""
    lines = [Text(line, style=COLOURS.get(line[:1], "")) for line in change.lines()]
    return Panel(
        Group(*lines), title=f"{change.fate}: {change.after.name}{former}", title_align="left"
    )


def _experiment(experiment: Experiment, before: str, after: str) -> Panel:
    parts: list[RenderableType] = [_flowing(experiment.text)]
    for name, outcome in ((before, experiment.before), (after, experiment.after)):
        mark = "[green]works[/]" if outcome.worked else "[red]fails[/]"
        parts.append(f"\nwith {name}: {mark}, {outcome.seconds:.1f} s in all")
        parts.append(Padding(_folded(Text(outcome.output)), (0, 0, 0, 4), expand=False))
    return Panel(Group(*parts), title=f"Without {after}", title_align="left")
