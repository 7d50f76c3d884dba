"""`mt port`: convert torch programs by their imports, or compare them with torch.

mt port train.py                   prints the program with its imports changed
mt port train.py --out train_mt.py     writes it to a file
mt port train.py --diff            prints what changes
mt port compare                    compares programs with torch, step by step
mt port compare gpt vae --backend fast --dtype float64
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mt.arguments import parser_of
from mt.errors import ToolError, reported
from mt.port.imports import difference, ported, read
from mt.torch_environment import missing, run_in_torch_environment


def main(arguments: Sequence[str]) -> int:
    """Convert a program, or compare the sample programs; the status is 0 on success."""
    comparing = bool(arguments) and arguments[0] == "compare"
    with reported("port"):
        if comparing:
            return _compare(_parser(comparing).parse_args(arguments[1:]), arguments)
        return _port(_parser(comparing).parse_args(arguments))


def _parser(comparing: bool) -> argparse.ArgumentParser:
    from mt.port.comparison import LIMITS

    parser = parser_of("mt port compare" if comparing else "mt port", __doc__)
    if comparing:
        parser.add_argument("names", nargs="*", metavar="NAME", help="the programs (all)")
        parser.add_argument("--backend", default="numpy", help="the backend (numpy)")
        parser.add_argument(
            "--dtype", choices=LIMITS, default="float32", help="the dtype to compute in"
        )
        parser.add_argument("--short", action="store_true", help="run only a few steps of each")
    else:
        parser.add_argument("file", type=Path, help="a program, or `compare`")
        parser.add_argument("--out", type=Path, metavar="NEW", help="the file to write")
    parser.add_argument("--diff", action="store_true", help="only print what changes")
    return parser


def _port(options: argparse.Namespace) -> int:
    """Change the imports of a program, and print the unsupported names that it uses."""
    from rich.console import Console

    from mt.port.names import left_out
    from mt.port.printing import show_advice

    text, tree = read(options.file)
    changed = difference(options.file) if options.diff else ported(text, tree)
    if options.out is None:
        sys.stdout.write(changed)
    else:
        _write_new(options.out, changed)
    uses = left_out(tree)
    if uses:
        show_advice(uses, Console(stderr=True))
    return int(bool(uses))


def _write_new(file: Path, text: str) -> None:
    """Write a new file."""
    try:
        with file.open("xb") as stream:
            stream.write(text.encode())
    except FileExistsError as error:
        raise ToolError(f"{file} exists and is not overwritten: name another file.") from error


def _compare(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run programs on both sides, and print their differences."""
    from mt.port.comparison import compared, programs

    chosen = programs(options.names)
    if options.diff:
        for program in chosen:
            sys.stdout.write(difference(program.file))
        return 0
    absent = missing(["torch"])
    if absent:
        return run_in_torch_environment(["port", *arguments], absent)
    from rich.console import Console

    from mt.port.printing import show_outcomes

    outcomes = compared(chosen, options.backend, options.dtype, short=options.short)
    run = f"on backend {options.backend} in {options.dtype}"
    return int(not show_outcomes(outcomes, run, Console()))
