"""`mt concept NAME`: one idea in every stage and backend."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from mt.concept.finding import found
from mt.concept.order import Addition, read_order
from mt.errors import reported


def main(arguments: Sequence[str]) -> int:
    """Print a concept, or list all.

    With `--json`, a concept is `mt.concept.view.ConceptView.as_json` with its theme and its
    neighbours in the reading order; the list is `mt.concept.order.Order.as_json`.
    """
    parser = argparse.ArgumentParser(
        prog="mt concept", description="One idea in every stage and backend, side by side."
    )
    parser.add_argument(
        "words", nargs="*", help="the idea, or words of a question; without any, all are listed"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--no-run", action="store_true", help="do not run its input")
    options = parser.parse_args(arguments)
    with reported("concept"):
        order = read_order()
        if not options.words:
            print(json.dumps(order.as_json(), indent=1) if options.json else order.as_text())
            return 0
        answer = found(order, " ".join(options.words))
        if isinstance(answer, Addition):
            _print_addition(answer, as_json=options.json)
            return 0
        from mt.concept.view import view
        from mt.source.symbols import Symbols
        from mt.workspace import Workspace

        symbols = Symbols(Workspace.read().library())
        shown = view(answer, symbols, run=not options.no_run)
    if options.json:
        print(json.dumps(shown.as_json() | order.place_as_json(answer.name), indent=1))
        return 0
    from rich.console import Console

    from mt.concept.printing import show

    show(shown, Console(), order)
    return 0


def _print_addition(addition: Addition, *, as_json: bool) -> None:
    """Print the command that answers a question about two stages."""
    if as_json:
        print(json.dumps(addition.as_json(), indent=1))
    else:
        print(f"{addition.asks[0]} See `{addition.command}`.")
