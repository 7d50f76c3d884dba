"""`mt concept NAME`: one idea in every stage and backend."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console

from mt.concept.maps import concept_of, read_map
from mt.concept.printing import show
from mt.concept.view import view
from mt.errors import reported
from mt.source.symbols import Symbols
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Show a concept, or list all."""
    parser = argparse.ArgumentParser(
        prog="mt concept", description="One idea in every stage and backend, side by side."
    )
    parser.add_argument("name", nargs="?", help="the idea; without it, all are listed")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--no-run", action="store_true", help="do not run its input")
    options = parser.parse_args(arguments)
    with reported("concept"):
        concepts = read_map()
        if options.name is None:
            for concept in concepts.values():
                print(f"{concept.name}: {concept.text}")
            return 0
        symbols = Symbols(Workspace.read().library())
        found = view(concept_of(concepts, options.name), symbols, run=not options.no_run)
    if options.json:
        print(json.dumps(found.as_json(), indent=1))
    else:
        show(found, Console())
    return 0
