"""Simplification: expressions that have exactly the value of a simpler one.

An expression passes through here on its way into a graph, which `tracing.py` records. Exactly means
with nan, infinities and signed zeros: `x * 1` is `x`, but `x + 0` is not, since -0 + 0 is 0, nor is
`x * 0` zero, since nan * 0 is nan.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Self, TypeVar

from mt_operators.core.elementary import where
from mt_operators.core.graph import Number
from mt_operators.core.infix import Infix

T = TypeVar("T", bound="Term")


class Term(Infix):
    """A value of a graph, as rules see it: the operation that it comes from, and its operands.

    What is done with it is recorded. The symbols of `tracing.py` are terms.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def operation(self) -> str:
        """What it comes from; see `Expression.operation`."""

    @property
    @abstractmethod
    def operands(self) -> tuple[Self, ...]:
        """What the operation was applied to."""

    @property
    @abstractmethod
    def constant(self) -> Number | None:
        """Its value, if that is known."""

    @abstractmethod
    def is_same(self, other: Self) -> bool:
        """Whether both are one expression, for `==` would be one more."""


def simpler(operation: str, *operands: T) -> T | None:
    """Return a simpler term for an operation on numbers; None if there is none."""
    if len(operands) == 1:
        return _of_one(operation, *operands)
    if len(operands) == 2:
        return _of_two(operation, *operands)
    return None


def _of_one(operation: str, x: T) -> T | None:
    if x.operation == "neg":
        (inner,) = x.operands
        return inner if operation == "neg" else inner.__abs__() if operation == "abs" else None
    if operation == "neg" and x.operation == "where":
        condition, *sides = x.operands
        numbers = [-side.constant for side in sides if side.constant is not None]
        if len(numbers) == 2:
            return _chosen(condition, *numbers)
    return None


def _of_two(operation: str, x: T, y: T) -> T | None:
    a, b = x.constant, y.constant
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


def simpler_choice(condition: T, if_true: T, if_false: T) -> T | None:
    """Return a simpler term for `where(condition, if_true, if_false)`; None if there is none.

    `where(slope == 0, 0, upstream * slope)` is the gradient of operators whose derivative only says
    which argument the value comes from (`gated` in `formula.py`, two files on): `slope` is that
    derivative, `upstream` the gradient of the result. If the slope is itself a choice between two
    constants, one of them 0, all is one choice: the slope's condition decides, and the slope is not
    compared with 0.
    """
    x, y = _decided(condition, if_true, 1), _decided(condition, if_false, 2)
    if x.is_same(y):
        return x
    slope = _compared_with_zero(condition)
    if slope is not None:
        gate, *slopes = slope.operands
        zeros = [side.constant == 0.0 for side in slopes]
        if None not in [side.constant for side in slopes] and sum(zeros) == 1:
            passed = _share(gate, y, 1 + zeros.index(False))
            return _chosen(gate, *((passed, x) if zeros[1] else (x, passed)))
    if not (x.is_same(if_true) and y.is_same(if_false)):
        return _chosen(condition, x, y)
    return None


def _chosen(condition: T, if_true: T | Number, if_false: T | Number) -> T:
    chosen: T = where(condition, if_true, if_false)  # type: ignore[arg-type, assignment]
    return chosen


def _decided(condition: T, side: T, index: int) -> T:
    """Return what remains of a side that is chosen by the same condition once more."""
    while side.operation == "where" and side.operands[0].is_same(condition):
        side = side.operands[index]
    return side


def _compared_with_zero(condition: T) -> T | None:
    """Return the choice of which a condition says that it is 0, if that is what it says."""
    if condition.operation == "eq" and condition.operands[1].constant == 0.0:
        slope = condition.operands[0]
        return slope if slope.operation == "where" else None
    return None


def _share(gate: T, product: T, index: int) -> T:
    """Return a product as it is where a gate is open: `x * where(gate, 1, 0)` is `x` there."""
    if product.operation == "mul":
        x, factor = product.operands
        if factor.operation == "where" and factor.operands[0].is_same(gate):
            return factor.operands[index] * x
    return product
