"""Formulas as NumPy code to read, and for large arrays: in blocks, without branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mt_operators import Formula
from mt_operators.core.graph import Expression, Graph
from mt_operators.core.lowering import lowered
from mt_tensor.core.dtypes import Number
from mt_tensor.core.numpy_functions import ATOMIC, LARGE, SPECIAL_CASES, is_zero, written
from mt_tensor.large_arrays.blocks import in_blocks
from mt_tensor.large_arrays.choices import choose, keep

MANY = 2048
"""From so many elements on, choices take more time in NumPy's `where` than in several calls."""


def for_large_arrays(
    graph: Graph, constant: Callable[[Number], str], namespace: dict[str, Any]
) -> str:
    """Add `on_many` to a namespace, and return the statement that leaves larger arrays to it.

    A formula of a single step has no gain from either, and gets none.
    """
    if sum(bool(expression.operands) for expression in graph.expressions) < 2:
        return ""
    arguments = ", ".join(f"x{i}" for i in range(graph.arity))
    namespace |= {"choose": choose, "keep": keep, "in_blocks": in_blocks}
    blocks = f"if x0.size >= {LARGE}: return in_blocks(on_many, {arguments})"
    text = written(graph, "on_many", constant, blocks, {"where": _chosen})
    exec(compile(text, "<formula on many elements>", "exec"), namespace)
    return f"if x0.size >= {MANY}: return on_many({arguments})"


def _chosen(graph: Graph, choice: Expression, operands: Sequence[str]) -> str:
    """Return the text of a choice without branches."""
    condition, x, y = operands
    if is_zero(graph, choice.operands[2]):
        return f"keep({condition}, {x})"
    if is_zero(graph, choice.operands[1]):
        return f"keep(~{condition}, {y})"
    return f"choose({condition}, {x}, {y})"


def numpy_source(formula: Formula) -> str:
    """Return the text of a formula as a function of NumPy arrays.

    >>> from mt_operators import OPERATORS
    >>> print(numpy_source(OPERATORS["tanh"].gradient((True,))))
    def tanh_gradient_0(x0, x1, x2):
        return x0 * (1.0 - (x2 * x2))

    Raises:
        TracingError: the formula branches on a value, or uses something that arrays do not have.
    """
    return written(lowered(formula, ATOMIC), formula.name, repr)


SPECIAL_CASES["formula"] = for_large_arrays
