"""Rewrite expressions as simpler ones with exactly the same value.

The rules also hold for nan, infinities and signed zeros: `x * 1` is `x`, but `x + 0` is not, since
-0 + 0 is 0, and `x * 0` is not 0, since nan * 0 is nan. Each operation is rewritten when it is
traced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mt_operators.core.elementary import where
from mt_operators.core.graph import Number
from mt_operators.core.tracing import REWRITES, Symbol


def simpler(operation: str, operands: Sequence[Symbol]) -> Symbol | None:
    """Return a simpler symbol for an operation, or None if there is none."""
    if operation == "where":
        return _choice(*operands)
    if len(operands) == 1:
        return _of_one(operation, *operands)
    if len(operands) == 2:
        return _of_two(operation, *operands)
    return None


REWRITES.append(simpler)


def _constant(x: Symbol) -> Number | None:
    """Return the value of a constant symbol, otherwise None."""
    return x.expression.number if x.expression.operation == "constant" else None


def _operands(x: Symbol, operation: str) -> tuple[Symbol, ...]:
    """Return the operands of a symbol if the given operation computed it, otherwise `()`."""
    expression = x.expression
    if expression.operation != operation:
        return ()
    return tuple([Symbol(x.recorder, position) for position in expression.operands])


def _of_one(operation: str, x: Symbol) -> Symbol | None:
    for inner in _operands(x, "neg"):
        return inner if operation == "neg" else abs(inner) if operation == "abs" else None
    if operation == "neg" and (choice := _operands(x, "where")):
        numbers = [-number for side in choice[1:] if (number := _constant(side)) is not None]
        if len(numbers) == 2:
            return _chosen(choice[0], *numbers)
    return None


def _of_two(operation: str, x: Symbol, y: Symbol) -> Symbol | None:
    a, b = _constant(x), _constant(y)
    if operation == "mul":
        if a == 1.0:
            return y
        if a == -1.0:
            return -y
        if b == -1.0:
            return -x
    if operation in ("mul", "div") and b == 1.0:
        return x
    if operation == "sub" and b == 0.0 and math.copysign(1.0, b) > 0.0:
        return x
    return None


def _choice(condition: Symbol, if_true: Symbol, if_false: Symbol) -> Symbol | None:
    """Return a simpler symbol for `where(condition, if_true, if_false)`, or None if there is none.

    `where(slope == 0, 0, upstream * slope)` is the gradient of operators whose partial derivatives
    only select an argument (`Operator.vjp`). If the slope is itself a choice between 0 and another
    constant, its condition replaces the comparison with 0.
    """
    x, y = _decided(condition, if_true, 1), _decided(condition, if_false, 2)
    if x.position == y.position:
        return x
    comparison = _operands(condition, "eq")
    slope = _operands(comparison[0], "where") if comparison else ()
    if slope and _constant(comparison[1]) == 0.0:
        decides, *slopes = slope
        constants = [_constant(side) for side in slopes]
        zeros = [constant == 0.0 for constant in constants]
        if None not in constants and sum(zeros) == 1:
            product = _product(decides, y, 1 + zeros.index(False))
            return _chosen(decides, *((product, x) if zeros[1] else (x, product)))
    if x.position != if_true.position or y.position != if_false.position:
        return _chosen(condition, x, y)
    return None


def _chosen(condition: Symbol, if_true: Symbol | Number, if_false: Symbol | Number) -> Symbol:
    chosen: Symbol = where(condition, if_true, if_false)  # type: ignore[arg-type, assignment]
    return chosen


def _decided(condition: Symbol, side: Symbol, index: int) -> Symbol:
    """Simplify one side of a selection: replace a selection by the same condition."""
    while (choice := _operands(side, "where")) and choice[0].position == condition.position:
        side = choice[index]
    return side


def _product(condition: Symbol, product: Symbol, index: int) -> Symbol:
    """Simplify a product for a known condition: `x * where(condition, a, b)` is `a x` or `b x`."""
    if operands := _operands(product, "mul"):
        x, factor = operands
        choice = _operands(factor, "where")
        if choice and choice[0].position == condition.position:
            return choice[index] * x
    return product
