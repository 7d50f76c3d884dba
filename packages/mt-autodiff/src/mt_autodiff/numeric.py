"""Derivatives by finite differences, to check the exact ones against."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mt_autodiff.errors import GradientError
from mt_autodiff.scalar import Scalar


def central_difference(
    f: Callable[..., Any], *vals: Any, arg: int = 0, epsilon: float = 1e-6
) -> Any:
    """Return an approximation of the partial derivative of `f` at `vals`.

    That is `(f(..., x + epsilon, ...) - f(..., x - epsilon, ...)) / (2 epsilon)`, with an error
    of the order of epsilon squared.

    Args:
        f: a function of numbers, or of anything that adds and subtracts numbers.
        *vals: where to differentiate.
        arg: the index of the argument to differentiate by.
        epsilon: half the width of the difference.
    """
    above, below = list(vals), list(vals)
    above[arg] = vals[arg] + epsilon
    below[arg] = vals[arg] - epsilon
    return (f(*above) - f(*below)) / (2.0 * epsilon)


def derivative_check(
    f: Callable[..., Scalar], *scalars: Scalar, rel: float = 1e-4, tolerance: float = 1e-4
) -> None:
    """Check the derivatives of `f` at `scalars` against central differences.

    An argument that the result does not depend on has derivative 0.

    Raises:
        GradientError: one differs by more than `tolerance` plus `rel` times its size; the
            message gives the argument and both numbers.
    """
    inputs = [Scalar(scalar.data) for scalar in scalars]
    result = f(*inputs)
    if result.requires_grad:
        result.backward()
    for index, variable in enumerate(inputs):
        exact = 0.0 if variable.derivative is None else float(variable.derivative)
        numeric = float(central_difference(f, *inputs, arg=index))
        if not math.isclose(exact, numeric, rel_tol=rel, abs_tol=tolerance):
            raise GradientError(
                f"the derivative by argument {index} at {[s.data for s in inputs]} is {exact}, "
                f"but the central difference is {numeric}."
            )
