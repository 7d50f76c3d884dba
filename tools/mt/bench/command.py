"""`mt bench`: benchmark this project against torch, on the same programs.

mt bench --backend fast matmul     the rows whose names match this pattern
mt bench --group calls             single calls on tiny tensors, on one thread
mt bench --group calls --count     the number of Python calls of each of these
mt bench --group layers            every layer and loss, forward and backward
mt bench --group jobs              steps of the jobs of mt-train, on random data
mt bench --group steps             whole steps, compiled, against torch, torch.compile and JAX
mt bench --group programs          the torch programs of mt port, eager, on one thread
mt bench parallel GPT              a step on several ranks, and a prediction for many
mt bench startup                   imports and first steps
mt bench chart rows.json out.svg   draw the rows that --json has written
mt bench launches                  count the GPU launches of training steps, without a GPU
mt bench ways softmax              whether an operation is one kernel on a GPU, several, or none
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from mt.arguments import parser_of, positive
from mt.elsewhere import missing, run_elsewhere
from mt.errors import reported

PARTS = ("startup", "chart", "parallel", "launches", "ways")
"""The subcommands besides the comparison: modules of this package."""


def main(arguments: Sequence[str]) -> int:
    """Measure or draw, here or in an environment with the required packages."""
    which = arguments[0] if arguments and arguments[0] in PARTS else ""
    parser = _parser(which)
    options = parser.parse_args(arguments[1:] if which else arguments)
    if not which:
        calls = options.group == "calls"
        if options.count:
            if not calls:
                parser.error("argument --count: only with --group calls")
            options.needs = ["mt_tensor"]
        alone = options.group in ("calls", "programs")
        options.threads = options.threads or [1 if alone else os.cpu_count() or 1]
    with reported("bench"):
        absent = missing(options.needs or [options.against])
        if absent:
            return run_elsewhere(["bench", *arguments], absent)
        import_module(f"mt.bench.{which or _comparison(options)}").run(options)
    return 0


def _comparison(options: argparse.Namespace) -> str:
    """Return the module that measures a group or counts its calls."""
    if options.count:
        return "counting"
    return "steps" if options.group == "steps" else "comparison"


def _parser(which: str) -> argparse.ArgumentParser:
    """Return the argument parser of a subcommand; `needs` lists required modules."""
    parser = parser_of(f"mt bench {which}".strip(), __doc__)
    if which == "startup":
        parser.add_argument("--runs", type=positive, default=15, help="processes for each import")
        parser.set_defaults(needs=["torch"])
    elif which == "parallel":
        parser.add_argument("pattern", help="a part of the name of a step")
        parser.add_argument("--backend", default="fast", help="the backend")
        parser.add_argument(
            "--ranks", type=positive, nargs="+", default=[2], help="the number of ranks"
        )
        parser.add_argument("--steps", type=positive, default=30, help="steps of each measurement")
        parser.add_argument("--rounds", type=positive, default=3, help="measurements of each side")
        parser.add_argument(
            "--alone",
            dest="needs",
            action="store_const",
            const=["matplotlib", "mpi4py"],
            help="do not run torch",
        )
        parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the prediction")
        parser.set_defaults(needs=["torch", "matplotlib", "mpi4py"])
    elif which == "chart":
        parser.add_argument("rows", type=Path, help="a file written by --json")
        parser.add_argument("picture", type=Path, help="an SVG or PNG file to write")
        parser.set_defaults(needs=["matplotlib"])
    elif which in ("launches", "ways"):
        parser.add_argument("--json", action="store_true", help="print the counts for programs")
        if which == "launches":
            parser.add_argument("--each", action="store_true", help="name the kernels, too")
        else:
            parser.add_argument("names", nargs="*", help="the operations (default: all)")
        parser.set_defaults(needs=["mt_cuda"])
    else:
        parser.add_argument(
            "pattern", nargs="?", default="", help="a pattern for the names of rows"
        )
        parser.add_argument(
            "--group",
            choices=("kernels", "calls", "layers", "jobs", "steps", "programs"),
            default="kernels",
        )
        parser.add_argument("--backend", default="numpy", help="the backend")
        parser.add_argument(
            "--threads",
            type=positive,
            action="append",
            help="threads of each side; may be repeated for --group steps",
        )
        parser.add_argument("--rounds", type=positive, default=15, help="measurements of each row")
        parser.add_argument("--against", choices=("torch", "mt_tensor"), default="torch")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
        parser.add_argument(
            "--count",
            action="store_true",
            help="with --group calls: count Python calls instead of measuring time",
        )
        parser.set_defaults(needs=[])
    return parser
