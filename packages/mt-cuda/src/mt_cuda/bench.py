"""`python -m mt_cuda.bench`: how good the kernels are.

Without more it measures on this machine's GPU what they reach. `launches` counts what a step of
training asks of a GPU, and needs none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; return 1, with the reason, where that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m mt_cuda.bench", description=__doc__)
    parser.add_argument("--size", type=int, default=64, help="million elements (default 64)")
    parser.add_argument("--runs", type=int, default=20, help="timings of each (default 20)")
    commands = parser.add_subparsers(dest="command")
    launches = commands.add_parser("launches", help="count what a step asks of a GPU")
    launches.add_argument("--json", action="store_true", help="for programs")
    launches.add_argument("--each", action="store_true", help="name the kernels, too")
    options = parser.parse_args(arguments)
    if options.command == "launches":
        from mt_cuda.library.bench.launches import report

        for line in report(options.json, options.each):
            print(line)
        return 0
    from mt_cuda.library.bench.rates import measure

    return measure(options.size, options.runs)


if __name__ == "__main__":
    sys.exit(main())
