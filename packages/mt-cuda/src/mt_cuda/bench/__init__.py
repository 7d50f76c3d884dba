"""`python -m mt_cuda.bench`: what kernels will do on a GPU, counted without one.

`launches` counts the launches, copies and waits of a training step, `operations` says whether each
operation is one kernel, several, or computed on the host. Times on a GPU are measured by the
project's `hatch run mt bench --backend cuda`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m mt_cuda.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    launches = commands.add_parser("launches", help="count what a step asks of a GPU")
    launches.add_argument("--json", action="store_true", help="for programs")
    launches.add_argument("--each", action="store_true", help="name the kernels, too")
    ways = commands.add_parser("operations", help="say which way each operation goes")
    ways.add_argument("names", nargs="*", help="the operations (default: all)")
    ways.add_argument("--json", action="store_true", help="the counts, for programs")
    options = parser.parse_args(arguments)
    from mt_cuda.bench import launches as steps
    from mt_cuda.bench import operations

    if options.command == "launches":
        lines = steps.report(options.json, options.each)
    else:
        lines = operations.report(options.json, options.names)
    for line in lines:
        print(line)
    return 0
