"""Derivatives by central differences, which check the exact ones of the following files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def central_difference(
    f: Callable[..., Any], *vals: Any, arg: int = 0, epsilon: float = 1e-6
) -> Any:
    """Return an approximation of the partial derivative of `f` at `vals`.

    That is `(f(..., x + epsilon, ...) - f(..., x - epsilon, ...)) / (2 epsilon)`, with an error
    of the order of epsilon squared, and a rounding error of the order of `1e-16 f / epsilon`. The
    divisor is the distance of the two points after rounding, not exactly 2 epsilon.

    Args:
        f: a function of numbers, or of any type that adds and subtracts numbers.
        *vals: the point at which to differentiate.
        arg: the index of the argument; a negative one counts from the end.
        epsilon: half the width of the difference.
    """
    if not -len(vals) <= arg < len(vals):
        raise ValueError(f"there are {len(vals)} value(s), but none of index {arg}.")
    above, below = list(vals), list(vals)
    above[arg] = vals[arg] + epsilon
    below[arg] = vals[arg] - epsilon
    width = above[arg] - below[arg]  # not quite 2 epsilon, after rounding
    if not float(width):
        raise ValueError(f"epsilon {epsilon} is lost beside {vals[arg]}: give a larger one.")
    return (f(*above) - f(*below)) / width
