"""A concept on the terminal: a column for each stage and backend, below each other."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from mt.concept.view import ConceptView, StepView


def show(view: ConceptView, console: Console) -> None:
    """Print a concept."""
    console.rule(f"[bold]{escape(view.concept.name)}")
    console.print(Text(view.concept.text))
    for step in view.steps:
        console.print(_step(step))
    console.print(Text(view.input, style="italic"))
    if view.results:
        console.print(_results(view))


def _step(view: StepView) -> Panel:
    parts: list[RenderableType] = [Text(view.step.text)]
    for symbol in view.symbols:
        parts.append(Text(f"\n{symbol.name}, line {symbol.lines[0]}", style="dim"))
        parts.append(_code(symbol.text))
    if view.kernel:
        parts.append(Text("\nwhat is generated from it", style="dim"))
        parts.append(_code(view.kernel))
    return Panel(Group(*parts), title=f"[bold]{view.step.column}", title_align="left")


def _code(text: str) -> Syntax:
    return Syntax(text, "python", theme="ansi_dark", background_color="default", word_wrap=True)


def _results(view: ConceptView) -> Table:
    table = Table("column", "value", "gradient", "largest error", "time")
    for column, result in view.results.items():
        table.add_row(column, *map(escape, result.cells()))
    return table
