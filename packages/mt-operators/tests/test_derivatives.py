"""Derivatives of the operators, over the whole domain of each.

A central difference in float64 loses half of the digits, and more where numbers are large. These
are taken with a thousand digits: the operator's own source is lifted to mpmath's numbers, and
differenced there.
"""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mt_operators import OPERATORS, Operator, lift
from mt_operators.testing import SPECS, OpSpec, high_precision

SPEC_ROWS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
LARGEST = 1.7976931348623157e308


EXACT = high_precision(mpmath)


def room(operator: Operator, spec: OpSpec, args: tuple[float, ...]) -> float:
    """Return how far the arguments are from a kink and from the ends of the domain."""
    edges = (abs(x - end) for x, ends in zip(args, operator.domain, strict=True) for end in ends)
    return min(1.0, abs(spec.kink(*args)), *edges)


def central_difference(operator: Operator, args: tuple[float, ...], index: int, h: float) -> Any:
    """Return the partial derivative, with more digits than a float64 can hold.

    The step is far smaller than the room `h`, even for a power of 1e300.
    """
    with mpmath.workdps(1000 - 2 * int(math.log10(h))):
        step = mpmath.mpf(h) / mpmath.mpf(10) ** 330
        function = lift(operator.function, EXACT)
        above, below = [mpmath.mpf(x) for x in args], [mpmath.mpf(x) for x in args]
        above[index] += step
        below[index] -= step
        return (function(*above) - function(*below)) / (2 * step)


def arguments(spec: OpSpec) -> st.SearchStrategy[tuple[float, ...]]:
    """Return a strategy for arguments: moderate numbers, or any of the domain but subnormal ones.

    No subnormal numbers: their reciprocals overflow also where the derivative does not, and they
    hold fewer digits than are compared.
    """
    anywhere = (
        st.floats(low, high, allow_infinity=False, allow_nan=False, allow_subnormal=False)
        for low, high in OPERATORS[spec.name].domain
    )
    moderate = (st.floats(low, high, allow_subnormal=False) for low, high in spec.ranges)
    return st.one_of(st.tuples(*moderate), st.tuples(*anywhere))


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_derivatives_are_central_differences(spec: OpSpec, data: st.DataObject) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(arguments(spec))
    h = room(operator, spec, args)
    assume(h > 0.0)
    out = operator.function(*args)
    assume(math.isfinite(out))
    for index, partial in enumerate(operator.partials):
        slope = partial(*args, out)
        exact = central_difference(operator, args, index, h)
        if abs(exact) > LARGEST:
            assert slope == math.copysign(math.inf, exact)
        else:
            assert slope == pytest.approx(float(exact), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "point", "slope"),
    [
        # kinks, by the table's conventions
        ("abs", (0.0,), (0.0,)),
        ("abs", (-0.0,), (0.0,)),
        ("relu", (0.0,), (0.0,)),
        ("sign", (0.0,), (0.0,)),
        ("maximum", (2.0, 2.0), (0.5, 0.5)),
        ("minimum", (2.0, 2.0), (0.5, 0.5)),
        ("floor", (2.0,), (0.0,)),
        ("round", (2.5,), (0.0,)),
        ("where", (0.0, 5.0, 7.0), (0.0, 0.0, 1.0)),
        ("clamp_min", (0.0, 0.0), (1.0, 0.0)),
        ("clamp_max", (0.0, 0.0), (1.0, 0.0)),
        ("clamp", (1.0, 1.0, 2.0), (1.0, 0.0, 0.0)),
        ("clamp", (2.0, 1.0, 2.0), (1.0, 0.0, 0.0)),
        ("clamp", (5.0, 2.0, 1.0), (0.0, 0.0, 1.0)),
        ("hardtanh", (1.0, 1.0, 2.0), (0.0, 1.0, 0.0)),
        ("hardtanh", (2.0, 1.0, 2.0), (0.0, 0.0, 1.0)),
        ("relu6", (0.0,), (0.0,)),
        ("relu6", (6.0,), (0.0,)),
        ("hardsigmoid", (-3.0,), (0.0,)),
        ("hardsigmoid", (3.0,), (0.0,)),
        ("hardswish", (-3.0,), (0.0,)),
        ("hardswish", (3.0,), (1.0,)),
        ("leaky_relu", (0.0, 0.5), (0.5, 0.0)),
        ("elu", (0.0, 0.5), (0.5, 0.0)),
        ("celu", (0.0, 0.5), (1.0, 0.0)),
        ("copysign", (0.0, -1.0), (0.0, 0.0)),
        ("copysign", (2.0, -0.0), (-1.0, 0.0)),
        ("hypot", (0.0, 0.0), (0.0, 0.0)),
        ("atan2", (0.0, 0.0), (0.0, 0.0)),
        ("xlogy", (0.0, 0.0), (0.0, 0.0)),
        ("xlogy", (0.0, 2.0), (math.log(2.0), 0.0)),
        # ends of the domain
        ("sqrt", (0.0,), (math.inf,)),
        ("rsqrt", (0.0,), (-math.inf,)),
        ("log", (0.0,), (math.inf,)),
        ("log1p", (-1.0,), (math.inf,)),
        ("asin", (1.0,), (math.inf,)),
        ("acos", (-1.0,), (-math.inf,)),
        ("acosh", (1.0,), (math.inf,)),
        ("atanh", (1.0,), (math.inf,)),
        ("pow", (0.0, 2.0), (0.0, 0.0)),
        ("pow", (0.0, 1.0), (1.0, 0.0)),
        ("pow", (0.0, 0.0), (0.0, 0.0)),
        ("pow", (5e-324, 0.0), (0.0, math.log(5e-324))),
        # infinities
        ("silu", (-math.inf,), (0.0,)),
        ("silu", (math.inf,), (1.0,)),
        ("quick_gelu", (-math.inf,), (0.0,)),
        ("quick_gelu", (math.inf,), (1.0,)),
        ("gelu", (-math.inf,), (0.0,)),
        ("gelu", (math.inf,), (1.0,)),
        ("gelu_tanh", (-math.inf,), (0.0,)),
        ("gelu_tanh", (math.inf,), (1.0,)),
        ("mish", (-math.inf,), (0.0,)),
        ("mish", (math.inf,), (1.0,)),
        ("softsign", (math.inf,), (0.0,)),
        ("elu", (-math.inf, 2.0), (0.0, -1.0)),
        ("celu", (-math.inf, 2.0), (0.0, -1.0)),
        ("logaddexp", (math.inf, math.inf), (0.5, 0.5)),
        ("logaddexp", (-math.inf, 0.0), (0.0, 1.0)),
        ("atan2", (1.0, math.inf), (0.0, -0.0)),
        ("exp", (-math.inf,), (0.0,)),
        ("exp", (math.inf,), (math.inf,)),
        ("log", (math.inf,), (0.0,)),
        ("sqrt", (math.inf,), (0.0,)),
        ("tanh", (math.inf,), (0.0,)),
        ("tanh", (-math.inf,), (0.0,)),
        ("sigmoid", (math.inf,), (0.0,)),
        ("sigmoid", (-math.inf,), (0.0,)),
        ("softplus", (math.inf,), (1.0,)),
        ("softplus", (-math.inf,), (0.0,)),
        ("erf", (math.inf,), (0.0,)),
        ("atan", (-math.inf,), (0.0,)),
        ("asinh", (math.inf,), (0.0,)),
        ("acosh", (math.inf,), (0.0,)),
        ("relu", (-math.inf,), (0.0,)),
        ("relu", (math.inf,), (1.0,)),
        ("abs", (-math.inf,), (-1.0,)),
        ("inv", (math.inf,), (-0.0,)),
        ("div", (1.0, math.inf), (0.0, -0.0)),
        ("maximum", (math.inf, 1.0), (1.0, 0.0)),
        # large arguments
        ("sigmoid", (-1000.0,), (0.0,)),
        ("softplus", (1000.0,), (1.0,)),
        ("tanh", (1000.0,), (0.0,)),
        ("erf", (1000.0,), (0.0,)),
        ("ndtr", (-1e200,), (0.0,)),
        ("square", (1e200,), (2e200,)),
        ("gelu", (-1e200,), (0.0,)),
        ("gelu_tanh", (1e200,), (1.0,)),
        ("gelu_tanh", (-1e200,), (0.0,)),
        ("hypot", (3e200, 0.0), (1.0, 0.0)),
        ("atan2", (1e200, 1e200), (5e-201, -5e-201)),
        ("logaddexp", (1e200, -1e200), (1.0, 0.0)),
    ],
)
def test_derivatives_at_special_points(
    name: str, point: tuple[float, ...], slope: tuple[float, ...]
) -> None:
    operator = OPERATORS[name]
    out = operator.function(*point)
    assert tuple(partial(*point, out) for partial in operator.partials) == slope


