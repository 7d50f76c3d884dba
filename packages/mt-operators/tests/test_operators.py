"""The table against its oracles, its derivatives against finite differences, and its laws."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mt_operators import OPERATORS, operators
from mt_operators.testing import SPECIAL, SPECS, OpSpec

SPEC_ROWS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
FINITE = st.floats(-100.0, 100.0)


def test_every_operator_has_samples_and_a_note() -> None:
    assert set(SPECS) == set(OPERATORS)
    assert all(row.note for row in OPERATORS.values())


def oracle(spec: OpSpec, *args: float) -> float:
    with np.errstate(all="ignore"):
        return float(spec.oracle(np, *map(np.float64, args)))


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_value_is_the_oracles(spec: OpSpec, data: st.DataObject) -> None:
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in spec.ranges)))
    value = float(OPERATORS[spec.name].function(*args))
    np.testing.assert_allclose(value, oracle(spec, *args), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("spec", SPEC_ROWS)
def test_special_values_follow_ieee_754(spec: OpSpec) -> None:
    for args in itertools.product((*SPECIAL, 2.5, -3.0, 800.0), repeat=len(spec.ranges)):
        value = float(OPERATORS[spec.name].function(*args))
        expected = oracle(spec, *args)
        np.testing.assert_allclose(value, expected, rtol=1e-12, err_msg=f"{spec.name}{args}")


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_derivatives_are_finite_differences(spec: OpSpec, data: st.DataObject) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in spec.ranges)))
    step = 1e-6
    assume(abs(spec.kink(*args)) > 10 * step)
    out = operator.function(*args)
    for index, partial in enumerate(operator.partials):
        above, below = list(args), list(args)
        above[index] += step
        below[index] -= step
        slope = (operator.function(*above) - operator.function(*below)) / (2 * step)
        scale = max(1.0, abs(float(out)))
        assert partial(*args, out) == pytest.approx(slope, rel=1e-4, abs=1e-7 * scale + 1e-6)


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_fused_gradient_is_the_chain_rule(spec: OpSpec, data: st.DataObject) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in spec.ranges)))
    upstream = data.draw(st.floats(-10, 10))
    out = operator.function(*args)
    expected = [upstream * partial(*args, out) for partial in operator.partials]
    for needed in itertools.product((True, False), repeat=operator.arity):
        if any(needed):
            formula = operator.gradient(needed)
            gradients = formula.function(upstream, *args, out)
            if formula.outputs == 1:
                gradients = (gradients,)
            wanted = [e for e, need in zip(expected, needed, strict=True) if need]
            assert np.array_equal(gradients, wanted, equal_nan=True)


# --- Laws ---------------------------------------------------------------------------------------


@given(FINITE, FINITE, FINITE)
def test_algebra(x: float, y: float, z: float) -> None:
    assert operators.add(x, y) == operators.add(y, x)
    assert operators.mul(x, y) == operators.mul(y, x)
    left = operators.mul(z, operators.add(x, y))
    right = operators.add(operators.mul(z, x), operators.mul(z, y))
    assert left == pytest.approx(right, rel=1e-9, abs=1e-9)


@given(FINITE)
def test_sigmoid(x: float) -> None:
    assert 0.0 <= operators.sigmoid(x) <= 1.0
    assert operators.sigmoid(x) + operators.sigmoid(-x) == pytest.approx(1.0)
    assert operators.sigmoid(0.0) == 0.5
    assert operators.sigmoid(x) <= operators.sigmoid(x + 0.1)


@given(FINITE, FINITE)
def test_course_names(x: float, y: float) -> None:
    assert operators.max(x, y) == max(x, y)
    assert operators.lt(x, y) == (x < y)
    assert operators.eq(x, x)
    assert operators.id(x) == x
    assert operators.is_close(x, x + 0.005)
    assert not operators.is_close(x, x + 0.02)
    assert operators.relu_back(x, y) == (y if x > 0 else 0.0)


@given(st.floats(0.01, 100.0), FINITE)
def test_course_backwards(x: float, d: float) -> None:
    assert operators.log(0.0) == math.log(1e-6)
    assert operators.log_back(x, d) == pytest.approx(d / (x + 1e-6))
    assert operators.inv_back(x, d) == pytest.approx(-d / x**2)


@given(st.lists(FINITE, max_size=8), st.lists(FINITE, max_size=8))
def test_higher_order_functions(xs: list[float], ys: list[float]) -> None:
    assert list(operators.map(operators.inv)([2.0, 4.0])) == [0.5, 0.25]
    assert list(operators.negList(xs)) == [-x for x in xs]
    assert list(operators.addLists(xs, ys)) == [x + y for x, y in zip(xs, ys, strict=False)]
    assert operators.sum(xs) == pytest.approx(math.fsum(xs), abs=1e-9)
    assert operators.prod([]) == 1.0
    assert operators.prod([2.0, 3.0, 4.0]) == 24.0


def test_map_is_lazy() -> None:
    def fail(_: float) -> float:
        raise AssertionError("evaluated")

    operators.map(fail)([1.0])
