"""`hatch run mt COMMAND`: compare the stages, and work on them.

Each command is a folder of this package, whose module `command` parses the rest of the line. Only
the selected one is imported, because the test matrix must run where little is installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "bench": "benchmark against torch",
    "stages": "where an idea is in each stage, and what a stage adds",
    "doctor": "diagnose problems of this machine or environment, and how to fix them",
    "matrix": "list the tests that a change can break, as CI jobs",
    "parallel-check": "print which loops of the course Numba runs in parallel",
    "port": "convert torch programs by their imports, or compare them with torch",
    "release": "prepare the release of a package, or check, build and prove it",
    "size": "print the files and lines of code of each stage, and its reading order",
    "skeleton": "make exercises of a stage: its tests, and its code with parts left out",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    listed = "\n".join(f"  {name:16}{text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="mt",
        description=(__doc__ or "").partition("\n")[0],
        epilog=f"commands:\n{listed}\n\n`mt COMMAND --help` describes each.",
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
