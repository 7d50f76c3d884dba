"""The scalar operators and higher-order functions of the MiniTorch course, under its names.

The scalar operators are rows of the table. Two differ from the table: `log` adds 1e-6 to its
argument, so `log(0)` is finite, and `max` is `maximum`. As `id`, `max`, `map` and `sum` are also
built-in, write `from mt_operators import operators` and `operators.map(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from mt_operators.core.elementary import log as _log
from mt_operators.core.table import OPERATORS

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

EPS = 1e-6
"""The constant that `log` adds to its argument."""

mul = OPERATORS["mul"].function
"""The product `x * y`."""

id = OPERATORS["id"].function
"""The argument itself."""

add = OPERATORS["add"].function
"""The sum `x + y`."""

neg = OPERATORS["neg"].function
"""The negative `-x`."""

lt = OPERATORS["lt"].function
"""Whether `x < y`."""

eq = OPERATORS["eq"].function
"""Whether `x == y`."""

max = OPERATORS["maximum"].function
"""The larger argument; nan if either is nan."""

is_close = OPERATORS["is_close"].function
"""Whether `x` and `y` differ by less than 0.01."""

sigmoid = OPERATORS["sigmoid"].function
"""The logistic function `1 / (1 + exp(-x))`."""

relu = OPERATORS["relu"].function
"""The maximum of `x` and 0."""

exp = OPERATORS["exp"].function
"""The exponential function."""

inv = OPERATORS["inv"].function
"""The reciprocal `1 / x`."""


def log(x: float) -> float:
    """Return the natural logarithm of `x + 1e-6`."""
    return _log(x + EPS)


def log_back(x: float, d: float) -> float:
    """Return `d` times the derivative of `log` at `x`."""
    slope: float = OPERATORS["log"].partials[0](x + EPS, log(x))
    return d * slope


def inv_back(x: float, d: float) -> float:
    """Return `d` times the derivative of `inv` at `x`."""
    slope: float = OPERATORS["inv"].partials[0](x, inv(x))
    return d * slope


def relu_back(x: float, d: float) -> float:
    """Return `d` times the derivative of `relu` at `x`."""
    slope: float = OPERATORS["relu"].partials[0](x, relu(x))
    return d * slope


# --- Higher-order functions ---------------------------------------------------------------------


def map(fn: Callable[[A], B]) -> Callable[[Iterable[A]], Iterable[B]]:
    """Return a function that applies `fn` to each element, lazily."""
    return lambda values: (fn(value) for value in values)


def zipWith(fn: Callable[[A, B], C]) -> Callable[[Iterable[A], Iterable[B]], Iterable[C]]:
    """Return a function that combines two sequences element by element, lazily.

    The result is as long as the shorter of the two.
    """
    return lambda left, right: (fn(x, y) for x, y in zip(left, right, strict=False))


def reduce(fn: Callable[[B, A], B], start: B) -> Callable[[Iterable[A]], B]:
    """Return a function that folds a sequence from the left: `fn(fn(start, x1), x2)` and so on."""

    def fold(values: Iterable[A]) -> B:
        result = start
        for value in values:
            result = fn(result, value)
        return result

    return fold


def negList(values: Iterable[float]) -> Iterable[float]:
    """Negate each element, lazily."""
    return map(neg)(values)


def addLists(left: Iterable[float], right: Iterable[float]) -> Iterable[float]:
    """Add two sequences element by element, lazily."""
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    """Add up a sequence; 0 when it is empty."""
    return reduce(add, 0.0)(values)


def prod(values: Iterable[float]) -> float:
    """Multiply a sequence; 1 when it is empty."""
    return reduce(mul, 1.0)(values)
