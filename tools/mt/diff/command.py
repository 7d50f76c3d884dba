"""`mt diff BEFORE AFTER`: what one stage adds to another."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rich.console import Console

from mt.diff.comparison import compared, pair
from mt.diff.printing import show
from mt.errors import reported
from mt.source.parts import CORE, FOR_USERS
from mt.source.symbols import Symbols
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="mt diff", description="Print what AFTER adds to BEFORE.")
    parser.add_argument("before", metavar="BEFORE", help="a stage: mt-operators, or operators")
    parser.add_argument("after", metavar="AFTER", help="another stage")
    parser.add_argument(
        "--all",
        action="store_true",
        help="compare whole packages, not only the cores",
    )
    parser.add_argument("--code", action="store_true", help="show every function, too")
    parser.add_argument("--no-run", action="store_true", help="do not run the experiment")
    options = parser.parse_args(arguments)
    with reported("diff"):
        workspace = Workspace.read()
        before, after = pair(workspace, options.before, options.after)
        symbols = Symbols(workspace.library())
        comparison = compared(
            workspace,
            symbols,
            before,
            after,
            parts=FOR_USERS if options.all else CORE,
            run=not options.no_run,
        )
    show(comparison, Console(), code=options.code)
    return 0
