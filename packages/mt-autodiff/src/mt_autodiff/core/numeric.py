"""Numerical derivatives by central differences, to check the exact ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def central_difference(
    f: Callable[..., Any], *vals: Any, arg: int = 0, epsilon: float = 1e-6
) -> Any:
    """Approximate the partial derivative of `f` at `vals`.

    The result is `(f(..., x + epsilon, ...) - f(..., x - epsilon, ...)) / (2 epsilon)`. Its error
    is of the order of epsilon squared, and its rounding error of the order of `1e-16 f / epsilon`.
    The divisor is the distance of the two points after rounding.

    Args:
        f: a function of numbers, or of any type that adds and subtracts numbers.
        *vals: the point at which to differentiate.
        arg: the index of the argument; negative indices count from the end.
        epsilon: half the width of the difference.

    Raises:
        ValueError: `arg` is out of range, or `epsilon` is too small to change the argument.
    """
    if not -len(vals) <= arg < len(vals):
        raise ValueError(f"central_difference: arg={arg} is out of range for {len(vals)} value(s).")
    upper, lower = list(vals), list(vals)
    upper[arg] = vals[arg] + epsilon
    lower[arg] = vals[arg] - epsilon
    width = upper[arg] - lower[arg]  # 2 epsilon, rounded
    if not float(width):
        raise ValueError(f"central_difference: epsilon={epsilon} is too small for {vals[arg]}.")
    return (f(*upper) - f(*lower)) / width
