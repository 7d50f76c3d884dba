"""Formulas as NumPy code, for those that are not one function of NumPy.

The graph of a formula (`mt_operators.core.graph`) is written as one function of arrays:

>>> from mt_operators import OPERATORS
>>> print(numpy_source(OPERATORS["tanh"].gradient((True,))))
def tanh_gradient_0(x0, x1, x2):
    return x0 * (1.0 - (x2 * x2))

A value that is used once stays within its expression, so that NumPy can reuse its memory.
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
from mt_tensor.core.numpy_functions import SPECIAL_CASES, typed

ATOMIC = ("sigmoid", "sign")
"""Operators that have a function of arrays, though they could be composed."""

_OPERATIONS = {**PYTHON, "div": "{0} / {1}"}
"""Python's operators, which arrays have."""

_DEEPEST = 20
"""How far expressions are nested before one of them gets a name."""

Write = Callable[[Graph, Expression, Sequence[str]], str]
"""How to write an operation, given the text of its operands."""


def numpy_source(formula: Formula) -> str:
    """Return the text of a formula as a function of NumPy arrays.

    Raises:
        TracingError: the formula branches on a value, or uses something that arrays do not have.
    """
    return written(lowered(formula, ATOMIC), formula.name, repr)


def numpy_function(
    formula: Formula, functions: Mapping[str, Callable[..., Any]], dtype: np.dtype[Any]
) -> Callable[..., Any]:
    """Return a formula as a function of NumPy arrays, all of whose results are new.

    Args:
        formula: what to compute.
        functions: the elementary functions but `where`, and the operators of `ATOMIC`, on arrays.
        dtype: the dtype of the computation, which the formula's constants take.

    Raises:
        TracingError: the formula branches on a value, or uses something that arrays do not have.
    """
    namespace: dict[str, Any] = {
        **functions,
        "where": np.where,
        "as_bool": _as_bool,
        "copy": np.copy,
    }

    def named(number: Number) -> str:
        name = f"c{len(namespace)}"
        namespace[name] = typed(number, dtype)
        return name

    graph = lowered(formula, ATOMIC)
    for_large = SPECIAL_CASES.get("formula")
    opening = "" if for_large is None else for_large(graph, named, namespace)
    text = written(graph, "on_arrays", named, opening)
    exec(compile(text, f"<{formula.name} on arrays>", "exec"), namespace)
    function: Callable[..., Any] = namespace["on_arrays"]
    return function


def _as_bool(condition: Any) -> Any:
    """Return an argument that may be of bool, or of the dtype of the computation, as bool."""
    return condition if condition.dtype == np.bool_ else condition != 0


def written(
    graph: Graph,
    name: str,
    constant: Callable[[Number], str],
    opening: str = "",
    special: Mapping[str, Write] | None = None,
) -> str:
    """Return the text of a formula as a function.

    Args:
        graph: the formula.
        name: the name of the function.
        constant: how a plain number is written.
        opening: a statement before the computation.
        special: operations that are written in another way.
    """
    uses = Counter(at for expression in graph.expressions for at in expression.operands)
    uses.update(graph.outputs)
    texts: list[str] = []
    operands: list[str] = []  # the same, in parentheses where they are needed as an operand
    depths: list[int] = []
    lines = [opening] if opening else []
    named = 0
    for position, expression in enumerate(graph.expressions):
        operation = expression.operation
        depth = 1 + max((depths[at] for at in expression.operands), default=-1)
        parts = [operands[at] for at in expression.operands]
        infix = False
        if operation == "argument":
            text = f"x{expression.number}"
        elif operation == "constant":
            text = constant(expression.number)
        elif operation == "ne" and _is_condition(graph, expression):
            text = f"as_bool({parts[0]})"
        elif special and operation in special:
            text = special[operation](graph, expression, parts)
        elif operation in _OPERATIONS:
            text, infix = _OPERATIONS[operation].format(*parts), True
        else:
            text = f"{operation}({', '.join(texts[at] for at in expression.operands)})"
        if expression.operands and (uses[position] > 1 or depth > _DEEPEST):
            lines.append(f"t{named} = {text}")
            text, depth, infix, named = f"t{named}", 0, False, named + 1
        texts.append(text)
        operands.append(f"({text})" if infix else text)
        depths.append(depth)
    results = []
    for number, at in enumerate(graph.outputs):
        computed = graph.expressions[at].operation not in ("argument", "constant")
        new = computed and at not in graph.outputs[:number]
        results.append(texts[at] if new else f"copy({texts[at]})")
    arguments = ", ".join(f"x{i}" for i in range(graph.arity))
    return "\n    ".join((f"def {name}({arguments}):", *lines, f"return {', '.join(results)}"))


def _is_condition(graph: Graph, expression: Expression) -> bool:
    """Whether a comparison reads an argument as a condition, `x != 0`."""
    left, right = expression.operands
    return graph.expressions[left].operation == "argument" and is_zero(graph, right)


def is_zero(graph: Graph, at: int) -> bool:
    """Whether an expression is the number 0, without a sign."""
    found = graph.expressions[at]
    zero = found.operation == "constant" and found.number == 0.0
    return zero and math.copysign(1.0, found.number) > 0.0
