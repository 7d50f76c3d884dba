"""Derivatives by finite differences, to check those of backpropagation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mt_autodiff.core.errors import GradientError
from mt_autodiff.core.mode import enable_grad
from mt_autodiff.core.scalar import Scalar, as_scalar


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


def derivative_check(
    f: Callable[..., Scalar], *scalars: Scalar, rel: float = 1e-4, tolerance: float = 1e-4
) -> None:
    """Check the derivatives of `f` at `scalars` against central differences.

    Args:
        f: from Scalars to a Scalar.
        *scalars: the point at which to check.
        rel: the relative tolerance.
        tolerance: the absolute tolerance.

    Raises:
        GradientError: a derivative differs by more than both tolerances.
    """
    with enable_grad():
        inputs = [Scalar(float(scalar)) for scalar in scalars]
        result = as_scalar(f(*inputs))
        if result.requires_grad:
            result.backward()
    point = [scalar.data for scalar in inputs]
    for index, variable in enumerate(inputs):
        exact = 0.0 if variable.derivative is None else float(variable.derivative)
        # Relative to the point, for functions that vary on its scale, or else on the scale of 1.
        size = abs(point[index])
        steps = {1e-6 * max(size, least) for least in (1e-100, 1.0)}
        numeric = [float(central_difference(f, *inputs, arg=index, epsilon=step)) for step in steps]
        if not any(math.isclose(exact, n, rel_tol=rel, abs_tol=tolerance) for n in numeric):
            raise GradientError(
                f"the derivative by argument {index} at {point} is {exact}, but the central "
                f"difference is {' or '.join(map(str, sorted(set(numeric))))}."
            )
