"""Render the graph of a formula as the statements of a kernel.

The statements are Python, one assignment per expression (`t3 = t1 * t2`), which Numba compiles for
the CPU or a GPU. Targets differ in their lowering table (`"exp": "exp({0})"`).

All numbers of a formula have the dtype of the computation: in a float32 loop, 0.5 is rendered as
`float32(0.5)`, since a plain `0.5` would promote the computation to float64. In integer
computations every step is wrapped to the dtype, and fractional values are float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mt_operators import OPERATORS, Formula
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_operators.core.graph import ARITHMETIC, Expression, Graph, Number
from mt_operators.core.graph import PYTHON as NOTATION
from mt_operators.core.lowering import lowered
from mt_tensor import DType, float64, int64, uint64
from mt_tensor.core.dtypes import DTYPES

Table = Mapping[str, str]
"""A lowering table: for each operation of a target, a template with operands `{0}`, `{1}`, ...
Operators without an entry are expanded into operations that have one."""

PYTHON: Table = {
    **NOTATION,
    "abs": "abs({0})",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "bitwise_not": "~{0}",
    "where": "{1} if {0} else {2}",
}
"""The operations that are Python expressions on every target. Both sides of `where` are computed
before it, so that it compiles to a selection without a branch."""


def call(name: str) -> str:
    """Return the template of a call of the function named after an operator."""
    return f"{name}({', '.join(f'{{{i}}}' for i in range(OPERATORS[name].arity))})"


def traced(formula: Formula, table: Table) -> Graph:
    """Return the graph of a formula in operations that the table has."""
    return lowered(formula, table.keys())


COMPUTED = tuple(name for name, t in DTYPES.items() if not t.is_narrow and name != "bool")
"""The dtypes that kernels compute in, by name."""

_REAL = frozenset(name for name, operator in OPERATORS.items() if operator.result == "real")
"""Operators whose value may be fractional even if their arguments are integers."""

COMPUTED_IN_INT64 = {*ARITHMETIC, *(n for n in ELEMENTARY if OPERATORS[n].result == "integer")}
"""Operations that compilers compute in int64 for narrower integers; the result must be wrapped."""


class Rendered(NamedTuple):
    """A rendered formula: assignments, and for each output an expression for its value."""

    statements: tuple[str, ...]
    results: tuple[str, ...]


def computation_type(dtypes: Sequence[DType]) -> DType:
    """Return the dtype in which a formula is computed: the first that is not bool, or int64."""
    return next((dtype for dtype in dtypes if dtype.kind != "bool"), int64)


def constant(value: Number, dtype: DType) -> str:
    """Render a number of a dtype; fractions in integer computations are float64."""
    if dtype.kind == "integer":
        if math.isfinite(value) and value == int(value):
            return f"{dtype.name}({dtype.convert(int(value))})"
        dtype = float64
    return f"{dtype.name}({float(value)!r})"  # inf and nan are names in kernels


def converted(text: str, source: DType, target: DType) -> str:
    """Render the conversion of an expression from one dtype to another, as in C.

    Floats are converted to integers through int64, so that they wrap around; otherwise the result
    would be undefined. Only floats too large for int64 are converted to uint64 directly.
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
) -> Rendered:
    """Render a graph as statements.

    Args:
        graph: a traced formula.
        arguments: for each argument, the name of its variable, of type `dtype`.
        dtype: the dtype of the computation, see `computation_type`.
        stored: for each output, the dtype in which it is stored: `dtype` or bool.
        table: the lowering table; its entries take precedence over those of `PYTHON`.
    """
    templates = {**PYTHON, **table}
    texts: list[str] = []
    types: list[str] = []  # "bool", "number" of type `dtype`, or "real": float64
    statements: list[str] = []
    integers = dtype.kind == "integer"
    for expression in graph.expressions:
        kind = _type(expression, [types[at] for at in expression.operands], dtype)
        types.append(kind)
        if expression.operation == "argument":
            texts.append(arguments[int(expression.number)])
        elif expression.operation == "constant":
            texts.append(constant(expression.number, dtype))
        elif integers and expression.operation in ROUNDING and kind == "number":
            texts.append(texts[expression.operands[0]])
        else:
            template = templates[expression.operation]
            text = template.format(*(texts[at] for at in expression.operands))
            if integers and kind == "number" and expression.operation in COMPUTED_IN_INT64:
                text = f"{dtype.name}({text})"
            texts.append(f"t{len(statements)}")
            statements.append(f"{texts[-1]} = {text}")
    results = tuple(
        _result(texts[at], types[at], dtype, target)
        for at, target in zip(graph.outputs, stored, strict=True)
    )
    return Rendered(tuple(statements), results)


def _type(expression: Expression, operands: Sequence[str], dtype: DType) -> str:
    if expression.is_bool:
        return "bool"
    if dtype.kind != "integer":
        return "number"
    if expression.operation == "constant":
        value = expression.number
        return "number" if math.isfinite(value) and value == int(value) else "real"
    return "real" if expression.operation in _REAL or "real" in operands else "number"


def _result(text: str, kind: str, dtype: DType, target: DType) -> str:
    if kind == "bool":
        if target.kind == "bool":
            return text
        return f"{constant(1, target)} if {text} else {constant(0, target)}"
    return converted(text, float64 if kind == "real" else dtype, target)