@given(st.floats(-1e3, -1e-3), st.integers(-9, 9))
def test_a_whole_power_of_a_negative_number(x: float, n: int) -> None:
    power = OPERATORS["pow"]
    by_x, by_n = (partial(x, float(n), power.function(x, float(n))) for partial in power.partials)
    assert by_x == pytest.approx(n * x ** (n - 1))
    assert math.isnan(by_n)


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_fused_gradient_is_the_chain_rule(spec: OpSpec, data: st.DataObject) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(arguments(spec))
    upstream = data.draw(st.floats(-10, 10))
    out = operator.function(*args)
    slopes = [partial(*args, out) for partial in operator.partials]
    expected = [upstream * slope for slope in slopes]
    for needed in itertools.product((True, False), repeat=operator.arity):
        if any(needed):
            formula = operator.gradient(needed)
            gradients = formula.function(upstream, *args, out)
            if formula.outputs == 1:
                gradients = (gradients,)
            wanted = [e for e, need in zip(expected, needed, strict=True) if need]
            assert np.array_equal(gradients, wanted, equal_nan=True)


@pytest.mark.parametrize("name", [n for n in SPECS if OPERATORS[n].gates])
@given(data=st.data())
def test_gates_pass_nothing_where_the_slope_is_zero(name: str, data: st.DataObject) -> None:
    operator = OPERATORS[name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in SPECS[name].ranges)))
    out = operator.function(*args)
    gradients = operator.gradient((True,) * operator.arity).function(math.inf, *args, out)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    slopes = [partial(*args, out) for partial in operator.partials]
    assert list(gradients) == [0.0 if slope == 0.0 else math.inf for slope in slopes]
