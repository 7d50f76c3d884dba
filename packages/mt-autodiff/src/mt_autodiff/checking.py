"""Checks of derivatives against central differences."""

from __future__ import annotations

import math
from collections.abc import Callable

from mt_autodiff.core.errors import GradientError
from mt_autodiff.core.mode import enable_grad
from mt_autodiff.core.numeric import central_difference
from mt_autodiff.core.scalar import Scalar, as_scalar


def derivative_check(
    f: Callable[..., Scalar], *scalars: Scalar, rel: float = 1e-4, tolerance: float = 1e-4
) -> None:
    """Compare the derivatives of `f` at `scalars` with central differences.

    Args:
        f: a function that maps Scalars to a Scalar.
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
        # One step is relative to the point, for functions that vary on its scale; the other is not.
        magnitude = abs(point[index])
        steps = {1e-6 * max(magnitude, minimum) for minimum in (1e-100, 1.0)}
        numeric = [float(central_difference(f, *inputs, arg=index, epsilon=step)) for step in steps]
        if not any(math.isclose(exact, n, rel_tol=rel, abs_tol=tolerance) for n in numeric):
            raise GradientError(
                f"derivative_check: the derivative with respect to argument {index} at {point} is "
                f"{exact}, but the central difference is "
                f"{' or '.join(map(str, sorted(set(numeric))))}."
            )
