"""Formulas as NumPy code: what the `numpy` backend runs for operators that NumPy does not have.

The graph of a formula (`mt_operators.core.graph`) is written down as one function of
arrays, in which NumPy's own functions and operators do each step:

>>> from mt_operators import OPERATORS
>>> print(numpy_source(OPERATORS["tanh"].gradient((True,))))
def tanh_gradient_0(x0, x1, x2):
    return x0 * (1.0 - (x2 * x2))

What is used once stays within its expression, so that NumPy can reuse the memory of what it has
just computed. Large arrays go through the function in blocks (`blocks.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_operators.core.graph import PYTHON, Expression, Graph, Number
from mt_operators.core.lowering import lowered
from mt_tensor.core.numpy_blocks import LARGE, in_blocks
from mt_tensor.core.numpy_choices import choose, keep
from mt_tensor.core.numpy_functions import typed

ATOMIC = ("sigmoid", "sign")
"""Operators that have a function of arrays, though other stages compose them."""

_OPERATIONS = {**PYTHON, "div": "{0} / {1}"}
"""What Python's operators on arrays are."""

_DEEPEST = 20
"""How far expressions are nested before one of them gets a name."""


def numpy_source(formula: Formula) -> str:
    """Return the text of a formula as a function of NumPy arrays.

    Raises:
        TracingError: the formula branches on a value, or uses something that arrays do not have.
    """
    return _written(lowered(formula, ATOMIC), formula.name, repr)


def numpy_function(
    formula: Formula, functions: Mapping[str, Callable[..., Any]], dtype: np.dtype[Any]
) -> Callable[..., Any]:
    """Return a formula as a function of NumPy arrays, all of whose results are new.

    Args:
        formula: what to compute.
        functions: the elementary functions but `where`, and the operators of `ATOMIC`, on arrays.
        dtype: the type that the formula computes in, which its plain numbers take.

    Raises:
        TracingError: the formula branches on a value, or uses something that arrays do not have.
    """
    namespace: dict[str, Any] = {
        **functions,
        "where": np.where,
        "choose": choose,
        "keep": keep,
        "truth": _truth,
        "copy": np.copy,
        "in_blocks": in_blocks,
    }

    def named(number: Number) -> str:
        name = f"c{len(namespace)}"
        namespace[name] = typed(number, dtype)
        return name

    graph = lowered(formula, ATOMIC)
    steps = sum(bool(expression.operands) for expression in graph.expressions)
    text = _written(graph, "on_arrays", named, _ON_MANY if steps > 1 else "")
    if steps > 1:
        text += "\n\n" + _written(graph, "on_many", named, _IN_BLOCKS, branches=False)
    exec(compile(text, f"<{formula.name} on arrays>", "exec"), namespace)
    function: Callable[..., Any] = namespace["on_arrays"]
    return function


MANY = 2048
"""From so many elements on, choices take more time in NumPy's `where` than in several calls."""

_ON_MANY = f"if x0.size >= {MANY}: return on_many({{arguments}})"
_IN_BLOCKS = f"if x0.size >= {LARGE}: return in_blocks(on_many, {{arguments}})"
"""How functions leave larger arrays to others. Of a single step that is no gain."""


def _truth(condition: Any) -> Any:
    """Return an argument, which may be of bool or of the type of the computation, as bool."""
    return condition if condition.dtype == np.bool_ else condition != 0


def _written(
    graph: Graph,
    name: str,
    constant: Callable[[Number], str],
    opening: str = "",
    branches: bool = True,
) -> str:
    """Return the text of a formula as a function.

    Args:
        graph: the formula.
        name: that of the function.
        constant: how a plain number is written.
        opening: what comes before the computation; in it `{arguments}` stands for the arguments.
        branches: whether choices are made by `where`, and not without branches.
    """
    uses = Counter(at for expression in graph.expressions for at in expression.operands)
    uses.update(graph.outputs)
    texts: list[str] = []
    operands: list[str] = []  # the same, in parentheses where it must be as a part of another
    depths: list[int] = []
    lines: list[str] = []
    for position, expression in enumerate(graph.expressions):
        operation = expression.operation
        depth = 1 + max((depths[at] for at in expression.operands), default=-1)
        parts = [operands[at] for at in expression.operands]
        bare = False
        if operation == "argument":
            text = f"x{expression.number}"
        elif operation == "constant":
            text = constant(expression.number)
        elif operation == "ne" and _asks_for_truth(graph, expression):
            text = f"truth({parts[0]})"
        elif operation == "where" and not branches:
            text = _chosen(graph, expression, parts)
        elif operation in _OPERATIONS:
            text, bare = _OPERATIONS[operation].format(*parts), True
        else:
            text = f"{operation}({', '.join(texts[at] for at in expression.operands)})"
        if expression.operands and (uses[position] > 1 or depth > _DEEPEST):
            lines.append(f"t{len(lines)} = {text}")
            text, depth, bare = f"t{len(lines) - 1}", 0, False
        texts.append(text)
        operands.append(f"({text})" if bare else text)
        depths.append(depth)
    results = []
    for number, at in enumerate(graph.outputs):
        made = graph.expressions[at].operation not in ("argument", "constant")
        new = made and at not in graph.outputs[:number]
        results.append(texts[at] if new else f"copy({texts[at]})")
    lines.append(f"return {', '.join(results)}")
    arguments = ", ".join(f"x{i}" for i in range(graph.arity))
    before = [opening.format(arguments=arguments)] if opening else []
    return "\n    ".join((f"def {name}({arguments}):", *before, *lines))


def _chosen(graph: Graph, choice: Expression, operands: Sequence[str]) -> str:
    """Return the text of a choice without branches."""
    condition, x, y = operands
    if _is_zero(graph, choice.operands[2]):
        return f"keep({condition}, {x})"
    if _is_zero(graph, choice.operands[1]):
        return f"keep(~{condition}, {y})"
    return f"choose({condition}, {x}, {y})"


def _asks_for_truth(graph: Graph, expression: Expression) -> bool:
    """Whether a comparison is how a condition among the arguments was read."""
    left, right = expression.operands
    return graph.expressions[left].operation == "argument" and _is_zero(graph, right)


def _is_zero(graph: Graph, at: int) -> bool:
    """Whether an expression is the number 0, without a sign."""
    found = graph.expressions[at]
    zero = found.operation == "constant" and found.number == 0.0
    return zero and math.copysign(1.0, found.number) > 0.0
