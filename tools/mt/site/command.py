"""`mt site --out DIR`: all stages and ideas as pages for a browser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mt.errors import reported
from mt.site.build import build


def main(arguments: Sequence[str]) -> int:
    """Write the site."""
    parser = argparse.ArgumentParser(
        prog="mt site", description="Write all stages and ideas as pages for a browser."
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="the folder to write"
    )
    parser.add_argument(
        "--no-run", action="store_true", help="do not run the experiments and inputs"
    )
    options = parser.parse_args(arguments)
    with reported("site"):
        count = build(options.out, run=not options.no_run)
    print(f"{count} pages: open {options.out / 'index.html'}")
    return 0
