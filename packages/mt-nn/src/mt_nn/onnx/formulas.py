"""Elementwise formulas as nodes: one for each expression of the graph of a formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_nn.errors import ExportError
from mt_nn.onnx.graph import Graph
from mt_operators import Formula
from mt_operators.core.lowering import lowered
from mt_tensor import DType, float32, float64
from mt_tensor import bool as bool_

OPERATORS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "abs": "Abs",
    "pow": "Pow", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "maximum": "Max", "minimum": "Min",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan",
    "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "erf": "Erf", "where": "Where", "and": "And", "or": "Or",
    "floor": "Floor", "ceil": "Ceil", "round": "Round", "sign": "Sign", "relu": "Relu",
    "sigmoid": "Sigmoid", "softplus": "Softplus", "isnan": "IsNaN",
    "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual", "eq": "Equal",
    "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor",
    "bitwise_not": "BitwiseNot",
}  # fmt: skip
"""The operators of ONNX that compute an operator of the table."""

ATOMIC = ("relu", "sigmoid", "sign", "softplus", "isnan")
"""The operators that are not elementary, and are not expanded to their definitions."""

Number = Callable[[float], str]
"""Add a constant with the dtype of the computation, and return its name."""

COMPOSED: dict[str, Callable[..., str]] = {
    "ne": lambda g, number, x, y: g.add("Not", g.add("Equal", x, y)),
    "square": lambda g, number, x: g.add("Mul", x, x),
    "exp2": lambda g, number, x: g.add("Pow", number(2.0), x),
    "expm1": lambda g, number, x: g.add("Sub", g.add("Exp", x), number(1.0)),
    "log1p": lambda g, number, x: g.add("Log", g.add("Add", x, number(1.0))),
    "log2": lambda g, number, x: g.add("Div", g.add("Log", x), number(math.log(2.0))),
    "log10": lambda g, number, x: g.add("Div", g.add("Log", x), number(math.log(10.0))),
    "erfc": lambda g, number, x: g.add("Sub", number(1.0), g.add("Erf", x)),
    "trunc": lambda g, number, x: g.add("Mul", g.add("Sign", x), g.add("Floor", g.add("Abs", x))),
    "hypot": lambda g, number, x, y: g.add(
        "Sqrt", g.add("Add", g.add("Mul", x, x), g.add("Mul", y, y))
    ),
    "floor_divide": lambda g, number, x, y: g.add("Floor", g.add("Div", x, y)),
    "floor_divide of integers": lambda g, number, x, y: g.add(
        "Div", g.add("Sub", x, g.add("Mod", x, y)), y
    ),
    "fmod": lambda g, number, x, y: g.add("Mod", x, y, fmod=1),
}
"""Functions that add several nodes for an operator."""

ROUNDING = ("floor", "ceil", "round", "trunc")
"""Operators that return integers unchanged."""


def add_formula(
    graph: Graph, formula: Formula, operands: Sequence[tuple[Any, DType | None]], outs: list[DType]
) -> list[str]:
    """Add the nodes of a formula, and return the names of its results.

    Args:
        graph: the graph.
        formula: the formula.
        operands: for each argument, the name and the dtype of a value, or a number and None.
        outs: the dtypes of the results.

    Raises:
        ExportError: ONNX has no such operator.
    """
    steps = lowered(formula, ATOMIC)
    dtypes = [dtype for _, dtype in operands if dtype is not None]
    dtype = next((each for each in dtypes if each is not bool_), outs[0])
    is_fractional = any(
        step.operation == "constant" and not float(step.number).is_integer()
        for step in steps.expressions
    )
    if dtype is bool_:
        dtype = float32
    elif dtype.kind == "integer" and is_fractional:
        dtype = float64

    def number(value: float) -> str:
        with np.errstate(over="ignore"):
            return graph.constant(np.asarray(value).astype(dtype.numpy))

    names: list[str] = []
    for step in steps.expressions:
        if step.operation == "argument":
            value, step_dtype = operands[int(step.number)]
            names.append(
                number(value) if step_dtype is None else graph.cast(value, step_dtype, dtype)
            )
        elif step.operation == "constant":
            constant = np.asarray(step.number) if step.is_bool else None
            names.append(number(step.number) if constant is None else graph.constant(constant))
        else:
            inputs = [names[i] for i in step.operands]
            names.append(_add(graph, formula, step.operation, inputs, dtype, number))
    results = []
    for position, out in zip(steps.outputs, outs, strict=True):
        step_dtype = bool_ if steps.expressions[position].is_bool else dtype
        results.append(graph.cast(names[position], step_dtype, out))
    return results


def _add(
    graph: Graph, formula: Formula, operation: str, inputs: list[str], dtype: DType, number: Number
) -> str:
    """Add the nodes of one operation."""
    if dtype.kind == "integer" and operation in ROUNDING:
        return inputs[0]
    if dtype.kind == "integer" and operation == "floor_divide":
        operation = "floor_divide of integers"
    if operation in COMPOSED:
        return COMPOSED[operation](graph, number, *inputs)
    if operation not in OPERATORS:
        via = "" if operation == formula.name else f", which {formula.name} uses"
        raise ExportError(f"ONNX has no operator for {operation}{via}: use other operations.")
    return graph.add(OPERATORS[operation], *inputs)
