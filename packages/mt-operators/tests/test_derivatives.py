"""Partial derivatives of the operators, compared with central differences in high precision.

A central difference in float64 loses half of its digits, and more for large numbers. These are
computed with a thousand digits: mpmath evaluates the operator's graph at both points.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mt_operators import OPERATORS, Operator
from mt_operators.core.lowering import evaluate
from mt_operators.core.tracing import graph_of
from mt_operators.testing import SPECS, OpSpec, high_precision

SPEC_PARAMS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
LARGEST_FLOAT = 1.7976931348623157e308
HIGH_PRECISION = high_precision(mpmath)


def distance_to_edge(operator: Operator, spec: OpSpec, args: tuple[float, ...]) -> float:
    """Return the distance of the arguments to a kink or an end of the domain, at most 1."""
    distances = (
        abs(x - end) for x, ends in zip(args, operator.domain, strict=True) for end in ends
    )
    return min(1.0, abs(spec.kink(*args)), *distances)


def central_difference(operator: Operator, args: tuple[float, ...], index: int, h: float) -> Any:
    """Return a partial derivative in high precision.

    The step is `h`, the distance to the nearest kink, divided by 1e330, so that it is small enough
    even for an exponent of 1e300.
    """
    with mpmath.workdps(1000 - 2 * int(math.log10(h))):
        step = mpmath.mpf(h) / mpmath.mpf(10) ** 330
        above, below = [mpmath.mpf(x) for x in args], [mpmath.mpf(x) for x in args]
        above[index] += step
        below[index] -= step
        values = [
            evaluate(graph_of(operator.value), args, HIGH_PRECISION)[0] for args in (above, below)
        ]
        return (values[0] - values[1]) / (2 * step)


def arguments(spec: OpSpec) -> st.SearchStrategy[tuple[float, ...]]:
    """Return a strategy for arguments: moderate numbers, or any normal numbers of the domain.

    Subnormal numbers are excluded: their reciprocals overflow where the derivative does not, and
    they have fewer digits than are compared.
    """
    whole_domain = (
        st.floats(low, high, allow_infinity=False, allow_nan=False, allow_subnormal=False)
        for low, high in OPERATORS[spec.name].domain
    )
    moderate = (st.floats(low, high, allow_subnormal=False) for low, high in spec.ranges)
    return st.one_of(st.tuples(*moderate), st.tuples(*whole_domain))


@pytest.mark.parametrize("spec", SPEC_PARAMS)
@given(data=st.data())
def test_partial_derivatives_match_central_differences(spec: OpSpec, data: st.DataObject) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(arguments(spec))
    h = distance_to_edge(operator, spec, args)
    assume(h > 0.0)
    out = operator.function(*args)
    assume(math.isfinite(out))
    for index, partial in enumerate(operator.partials):
        derivative = partial(*args, out)
        exact = central_difference(operator, args, index, h)
        if abs(exact) > LARGEST_FLOAT:
            assert derivative == math.copysign(math.inf, exact)
        else:
            assert derivative == pytest.approx(float(exact), rel=1e-12, abs=1e-15)


MAGNITUDES = (
    1e-300,
    1e-100,
    1e-20,
    1e-8,
    1e-4,
    0.3,
    1.0,
    9.3,
    40.0,
    700.0,
    1e10,
    1e20,
    1e100,
    1e300,
)
OFFSETS_FROM_END = (1e-15, 1e-10, 1e-5, 1e-2)
ABSOLUTE_ERROR = {
    **dict.fromkeys(
        ("tanh", "sigmoid", "expm1"), "computed from the value, which is rounded near its limits"
    ),
    "celu": "near 0 the two terms of the derivative with respect to alpha cancel",
}
"""Operators whose derivatives have an absolute error of up to 1e-15, and why."""


def edge_arguments(operator: Operator) -> Iterator[tuple[float, ...]]:
    """Yield arguments of every magnitude and sign, and close to the ends of the domain."""
    sizes = MAGNITUDES[:: (1, 3, 4)[operator.arity - 1]]
    columns = []
    for ends in operator.domain:
        near = (end + side for end in ends for step in OFFSETS_FROM_END for side in (-step, step))
        points = (0.0, *sizes, *(-size for size in sizes), *near)
        columns.append([x for x in points if ends[0] <= x <= ends[1] and math.isfinite(x)])
    return itertools.product(*columns)


def is_close(found: float, exact: Any, tolerance: float, absolute: float) -> bool:
    """Return whether a float is close to a high-precision number, rounded to a float or inf."""
    expected = float(exact) if abs(exact) <= LARGEST_FLOAT else math.copysign(math.inf, exact)
    return found == expected or math.isclose(found, expected, rel_tol=tolerance, abs_tol=absolute)


@pytest.mark.parametrize("spec", SPEC_PARAMS)
def test_values_and_derivatives_are_accurate_at_all_magnitudes(spec: OpSpec) -> None:
    """Nothing overflows, underflows or cancels unless the exact value or derivative does."""
    operator = OPERATORS[spec.name]
    absolute = 1e-15 if spec.name in ABSOLUTE_ERROR else 1e-307
    for args in edge_arguments(operator):
        h, out = distance_to_edge(operator, spec, args), float(operator.function(*args))
        if not h > 1e-200 or not math.isfinite(out):
            continue
        if spec.size is None:
            with mpmath.workdps(700):
                (value,) = evaluate(
                    graph_of(operator.value), [mpmath.mpf(x) for x in args], HIGH_PRECISION
                )
                exact = mpmath.mpf(value)
            assert is_close(out, exact, 4e-15, absolute), args
        for index, partial in enumerate(operator.partials):
            exact = central_difference(operator, args, index, h)
            assert is_close(partial(*args, out), exact, 1e-12, absolute), (args, index)


SPECIAL_POINTS: list[tuple[str, tuple[float, ...], tuple[float, ...]]] = [
    # kinks: conventions of the table
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
    ("acosh", (-1.0,), (math.inf,)),
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
    # nan
    ("id", (math.nan,), (1.0,)),
    ("abs", (math.nan,), (math.nan,)),
    ("relu", (math.nan,), (1.0,)),
    ("maximum", (math.nan, 0.0), (1.0, 1.0)),
    ("maximum", (0.0, math.nan), (1.0, 1.0)),
    ("minimum", (math.nan, 0.0), (1.0, 1.0)),
    ("minimum", (0.0, math.nan), (1.0, 1.0)),
    ("leaky_relu", (math.nan, 0.5), (0.5, math.nan)),
    ("xlogy", (0.0, math.nan), (math.nan, math.nan)),
    ("xlogy", (math.nan, 2.0), (math.log(2.0), math.nan)),
    ("hypot", (math.nan, 0.0), (math.nan, math.nan)),
    ("sqrt", (math.nan,), (math.nan,)),
    # outside the domain: some formulas continue, as in torch, and others give nan
    ("acosh", (-3.0,), (math.sqrt(0.125),)),
    ("acosh", (-math.inf,), (0.0,)),
    ("acosh", (0.5,), (math.nan,)),
    ("acosh", (-0.5,), (math.nan,)),
    ("atanh", (3.0,), (-0.125,)),
    ("log", (-2.0,), (-0.5,)),
    ("log1p", (-3.0,), (-0.5,)),
    ("xlogy", (0.0, -1.0), (0.0, -0.0)),
    ("xlogy", (2.0, -1.0), (math.nan, -2.0)),
    ("sqrt", (-1.0,), (math.nan,)),
    ("rsqrt", (-1.0,), (math.nan,)),
    ("asin", (2.0,), (math.nan,)),
    ("acos", (-2.0,), (math.nan,)),
    ("erfinv", (2.0,), (math.nan,)),
    # large arguments
    ("asinh", (1e200,), (1e-200,)),
    ("acosh", (1e200,), (1e-200,)),
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
    ("sinc", (2.0**52 + 1.0,), (-1.0 / (2.0**52 + 1.0),)),
]
"""Operator, arguments, and expected partial derivatives."""


@pytest.mark.parametrize(
    ("name", "point", "derivative"),
    SPECIAL_POINTS,
    ids=[f"{name}-{','.join(map(str, point))}" for name, point, _ in SPECIAL_POINTS],
)
def test_derivatives_at_special_arguments_have_expected_values(
    name: str, point: tuple[float, ...], derivative: tuple[float, ...]
) -> None:
    operator = OPERATORS[name]
    out = operator.function(*point)
    found = tuple(partial(*point, out) for partial in operator.partials)
    assert found == pytest.approx(derivative, rel=1e-15, abs=0.0, nan_ok=True)


@given(st.floats(-1e3, -1e-3), st.integers(-9, 9))
def test_derivative_with_respect_to_exponent_is_nan_for_negative_base(x: float, n: int) -> None:
    power = OPERATORS["pow"]
    by_x, by_n = (partial(x, float(n), power.function(x, float(n))) for partial in power.partials)
    assert by_x == pytest.approx(n * x ** (n - 1))
    assert math.isnan(by_n)


@pytest.mark.parametrize("spec", SPEC_PARAMS)
@given(data=st.data())
def test_gradient_formula_is_upstream_times_partial_derivatives(
    spec: OpSpec, data: st.DataObject
) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(arguments(spec))
    upstream = data.draw(st.floats(-10, 10))
    out = operator.function(*args)
    derivatives = [partial(*args, out) for partial in operator.partials]
    expected = [upstream * derivative for derivative in derivatives]
    for needed in itertools.product((True, False), repeat=operator.arity):
        if any(needed):
            formula = operator.gradient(needed)
            gradients = formula.function(upstream, *args, out)
            if formula.outputs == 1:
                gradients = (gradients,)
            selected = [e for e, need in zip(expected, needed, strict=True) if need]
            assert np.array_equal(gradients, selected, equal_nan=True)


@pytest.mark.parametrize("name", [n for n in SPECS if OPERATORS[n].selects])
@given(data=st.data())
def test_selecting_operators_have_zero_gradient_where_derivative_is_zero(
    name: str, data: st.DataObject
) -> None:
    operator = OPERATORS[name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in SPECS[name].ranges)))
    out = operator.function(*args)
    gradients = operator.gradient((True,) * operator.arity).function(math.inf, *args, out)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    derivatives = [partial(*args, out) for partial in operator.partials]
    assert list(gradients) == [0.0 if derivative == 0.0 else math.inf for derivative in derivatives]
