"""Derivatives of the operators, over the whole domain of each.

A central difference in float64 loses half of the digits, and more where numbers are large. These
are taken with a thousand digits: the operator's graph is evaluated with mpmath's
functions, and differenced there.
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
        above, below = [mpmath.mpf(x) for x in args], [mpmath.mpf(x) for x in args]
        above[index] += step
        below[index] -= step
        values = [evaluate(graph_of(operator.value), args, EXACT)[0] for args in (above, below)]
        return (values[0] - values[1]) / (2 * step)


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


SIZES = (1e-300, 1e-100, 1e-20, 1e-8, 1e-4, 0.3, 1.0, 9.3, 40.0, 700.0, 1e10, 1e20, 1e100, 1e300)
FROM_AN_END = (1e-15, 1e-10, 1e-5, 1e-2)
BY_THE_VALUE = {
    **dict.fromkeys(("tanh", "sigmoid", "expm1"), "near a limit the value has no digits to give"),
    "celu": "near 0 the two terms of the derivative by alpha cancel",
}
"""Operators whose derivatives are exact to 1e-15, and not relatively, with the reason."""


def edges(operator: Operator) -> Iterator[tuple[float, ...]]:
    """Yield arguments of every size, on both sides of 0 and close to the ends of the domain."""
    sizes = SIZES[:: (1, 3, 4)[operator.arity - 1]]
    columns = []
    for ends in operator.domain:
        near = (end + side for end in ends for step in FROM_AN_END for side in (-step, step))
        points = (0.0, *sizes, *(-size for size in sizes), *near)
        columns.append([x for x in points if ends[0] <= x <= ends[1] and math.isfinite(x)])
    return itertools.product(*columns)


def agrees(found: float, exact: Any, tolerance: float, absolute: float) -> bool:
    """Whether a float is a number of many digits, or both are none, or too large."""
    wanted = float(exact) if abs(exact) <= LARGEST else math.copysign(math.inf, exact)
    return found == wanted or math.isclose(found, wanted, rel_tol=tolerance, abs_tol=absolute)


@pytest.mark.parametrize("spec", SPEC_ROWS)
def test_digits_are_kept_at_every_size_and_at_the_ends(spec: OpSpec) -> None:
    """Nothing overflows, underflows or cancels where the exact value or derivative does not."""
    operator = OPERATORS[spec.name]
    absolute = 1e-15 if spec.name in BY_THE_VALUE else 1e-307
    for args in edges(operator):
        h, out = room(operator, spec, args), float(operator.function(*args))
        if not h > 1e-200 or not math.isfinite(out):
            continue
        if spec.size is None:
            with mpmath.workdps(700):
                (value,) = evaluate(graph_of(operator.value), [mpmath.mpf(x) for x in args], EXACT)
                exact = mpmath.mpf(value)
            assert agrees(out, exact, 4e-15, absolute), args
        for index, partial in enumerate(operator.partials):
            exact = central_difference(operator, args, index, h)
            assert agrees(partial(*args, out), exact, 1e-12, absolute), (args, index)


SPECIAL_POINTS: list[tuple[str, tuple[float, ...], tuple[float, ...]]] = [
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
    # beyond the domain: where the formula goes on, as torch's does, and where it does not
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
"""Operators, arguments, and what the partial derivatives are there."""


@pytest.mark.parametrize(
    ("name", "point", "slope"),
    SPECIAL_POINTS,
    ids=[f"{name}-{','.join(map(str, point))}" for name, point, _ in SPECIAL_POINTS],
)
def test_derivatives_at_special_points(
    name: str, point: tuple[float, ...], slope: tuple[float, ...]
) -> None:
    operator = OPERATORS[name]
    out = operator.function(*point)
    found = tuple(partial(*point, out) for partial in operator.partials)
    assert found == pytest.approx(slope, rel=1e-15, abs=0.0, nan_ok=True)


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


@pytest.mark.parametrize("name", [n for n in SPECS if OPERATORS[n].selects])
@given(data=st.data())
def test_gates_pass_nothing_where_the_slope_is_zero(name: str, data: st.DataObject) -> None:
    operator = OPERATORS[name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in SPECS[name].ranges)))
    out = operator.function(*args)
    gradients = operator.gradient((True,) * operator.arity).function(math.inf, *args, out)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    slopes = [partial(*args, out) for partial in operator.partials]
    assert list(gradients) == [0.0 if slope == 0.0 else math.inf for slope in slopes]
