"""`hatch run mt COMMAND`: compare the stages, and tools for working on them.

Each command is a folder of this package, whose module `command` parses the rest of the line. Only
the selected one is imported, because the test matrix must run where little is installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "bench": "how fast it is beside torch",
    "concept": "one idea in every stage and backend, side by side",
    "diff": "what one stage adds to another",
    "doctor": "what ails this machine or environment, and the cure",
    "fuzz": "random programs here and on torch, compared step by step",
    "matrix": "which tests a change can break, as jobs of continuous integration",
    "mutate": "whether the tests notice faults that are planted in the code",
    "parallel-check": "what Numba runs in parallel of the loops of the course",
    "port": "programs that were written for torch, with other import lines",
    "site": "all stages and ideas as pages for a browser",
    "size": "files and lines of code of each stage, and the order in which to read them",
    "skeleton": "a stage as exercises: its tests, and its code without what is to be written",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    listed = "\n".join(f"  {name:16}{text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="mt",
        description=(__doc__ or "").partition("\n")[0],
        epilog=f"commands:\n{listed}\n\n`mt COMMAND --help` says more of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    options = parser.parse_args(arguments)
    folder = options.command.replace("-", "_")
    try:
        command = import_module(f"mt.{folder}.command")
    except ModuleNotFoundError as error:
        needed = "Python 3.11" if error.name == "tomllib" else error.name
        print(
            f"mt {options.command}: {needed} is not installed: use `hatch run mt`, or install "
            "requirements-dev.txt",
            file=sys.stderr,
        )
        return 1
    status: int = command.main(options.arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
