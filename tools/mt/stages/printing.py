"""Print ideas, and what stages add, in a terminal."""

from __future__ import annotations

from griffe import ModulesCollection
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from mt.source.symbols import docstring_of, find, name_of
from mt.stages.additions import Addition
from mt.stages.excerpts import excerpt
from mt.stages.ideas import Idea, Theme
from mt.workspace import Workspace


def print_overview(workspace: Workspace, themes: list[Theme], console: Console) -> None:
    """List the stages and the ideas."""
    names = ", ".join(stage.short for stage in workspace.stages.values())
    console.print(f"[bold]Stages[/] (`mt stages added STAGE`): {names}\n")
    console.print("[bold]Ideas[/] (`mt stages idea NAME`)")
    table = Table.grid(padding=(0, 2))
    for theme in themes:
        table.add_row(f"  {theme.name}", ", ".join(idea.name for idea in theme.ideas))
    console.print(table)


def print_idea(idea: Idea, modules: ModulesCollection, console: Console) -> None:
    """Print an idea with its code in every column."""
    console.print(f"[bold]{idea.name}[/]", idea.text, highlight=False)
    for step in idea.steps:
        console.print(f"\n[bold]{step.column}[/]  {step.text}", highlight=False)
        for name in step.symbols:
            code = Syntax(excerpt(find(modules, name)), "python", word_wrap=True)
            console.print(Panel(code, title=name, title_align="left", border_style="dim"))


def print_addition(added: Addition, console: Console) -> None:
    """Print what a stage adds."""
    console.print(f"[bold]{added.stage.name}[/]", added.text, highlight=False)
    console.print("Builds on:", ", ".join(stage.name for stage in added.upstream) or "nothing")
    console.print("New dependencies:", ", ".join(added.dependencies) or "none", highlight=False)
    table = Table.grid(padding=(0, 2))
    for name, symbol in added.new.items():
        table.add_row(f"  {name}", docstring_of(symbol).partition("\n")[0])
    console.print("\n[bold]New names[/]")
    console.print(table)
    if added.redefined:
        console.print("\n[bold]Names that an earlier stage has, too[/]")
        table = Table.grid(padding=(0, 2))
        for name, (before, _) in added.redefined.items():
            table.add_row(f"  {name}", f"as {name_of(before)}")
        console.print(table)
    if added.files:
        console.print("\n[bold]To read, in this order[/]")
        for file in added.files:
            console.print(f"  {file}", highlight=False)
