"""The curve of an operator and its derivative along one argument, with a numerical check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mt_autodiff import central_difference
from mt_operators import Operator
from mt_operators.testing import SPECS

FAR = 20.0
"""The maximum absolute value of arguments; operators look the same beyond it."""

POINTS = 401
"""The number of points of a curve."""


@dataclass(frozen=True)
class Curve:
    """An operator along one argument.

    Attributes:
        at: the values of the argument.
        values: the values of the operator; None where it is not finite, or jumps.
        derivatives: the values of its partial derivative.
    """

    at: list[float]
    values: list[float | None]
    derivatives: list[float | None]

    def add(self, at: float, value: float, derivative: float) -> None:
        """Add a point; values that are not finite interrupt the line."""
        self.at.append(at)
        self.values.append(value if math.isfinite(value) else None)
        self.derivatives.append(derivative if math.isfinite(derivative) else None)


@dataclass(frozen=True)
class Check:
    """The value and the derivative of an operator at a point.

    Attributes:
        value: the value.
        exact: the partial derivative according to the table.
        numeric: the central difference; None for integer operators.
        kink: whether the operator is not differentiable here, or close to here.
    """

    value: float
    exact: float
    numeric: float | None
    kink: bool


def is_whole(operator: Operator) -> bool:
    """Return whether an operator takes only integers."""
    return operator.result == "integer"


def limits(operator: Operator, argument: int) -> tuple[float, float]:
    """Return the range of values of an argument."""
    low, high = operator.domain[argument]
    return max(low, -FAR), min(high, FAR)


def first_value(operator: Operator, argument: int) -> float:
    """Return an initial value in the domain: at least 0.5, so that arguments differ."""
    low, high = limits(operator, argument)
    wanted = argument + (1.0 if is_whole(operator) else 0.5)
    return wanted if low < wanted < high else (low + high) / 2.0 if high < FAR else low + wanted


def evaluate(operator: Operator, point: Sequence[float], argument: int) -> tuple[float, float]:
    """Return the value at a point, and the partial derivative with respect to an argument."""
    numbers = [int(x) for x in point] if is_whole(operator) else list(point)
    out = operator.function(*numbers)
    return float(out), float(operator.partials[argument](*numbers, out))


def curve(
    operator: Operator, point: Sequence[float], argument: int, low: float, high: float
) -> Curve:
    """Return the curve along one argument, with the others as at the point.

    Integer operators are evaluated only at integers.
    """

    def moved(x: float) -> list[float]:
        return [*point[:argument], x, *point[argument + 1 :]]

    if is_whole(operator):
        at = [float(x) for x in range(math.ceil(low), math.floor(high) + 1)]
    else:
        at = [low + (high - low) * i / (POINTS - 1) for i in range(POINTS)]
    result = Curve([], [], [])
    spec = SPECS.get(operator.name)
    before = None
    for x in at:
        value, slope = evaluate(operator, moved(x), argument)
        kink = math.inf if spec is None else spec.kink(*moved(x))
        if before is not None and before[3] * kink <= 0.0:
            _break(result, before, (x, value, slope))
        result.add(x, value, slope)
        before = x, value, slope, kink
    return result


def _break(
    result: Curve, before: tuple[float, float, float, float], after: tuple[float, float, float]
) -> None:
    """Interrupt the curve between two points on both sides of a kink, if it jumps there.

    A change of the value that the derivatives explain is not a jump.
    """
    width = after[0] - before[0]
    explained = width * max(abs(before[2]), abs(after[2]))
    jumps = abs(after[1] - before[1]) > 1.01 * explained + 1e-9 or before[1] * after[1] < -1.0
    bends = abs(after[2] - before[2]) > 0.1
    middle = before[0] + width / 2.0
    result.add(
        middle,
        math.nan if jumps else (before[1] + after[1]) / 2.0,
        math.nan if bends else (before[2] + after[2]) / 2.0,
    )


def window(numbers: Sequence[float | None]) -> tuple[float, float]:
    """Return a useful range for the y-axis, which cuts off poles and tails."""
    known = sorted(x for x in numbers if x is not None)
    if not known:
        return -1.0, 1.0
    low, high = known[len(known) // 25], known[-1 - len(known) // 25]
    middle, half = (low + high) / 2.0, max((high - low) * 0.75, 0.75)
    return max(middle - half, known[0] - 0.2), min(middle + half, known[-1] + 0.2)


def check(operator: Operator, point: Sequence[float], argument: int) -> Check:
    """Compare the derivative at a point with a central difference."""
    value, exact = evaluate(operator, point, argument)
    if is_whole(operator):
        return Check(value, exact, None, kink=False)
    numeric = float(central_difference(operator.function, *point, arg=argument))
    spec = SPECS.get(operator.name)
    kink = spec is not None and abs(spec.kink(*point)) < 1e-5
    return Check(value, exact, numeric, kink)
