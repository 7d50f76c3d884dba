"""`mt stages`: where an idea is implemented in each stage, and what a stage adds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rich.console import Console

from mt.errors import reported
from mt.source.symbols import load
from mt.stages.additions import addition
from mt.stages.ideas import find_idea, read_themes
from mt.stages.printing import print_addition, print_idea, print_overview
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print an idea, what a stage adds, or a list of both."""
    parser = argparse.ArgumentParser(
        prog="mt stages",
        description="List the stages and the ideas, or show one of them.",
    )
    kinds = parser.add_subparsers(dest="kind", metavar="{added,idea}")
    added = kinds.add_parser("added", help="what a stage adds to the ones before")
    added.add_argument("stage", help="such as autodiff")
    idea = kinds.add_parser("idea", help="the code of an idea in each stage and backend")
    idea.add_argument("name", nargs="+", help="such as tanh, or topological sort")
    options = parser.parse_args(arguments)
    console = Console()
    with reported("stages"):
        workspace, themes = Workspace.read(), read_themes()
        modules = load(*workspace.sources)
        if options.kind == "added":
            print_addition(addition(workspace, modules, options.stage), console)
        elif options.kind == "idea":
            print_idea(find_idea(themes, " ".join(options.name)), modules, console)
        else:
            print_overview(workspace, themes, console)
    return 0
