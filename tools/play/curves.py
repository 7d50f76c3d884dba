"""The curve of an operator and its derivative along one argument, and a numeric check of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mt_autodiff import central_difference
from mt_operators import Operator
from mt_operators.testing import SPECS

FAR = 20.0
"""How far from 0 arguments may be: everywhere else, operators look as they do there."""

POINTS = 401
"""How many points a curve has."""


@dataclass(frozen=True)
class Curve:
    """An operator along one argument.

    Attributes:
        at: the values of the argument.
        values: those of the operator there; None where it has none, or jumps.
        derivatives: those of its partial derivative.
    """

    at: list[float]
    values: list[float | None]
    derivatives: list[float | None]

    def add(self, at: float, value: float, derivative: float) -> None:
        """Add a point; what is not finite breaks the line."""
        self.at.append(at)
        self.values.append(value if math.isfinite(value) else None)
        self.derivatives.append(derivative if math.isfinite(derivative) else None)


@dataclass(frozen=True)
class Check:
    """What an operator and its derivative are at a point.

    Attributes:
        value: of the operator.
        exact: the partial derivative as its row of the table says.
        numeric: the central difference; None where that is none, for operators of whole numbers.
        kink: whether the operator is not differentiable here, nor nearly.
    """

    value: float
    exact: float
    numeric: float | None
    kink: bool


def is_whole(operator: Operator) -> bool:
    """Whether an operator takes whole numbers only."""
    return operator.result == "integer"


def limits(operator: Operator, argument: int) -> tuple[float, float]:
    """Return between which numbers an argument can be chosen."""
    low, high = operator.domain[argument]
    return max(low, -FAR), min(high, FAR)


def first_value(operator: Operator, argument: int) -> float:
    """Return a value inside the domain to begin with: 0.5 or more, so that arguments differ."""
    low, high = limits(operator, argument)
    wanted = argument + (1.0 if is_whole(operator) else 0.5)
    return wanted if low < wanted < high else (low + high) / 2.0 if high < FAR else low + wanted


def evaluate(operator: Operator, point: Sequence[float], argument: int) -> tuple[float, float]:
    """Return the value at a point, and the partial derivative by an argument."""
    numbers = [int(x) for x in point] if is_whole(operator) else list(point)
    out = operator.function(*numbers)
    return float(out), float(operator.partials[argument](*numbers, out))


def curve(
    operator: Operator, point: Sequence[float], argument: int, low: float, high: float
) -> Curve:
    """Return an operator along one argument, the others as at the point.

    Operators of whole numbers are computed at these only.
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
    """Break the curve between two points that a kink is between, if it jumps there.

    The slopes on either side explain a step of the value that is no jump.
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
    """Return between which heights a curve is worth looking at: poles and tails are cut off."""
    known = sorted(x for x in numbers if x is not None)
    if not known:
        return -1.0, 1.0
    low, high = known[len(known) // 25], known[-1 - len(known) // 25]
    middle, half = (low + high) / 2.0, max((high - low) * 0.75, 0.75)
    return max(middle - half, known[0] - 0.2), min(middle + half, known[-1] + 0.2)


def check(operator: Operator, point: Sequence[float], argument: int) -> Check:
    """Compare the derivative at a point with a difference of values."""
    value, exact = evaluate(operator, point, argument)
    if is_whole(operator):
        return Check(value, exact, None, kink=False)
    numeric = float(central_difference(operator.function, *point, arg=argument))
    spec = SPECS.get(operator.name)
    kink = spec is not None and abs(spec.kink(*point)) < 1e-5
    return Check(value, exact, numeric, kink)
