"""central_difference and derivative_check on functions of floats."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_autodiff import Scalar, central_difference, derivative_check

FINITE = st.floats(-10.0, 10.0)


@given(FINITE, FINITE, FINITE)
def test_central_difference_of_polynomial_is_its_derivative(a: float, b: float, x: float) -> None:
    slope = central_difference(lambda x: a * x * x + b * x, x)
    assert slope == pytest.approx(2.0 * a * x + b, abs=1e-6)


@given(FINITE, FINITE)
def test_arg_selects_the_argument_and_may_be_negative(x: float, y: float) -> None:
    def product(x: float, y: float) -> float:
        return x * x * y

    by_x, by_y = 2.0 * x * y, x * x
    for arg, slope in ((0, by_x), (1, by_y), (-1, by_y), (-2, by_x)):
        assert central_difference(product, x, y, arg=arg) == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("epsilon", [1e-1, 1e-2, 1e-3])
def test_central_difference_error_is_of_order_epsilon_squared(epsilon: float) -> None:
    error = central_difference(math.exp, 0.0, epsilon=epsilon) - 1.0
    assert error == pytest.approx(epsilon**2 / 6.0, rel=0.01)


def test_central_difference_calls_function_half_a_step_to_each_side() -> None:
    points = []
    central_difference(lambda x, y: points.append((x, y)) or x, 3.0, 5.0, arg=1, epsilon=0.5)
    assert sorted(points) == [(3.0, 4.5), (3.0, 5.5)]


def test_central_difference_rejects_bad_arg_and_too_small_epsilon() -> None:
    with pytest.raises(ValueError, match="arg=2 is out of range for 2 value"):
        central_difference(lambda x, y: x, 1.0, 2.0, arg=2)
    for value, epsilon in ((1.0, 0.0), (1e20, 1e-6)):
        with pytest.raises(ValueError, match="is too small for"):
            central_difference(lambda x: x, value, epsilon=epsilon)


@pytest.mark.parametrize("point", [0.0, 1e-9, 0.5, 3.0, -1e6])
@pytest.mark.parametrize("scale", [3e-4, 1.0, 1e3])
def test_derivative_check_passes_for_quickly_varying_functions(point: float, scale: float) -> None:
    """A step relative to a small point would be lost in the rounding error of the added 1."""
    wide = max(scale, 1e-3 * abs(point))
    derivative_check(lambda x: 1.0 + wide * (x * (1.0 / wide)).sin(), Scalar(point))
