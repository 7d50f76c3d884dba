"""`python -m mt_cuda.bench`: what kernels will do on a GPU, found out without one.

`launches` counts the launches, copies and waits of a training step, `operations` says whether each
operation is one kernel, several, or computed on the host, and `sass` shows the machine code of
kernels. Times on a GPU are measured by the project's `hatch run mt bench --backend cuda`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; return 1, with the reason, where that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m mt_cuda.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    launches = commands.add_parser("launches", help="count what a step asks of a GPU")
    launches.add_argument("--json", action="store_true", help="for programs")
    launches.add_argument("--each", action="store_true", help="name the kernels, too")
    ways = commands.add_parser("operations", help="say which way each operation goes")
    ways.add_argument("names", nargs="*", help="the operations (default: all)")
    ways.add_argument("--json", action="store_true", help="the counts, for programs")
    sass = commands.add_parser("sass", help="show what a GPU executes of the kernels of steps")
    sass.add_argument("--json", action="store_true", help="for programs")
    sass.add_argument("--gpu", nargs="*", help="compute capabilities, such as 9.0 (default: all)")
    sass.add_argument("--kernel", default="", help="a regular expression for the kernels' names")
    options = parser.parse_args(arguments)
    if options.command == "launches":
        from mt_cuda.bench.launches import report

        for line in report(options.json, options.each):
            print(line)
        return 0
    if options.command == "operations":
        from mt_cuda.bench import operations

        for line in operations.report(options.json, options.names):
            print(line)
        return 0
    return _sass(options.json, options.gpu, options.kernel)


def _sass(as_json: bool, gpus: Sequence[str] | None, name: str) -> int:
    """Print the report of machine code; return 1, with the reason, where that is impossible."""
    from mt_cuda.bench.sass import CAPABILITIES, report
    from mt_cuda.core.errors import KernelError

    known = {f"{major}.{minor}": (major, minor) for major, minor in CAPABILITIES}
    try:
        for line in report(as_json, [known[gpu] for gpu in gpus or known], name):
            print(line)
    except KeyError as error:
        print(f"{error.args[0]} is none of {', '.join(known)}", file=sys.stderr)
        return 1
    except KernelError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
