"""Print a concept on the terminal, with a panel for each stage and backend."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from mt.concept.order import Order
from mt.concept.view import ConceptView, CounterexampleView, StepView


def show(view: ConceptView, console: Console, order: Order) -> None:
    """Print a concept.

    Args:
        view: the concept with its code and results.
        console: the console to print to.
        order: the reading order, for the concepts before and after it.
    """
    name = view.concept.name
    console.rule(f"[bold]{escape(name)}")
    console.print(Text(view.concept.text))
    console.print(Text("\n".join(view.concept.asks), style="italic"))
    for step in view.steps:
        console.print(_step(step))
    for counterexample in view.counterexamples:
        console.print(_counterexample(counterexample))
    console.print(Text(view.input, style="italic"))
    if view.results:
        console.print(_results(view))
    before, after = order.neighbours(name)
    places = [("before it", before), ("after it", after)]
    around = [f"{place}: {concept.name}" for place, concept in places if concept]
    console.print(Text(f"{order.theme_of(name).name}; {', '.join(around)}", style="dim"))


def _step(view: StepView) -> Panel:
    parts: list[RenderableType] = [Text(view.step.text)]
    for symbol in view.symbols:
        parts.append(Text(f"\n{symbol.name}, line {symbol.lines[0]}", style="dim"))
        parts.append(_code(symbol.text))
    if view.kernel:
        parts.append(Text("\ngenerated from it", style="dim"))
        parts.append(_code(view.kernel))
    return Panel(Group(*parts), title=f"[bold]{view.step.column}", title_align="left")


def _counterexample(view: CounterexampleView) -> Panel:
    shown = view.counterexample
    return Panel(
        Group(Text(shown.text), Text(), _code(view.code)),
        title=f"[bold]{shown.name}[/]: a counterexample",
        title_align="left",
        border_style="red",
    )


def _code(text: str) -> Syntax:
    return Syntax(text, "python", theme="ansi_dark", background_color="default", word_wrap=True)


def _results(view: ConceptView) -> Table:
    table = Table("column", "value", "gradient", "largest error", "time")
    for column, result in view.results.items():
        style = None if result.is_right else "red"
        table.add_row(column, *map(escape, result.cells()), style=style)
    return table
