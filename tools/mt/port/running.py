"""Run programs in one process, one after the other: `python -m mt.port.running torch float32`.

It reads lines of JSON with the path of a program and its arguments. After each program it prints a
line of JSON with the error message, or an empty string. The output of the programs is dropped.
"""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from unittest import mock

from mt.port.imports import MIRROR, ported, read

_DOUBLE = {"float32": "float64", "float": "double", "FloatTensor": "DoubleTensor"}
_FLOAT32 = re.compile(r"\bfloat32\b|(?<=\.)float\b|\bFloatTensor\b")


def run(file: Path, arguments: Sequence[str], library: str, dtype: str = "float32") -> None:
    """Run a program in this process.

    Args:
        file: the file of the program.
        arguments: its command-line arguments.
        library: `torch` to run it unchanged; any other name replaces its imports of torch.
        dtype: `float32`, or `float64` to compute in this dtype instead.
    """
    text, tree = read(file)
    if dtype == "float64":
        text = in_float64(text, tree)
        tree = ast.parse(text)
    if library != "torch":
        text = ported(text, tree)
    tensors = import_module("torch" if library == "torch" else MIRROR)
    program = compile(text, file.name, "exec")
    with mock.patch.object(sys, "argv", [str(file), *arguments]), warnings.catch_warnings():
        try:
            exec(program, {"__name__": "__main__", "__file__": str(file)})
        finally:
            tensors.set_default_dtype(tensors.float32)


def in_float64(text: str, tree: ast.Module) -> str:
    """Return a program with float64 in place of float32, also as the default dtype."""
    heads = list(itertools.takewhile(_must_be_first, tree.body))
    lines = text.splitlines(keepends=True)
    line = (heads[-1].end_lineno or 0) if heads else 0
    lines.insert(line, "import torch\ntorch.set_default_dtype(torch.float64)\n")
    return _FLOAT32.sub(lambda found: _DOUBLE[found[0]], "".join(lines))


def _must_be_first(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring or imports from `__future__`."""
    match node:
        case ast.Expr(ast.Constant()) | ast.ImportFrom("__future__"):
            return True
    return False


def main() -> None:
    """Run programs until the input ends."""
    library, dtype = sys.argv[1:]
    for line in sys.stdin:
        file, *arguments = json.loads(line)
        failure = ""
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                run(Path(file), arguments, library, dtype)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - anything that a program raises
                failure = (str(error).strip() or type(error).__name__).splitlines()[-1]
        print(json.dumps(failure), flush=True)


if __name__ == "__main__":
    main()
