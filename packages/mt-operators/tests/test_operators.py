"""Values of the operators, against NumPy in float64 over the whole domain of each."""

import itertools
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import OPERATORS
from mt_operators.elementary import ELEMENTARY
from mt_operators.testing import SPECIAL, SPECS, OpSpec

SPEC_ROWS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
EDGES = (*SPECIAL, 0.5, -0.5, 1.5, 2.5, -2.5, -3.0, 800.0, -800.0, 5e-324, 1e-30, 1e16, 1e300)


def test_every_operator_has_samples_and_a_note() -> None:
    assert set(SPECS) == set(OPERATORS)
    assert all(row.note for row in OPERATORS.values())
    for name, spec in SPECS.items():
        for (low, high), (least, most) in zip(spec.ranges, OPERATORS[name].domain, strict=True):
            assert least <= low < high <= most


def test_every_elementary_function_is_an_operator() -> None:
    for name, function in ELEMENTARY.items():
        assert OPERATORS[name].function is function
        assert function.__name__ == name
        assert function.__doc__


def oracle(spec: OpSpec, *args: float) -> float:
    # Two elements, for NumPy takes a single exponent of 0.5 for a square root: nan at -inf.
    with np.errstate(all="ignore"):
        return float(spec.oracle(np, *(np.full(2, arg) for arg in args))[0])


def check(spec: OpSpec, *args: float) -> None:
    value = float(OPERATORS[spec.name].function(*args))
    expected = oracle(spec, *args)
    np.testing.assert_allclose(value, expected, rtol=4e-15, atol=5e-324, err_msg=f"at {args}")


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_value_is_the_oracles(spec: OpSpec, data: st.DataObject) -> None:
    domain = OPERATORS[spec.name].domain
    check(spec, *(data.draw(st.floats(*interval)) for interval in domain))
    check(spec, *(data.draw(st.floats(*interval)) for interval in spec.ranges))


@pytest.mark.parametrize("spec", SPEC_ROWS)
def test_special_values_follow_ieee_754(spec: OpSpec) -> None:
    for args in itertools.product(EDGES, repeat=len(spec.ranges)):
        check(spec, *args)


@pytest.mark.parametrize("name", [n for n, row in OPERATORS.items() if row.arity == 1])
@given(data=st.data())
def test_nan_exactly_outside_the_domain(name: str, data: st.DataObject) -> None:
    operator = OPERATORS[name]
    ((low, high),) = operator.domain
    x = data.draw(st.floats(allow_nan=False, allow_infinity=False))
    assert math.isnan(operator.function(x)) == (not low <= x <= high)
    assert operator.result == "truth" or math.isnan(operator.function(math.nan))


def signed(x: float) -> bytes:
    return struct.pack("<d", x)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
@given(st.floats(allow_nan=False))
def test_rounding_is_exact_with_its_sign(name: str, x: float) -> None:
    rounded = OPERATORS[name].function(x)
    assert signed(rounded) == signed(oracle(SPECS[name], x))


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round", "neg", "abs", "square", "pow"])
@given(st.integers())
def test_whole_numbers_stay_exact(name: str, number: int) -> None:
    function = OPERATORS[name].function
    exact = {"neg": -number, "abs": abs(number), "square": number**2, "pow": number**3}
    result = function(number, 3) if name == "pow" else function(number)
    assert result == exact.get(name, number)
    assert isinstance(result, int)


KEEP_ZERO = ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"]
KEEP_ZERO += ["sqrt", "expm1", "log1p", "id", "neg", "sign"]


@pytest.mark.parametrize("name", KEEP_ZERO)
def test_the_sign_of_zero_is_kept(name: str) -> None:
    for zero in (0.0, -0.0):
        assert signed(OPERATORS[name].function(zero)) == signed(-zero if name == "neg" else zero)
