"""Rendering: write a traced formula down as the statements of a kernel.

A formula has a graph since stage 0; here it becomes text. The statements are plain Python, one
assignment for each expression (`t3 = t1 * t2`), so that a reader can follow them and Numba can
compile them, for the CPU or for a GPU. What differs between targets is a table: how each operation
is written there (`"exp": "exp({0})"`).

Types are decided here too, for kernel text is typed where Python is not. All numbers of a formula
have the type of the computation; a plain `0.5` in a float32 loop is written `float32(0.5)`, since
it would turn the loop into float64 otherwise. In integer computations every step is wrapped to the
element type, and what has a fraction is computed in float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mt_fast.generation import whole
from mt_operators import OPERATORS, Formula
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_operators.core.graph import ARITHMETIC, Expression, Graph, Number
from mt_operators.core.graph import PYTHON as NOTATION
from mt_operators.core.lowering import lowered
from mt_tensor import DType, float64, int64, uint64
from mt_tensor.extending import DTYPES

Table = Mapping[str, str]
"""How a target writes operations: name to a template with the operands `{0}`, `{1}`, ...; also
operators for which it has a function, though others would be composed of several operations."""

PYTHON: Table = {
    **NOTATION,
    "abs": "abs({0})",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "bitwise_not": "~{0}",
    "where": "{1} if {0} else {2}",
}
"""What is written as in Python on every target. Both sides of `where` are computed before it, so
that compilers make it a selection without a branch."""


def call(name: str) -> str:
    """Return the template of a call of the function of the operator called `name`."""
    return f"{name}({', '.join(f'{{{i}}}' for i in range(OPERATORS[name].arity))})"


def traced(formula: Formula, table: Table) -> Graph:
    """Return the graph of a formula, in which every operator that the target has is one step."""
    return lowered(formula, table.keys())


COMPUTED = tuple(name for name, t in DTYPES.items() if not t.is_narrow and name != "bool")
"""The names of the types that kernels compute in."""

_REAL = frozenset(name for name, operator in OPERATORS.items() if operator.result == "real")
"""Operators whose value has a fraction even where the arguments have none."""


_WIDENED = frozenset(
    (*ARITHMETIC, *whole.NAMES, *(n for n in ELEMENTARY if OPERATORS[n].result == "integer"))
)
"""Operations that compilers, or our own functions, compute in int64 among integers."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A formula as text.

    Attributes:
        statements: one assignment each, in order.
        results: for each output, an expression of its value in the dtype it is stored in.
    """

    statements: tuple[str, ...]
    results: tuple[str, ...]


def computation_type(dtypes: Sequence[DType]) -> DType:
    """Return the type that a formula computes in: that of its inputs; int64 if all are bool."""
    return next((dtype for dtype in dtypes if dtype.kind != "bool"), int64)


def constant(value: Number, dtype: DType) -> str:
    """Return a plain number as text of type `dtype`; float64 for a fraction among integers."""
    if dtype.kind == "integer":
        if math.isfinite(value) and value == int(value):
            return f"{dtype.name}({dtype.convert(int(value))})"
        dtype = float64
    return f"{dtype.name}({float(value)!r})"  # inf and nan are names that kernels know


def converted(text: str, source: DType, target: DType) -> str:
    """Return an expression of one type as an expression of another, converted as C does.

    Floats become integers by way of int64, so that they wrap around instead of being undefined.
    Only what is too large for int64 becomes a uint64 directly.
    """
    if source is target:
        return text
    if target.kind == "bool":
        return f"{text} != {constant(0, source)}"
    if source.kind == "float" and target.kind == "integer" and target is not int64:
        wrapped = f"{target.name}(int64({text}))"
        if target is not uint64:
            return wrapped
        return f"(uint64({text}) if {text} >= {constant(2.0**63, source)} else {wrapped})"
    return f"{target.name}({text})"


def render(
    graph: Graph,
    arguments: Sequence[str],
    dtype: DType,
    stored: Sequence[DType],
    table: Table,
    *,
    prefix: str = "t",
) -> Rendered:
    """Write a graph down.

    Args:
        graph: a traced formula.
        arguments: for each argument, the name of a variable of type `dtype` that holds it.
        dtype: the type of the computation, see `computation_type`.
        stored: for each output, the type that it is stored in: `dtype` or bool.
        table: how the target writes the elementary functions, and whatever it does not write as
            `PYTHON` does.
        prefix: how the names of the variables begin that the statements assign.
    """
    templates = {**PYTHON, **table}
    texts: list[str] = []
    types: list[str] = []  # "truth", "number" of type dtype, or "real": float64 among integers
    statements: list[str] = []
    for expression in graph.expressions:
        kind = _type(expression, [types[at] for at in expression.operands], dtype)
        types.append(kind)
        if expression.operation == "argument":
            texts.append(arguments[int(expression.number)])
        elif expression.operation == "constant":
            texts.append(constant(expression.number, dtype))
        elif expression.operation in ROUNDING and kind == "number" and dtype.kind == "integer":
            texts.append(texts[expression.operands[0]])
        else:
            template = templates[expression.operation]
            text = template.format(*(texts[at] for at in expression.operands))
            if kind == "number" and _widens(expression, dtype):
                text = f"{dtype.name}({text})"
            texts.append(f"{prefix}{len(statements)}")
            statements.append(f"{texts[-1]} = {text}")
    results = tuple(
        _result(texts[at], types[at], dtype, target)
        for at, target in zip(graph.outputs, stored, strict=True)
    )
    return Rendered(tuple(statements), results)


def _type(expression: Expression, operands: Sequence[str], dtype: DType) -> str:
    if expression.is_bool:
        return "truth"
    if dtype.kind != "integer":
        return "number"
    if expression.operation == "constant":
        value = expression.number
        return "number" if math.isfinite(value) and value == int(value) else "real"
    return "real" if expression.operation in _REAL or "real" in operands else "number"


def _widens(expression: Expression, dtype: DType) -> bool:
    """Whether compilers give the value of an operation a wider type than its operands have."""
    return dtype.kind == "integer" and expression.operation in _WIDENED


def _result(text: str, kind: str, dtype: DType, target: DType) -> str:
    if kind == "truth":
        if target.kind == "bool":
            return text
        return f"{constant(1, target)} if {text} else {constant(0, target)}"
    return converted(text, float64 if kind == "real" else dtype, target)
