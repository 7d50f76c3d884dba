"""Formulas as NumPy code: what the `numpy` backend runs for operators that NumPy does not have.

A formula is traced (`mt_operators.tracing`), and its graph is written down as one function of
arrays, in which NumPy's own functions and operators do each step:

>>> from mt_operators import OPERATORS
>>> print(numpy_source(OPERATORS["tanh"].gradient((True,))))
def tanh_gradient_0(x0, x1, x2):
    return x0 * (1.0 - (x2 * x2))

What is used once stays within its expression, so that NumPy can reuse the memory of what it has
just computed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_operators.tracing import PYTHON, Expression, Graph, Number, trace
from mt_tensor.dtypes import Array

ATOMIC = ("sign",)
"""Operators that NumPy has, though other stages compose them."""

_OPERATIONS = {**PYTHON, "div": "{0} / {1}"}
"""What Python's operators on arrays are."""

_DEEPEST = 20
"""How far expressions are nested before one of them gets a name."""


def numpy_source(formula: Formula) -> str:
    """Return the text of a formula as a function of NumPy arrays.

    Raises:
        TracingError: the formula branches on a value, or uses something that arrays do not have.
    """
    return _written(formula, formula.name, repr)


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
        "truth": _truth,
        "copy": np.copy,
    }

    def named(number: Number) -> str:
        name = f"c{len(namespace)}"
        namespace[name] = _typed(number, dtype)
        return name

    text = _written(formula, "on_arrays", named)
    exec(compile(text, f"<{formula.name} on arrays>", "exec"), namespace)
    function: Callable[..., Any] = namespace["on_arrays"]
    return function


def _typed(number: Number, dtype: np.dtype[Any]) -> Array:
    """Return a number as an array, which NumPy takes in half the time of a Python number."""
    fraction = not math.isfinite(number) or number != int(number)
    return np.asarray(number).astype(np.float64 if dtype.kind in "iu" and fraction else dtype)


def _truth(condition: Any) -> Any:
    """Return an argument, which may be of bool or of the type of the computation, as bool."""
    return condition if condition.dtype == np.bool_ else condition != 0


def _written(formula: Formula, name: str, constant: Callable[[Number], str]) -> str:
    """Return the text of a formula under a name, with each plain number written by `constant`."""
    graph = trace(formula, ATOMIC)
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
    return "\n    ".join((f"def {name}({arguments}):", *lines))


def _asks_for_truth(graph: Graph, expression: Expression) -> bool:
    """Whether a comparison is how a condition among the arguments was read."""
    left, right = (graph.expressions[at] for at in expression.operands)
    zero = right.operation == "constant" and right.number == 0.0
    return zero and left.operation == "argument"
