"""Read the calls that are missing from the tables of samples from `calls.txt`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from differential.programs import Elements, Source
from differential.recording import Sample
from mt_tensor.core.dtypes import Array

FILE = Path(__file__).with_name("calls.txt")


def spaced(shape: tuple[int, ...], low: float, high: float) -> Array:
    """Return evenly spaced numbers from `low` to `high`, as an array of a shape."""
    return np.linspace(low, high, int(np.prod(shape))).reshape(shape)


OPERANDS = {
    "x": spaced((2, 3), 0.5, 1.75),
    "y": spaced((3,), 0.5, 1.0),
    "number": np.array(0.5),
    "index": np.array([0, 1]),
    "chances": np.array([[0.0, 0.25, 1.0], [0.5, 1.0, 0.75]]),
    "scores": spaced((4, 2, 3), -2.0, -0.25),
    "labels": np.array([[1, 2], [2, 2]]),
    "lengths": np.array([4, 3]),
    "label_lengths": np.array([2, 1]),
}
"""The tensors in the file."""


def more_samples() -> Iterator[Sample]:
    """Yield the calls of the file."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield _sample(line)


def _sample(line: str) -> Sample:
    """Return a call, or an access of an attribute, as a sample."""
    expression = ast.parse(line, mode="eval").body
    is_call = isinstance(expression, ast.Call)
    args, settings, named = [], {}, expression
    if isinstance(expression, ast.Call):
        named = expression.func
        args = list(map(_value, expression.args))
        settings = {str(each.arg): _value(each.value) for each in expression.keywords}
    form = ast.unparse(named) + "()" * is_call
    first, _, rest = form.partition(".")
    if first == "torch":
        return Sample(form, tuple(args), settings)
    return Sample(f".{rest}", (Elements(OPERANDS[first]), *args), settings)


def _value(node: ast.expr) -> Any:
    """Return the value of an argument, given its expression."""
    if isinstance(node, ast.Name):
        return Elements(OPERANDS[node.id])
    if isinstance(node, ast.Attribute | ast.Lambda):
        return Source(ast.unparse(node))
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.List):
        return list(map(_value, node.elts))
    return ast.literal_eval(node)
