"""The sample table: for each operator, an oracle and the points where it is tested.

Every stage and backend is tested on these rows, which is why they are installed code. A new
operator needs one row here. The oracle receives the NumPy module first, so that this file can
describe NumPy's functions and still import nothing outside the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Interval = tuple[float, float]
"""Lowest and highest value drawn for an argument."""

WIDE: Interval = (-20.0, 20.0)
POSITIVE: Interval = (0.05, 20.0)
NARROW: Interval = (-3.0, 3.0)
TRUTH: Interval = (0.0, 1.0)

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)
"""Values at which every operator is compared with its oracle."""


def _smooth(*_: float) -> float:
    return math.inf


def _difference(x: float, y: float) -> float:
    return x - y


@dataclass(frozen=True)
class OpSpec:
    """How one operator is tested.

    Attributes:
        name: the operator's name in the table.
        oracle: `oracle(numpy, *arrays)`, the expected value in float64.
        domain: for each argument, the interval from which it is drawn.
        kink: zero where the operator is not differentiable; its size tells how far away that is.
            Finite differences are never taken across it.
        tolerance: for each dtype, the largest relative error that is accepted.
    """

    name: str
    oracle: Callable[..., Any]
    domain: tuple[Interval, ...]
    kink: Callable[..., float] = _smooth
    tolerance: dict[str, float] = field(
        default_factory=lambda: {"float64": 1e-12, "float32": 4e-6, "float16": 8e-3}
    )


SPECS: dict[str, OpSpec] = {}
"""The rows by operator name."""


def sample(name: str, oracle: Callable[..., Any], *domain: Interval, **rest: Any) -> OpSpec:
    """Add a row to `SPECS` and return it; the arguments are those of `OpSpec`."""
    SPECS[name] = OpSpec(name, oracle, domain, **rest)
    return SPECS[name]


sample("id", lambda np, x: x, WIDE)
sample("neg", lambda np, x: -x, WIDE)
sample("add", lambda np, x, y: x + y, WIDE, WIDE)
sample("sub", lambda np, x, y: x - y, WIDE, WIDE)
sample("mul", lambda np, x, y: x * y, WIDE, WIDE)
sample("div", lambda np, x, y: x / y, WIDE, POSITIVE)
sample("inv", lambda np, x: 1.0 / x, POSITIVE)
sample("pow", lambda np, x, y: np.power(x, y), POSITIVE, NARROW)
sample("square", lambda np, x: x * x, WIDE)
sample("abs", lambda np, x: np.abs(x), WIDE, kink=lambda x: x)
sample("exp", lambda np, x: np.exp(x), (-10.0, 10.0))
sample("log", lambda np, x: np.log(x), POSITIVE)
sample("sqrt", lambda np, x: np.sqrt(x), POSITIVE)
sample("sin", lambda np, x: np.sin(x), WIDE)
sample("cos", lambda np, x: np.cos(x), WIDE)
sample("tanh", lambda np, x: np.tanh(x), WIDE)
sample("sigmoid", lambda np, x: 1.0 / (1.0 + np.exp(-x)), WIDE)
sample("relu", lambda np, x: np.maximum(x, 0.0), WIDE, kink=lambda x: x)
sample("maximum", lambda np, x, y: np.maximum(x, y), WIDE, WIDE, kink=_difference)
sample("minimum", lambda np, x, y: np.minimum(x, y), WIDE, WIDE, kink=_difference)
sample("where", lambda np, c, x, y: np.where(c, x, y), TRUTH, WIDE, WIDE, kink=lambda c, x, y: c)
sample("floor", lambda np, x: np.floor(x), WIDE, kink=lambda x: x - round(x))
sample("lt", lambda np, x, y: x < y, WIDE, WIDE, kink=_difference)
sample("le", lambda np, x, y: x <= y, WIDE, WIDE, kink=_difference)
sample("gt", lambda np, x, y: x > y, WIDE, WIDE, kink=_difference)
sample("ge", lambda np, x, y: x >= y, WIDE, WIDE, kink=_difference)
sample("eq", lambda np, x, y: x == y, WIDE, WIDE, kink=_difference)
sample("ne", lambda np, x, y: x != y, WIDE, WIDE, kink=_difference)
sample(
    "is_close",
    lambda np, x, y: np.abs(x - y) < 1e-2,
    WIDE,
    WIDE,
    kink=lambda x, y: abs(x - y) - 1e-2,
)
sample("logical_and", lambda np, x, y: np.logical_and(x, y), TRUTH, TRUTH, kink=lambda x, y: x * y)
sample("logical_or", lambda np, x, y: np.logical_or(x, y), TRUTH, TRUTH, kink=lambda x, y: x * y)
sample("logical_not", lambda np, x: np.logical_not(x), TRUTH, kink=lambda x: x)
