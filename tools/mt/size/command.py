"""`mt size`: the sizes of the core, the rest and the kit of each stage, and the reading order."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console

from mt.errors import reported
from mt.size.printing import show
from mt.size.sizes import size_of
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print the sizes; `--json` prints `stages`, a list of `mt.size.sizes.StageSize.as_json`."""
    parser = argparse.ArgumentParser(
        prog="mt size",
        description="Print the size of each stage: files, lines of code, and lines on the page "
        "with docstrings, comments and blank lines; and the reading order of its core.",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    with reported("size"):
        workspace = Workspace.read()
        sizes = [size_of(stage) for stage in workspace.stages.values()]
    if options.json:
        print(json.dumps({"stages": [size.as_json() for size in sizes]}, indent=1))
    else:
        show(sizes, Console())
    return 0
