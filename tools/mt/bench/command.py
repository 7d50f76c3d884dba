"""`mt bench`: benchmark this project against torch, on the same programs.

mt bench --backend fast matmul     the rows whose names match this pattern
mt bench --group calls             single calls on tiny tensors, on one thread
mt bench --group layers            every layer and loss, forward and backward
mt bench --group jobs              steps of the jobs of mt-train, on random data
mt bench --group steps             whole steps, compiled, against torch, torch.compile and JAX
mt bench --group programs          the torch programs of mt port, eager, on one thread
mt bench launches                  count the GPU launches of training steps, without a GPU
mt bench ways softmax              whether an operation is one kernel on a GPU, several, or none
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module

from mt.arguments import parser_of, positive
from mt.errors import reported
from mt.torch_environment import missing, run_in_torch_environment

PARTS = ("launches", "ways")
"""The subcommands besides the comparison: modules of this package."""


def main(arguments: Sequence[str]) -> int:
    """Measure or count, here or in an environment with the required packages."""
    which = arguments[0] if arguments and arguments[0] in PARTS else ""
    options = _parser(which).parse_args(arguments[1:] if which else arguments)
    with reported("bench"):
        absent = missing(options.needs or [options.against])
        if absent:
            return run_in_torch_environment(["bench", *arguments], absent)
        import_module(f"mt.bench.{which or 'comparison'}").run(options)
    return 0


def _parser(which: str) -> argparse.ArgumentParser:
    """Return the argument parser of a subcommand; `needs` lists required modules."""
    parser = parser_of(f"mt bench {which}".strip(), __doc__)
    if which == "ways":
        parser.add_argument("names", nargs="*", help="the operations (default: all)")
        parser.set_defaults(needs=["mt_cuda"])
        return parser
    parser.add_argument("pattern", nargs="?", default="", help="a pattern for the names of rows")
    if which == "launches":
        parser.add_argument("--each", action="store_true", help="name the kernels, too")
        parser.set_defaults(needs=["mt_cuda"])
        return parser
    parser.add_argument(
        "--group",
        choices=("kernels", "calls", "layers", "jobs", "steps", "programs"),
        default="kernels",
    )
    parser.add_argument("--backend", default="numpy", help="the backend")
    parser.add_argument(
        "--threads", type=positive, action="append", help="threads of each side; may be repeated"
    )
    parser.add_argument("--rounds", type=positive, default=15, help="measurements of each row")
    parser.add_argument("--against", choices=("torch", "mt_tensor"), default="torch")
    parser.add_argument("--json", action="store_true", help="print each row as a line of JSON")
    parser.set_defaults(needs=[])
    return parser
