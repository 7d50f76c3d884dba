"""`mt concept NAME`: one idea in every stage and backend."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mt.concept.finding import found
from mt.concept.order import Addition, read_order
from mt.errors import reported


def main(arguments: Sequence[str]) -> int:
    """Print a concept, or list all."""
    parser = argparse.ArgumentParser(
        prog="mt concept", description="Show one idea in every stage and backend, side by side."
    )
    parser.add_argument(
        "words", nargs="*", help="an idea, or words of a question; without any, list all ideas"
    )
    parser.add_argument("--no-run", action="store_true", help="do not run its input")
    options = parser.parse_args(arguments)
    with reported("concept"):
        order = read_order()
        if not options.words:
            print(order.as_text())
            return 0
        answer = found(order, " ".join(options.words))
        if isinstance(answer, Addition):
            print(f"{answer.asks[0]} See `{answer.command}`.")
            return 0
        from rich.console import Console

        from mt.concept.printing import show
        from mt.concept.view import view
        from mt.source.symbols import Symbols
        from mt.workspace import Workspace

        symbols = Symbols(Workspace.read().library())
        shown = view(answer, symbols, run=not options.no_run)
    show(shown, Console(), order)
    return 0
