"""Values of the operators, compared with NumPy in float64 over their domains."""

import itertools
import math
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import OPERATORS
from mt_operators.core.elementary import ELEMENTARY
from mt_operators.functions import special
from mt_operators.testing import INTEGER_SPECS, SPECIAL, SPECS, OpSpec

SPEC_PARAMS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
EDGE_VALUES = (*SPECIAL, 0.5, -0.5, 1.5, 2.5, -2.5, -3.0, 800.0, -800.0, 5e-324, 1e-30, 1e16, 1e300)


def test_every_operator_has_a_spec_and_a_note() -> None:
    assert SPECS.keys() | INTEGER_SPECS.keys() == set(OPERATORS)
    assert all(row.note for row in OPERATORS.values())
    for name, spec in SPECS.items():
        for (low, high), (least, most) in zip(spec.ranges, OPERATORS[name].domain, strict=True):
            assert least <= low < high <= most


def test_import_of_the_package_loads_its_optional_parts() -> None:
    parts = "functions", "operators", "simplification", "validation"
    program = f"import mt_operators; [getattr(mt_operators, part) for part in {parts}]"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_elementary_function_is_an_operator() -> None:
    for name, function in ELEMENTARY.items():
        assert OPERATORS[name].function is function
        assert function.__name__ == name
        assert function.__doc__


def oracle(spec: OpSpec, *args: float) -> float:
    # Two elements, because NumPy computes a single exponent of 0.5 as a square root: nan at -inf.
    with np.errstate(all="ignore"):
        return float(spec.oracle(np, *(np.full(2, arg) for arg in args))[0])


def check(spec: OpSpec, *args: float) -> None:
    value = float(OPERATORS[spec.name].function(*args))
    expected = oracle(spec, *args)
    with np.errstate(all="ignore"):
        size = 0.0 if spec.size is None else float(spec.size(np, *args))
    cancellation = 4e-15 * size if math.isfinite(size) else 0.0
    np.testing.assert_allclose(
        value, expected, rtol=4e-15, atol=5e-324 + cancellation, err_msg=f"at {args}"
    )


@pytest.mark.parametrize("spec", SPEC_PARAMS)
@given(data=st.data())
def test_value_matches_numpy(spec: OpSpec, data: st.DataObject) -> None:
    domain = OPERATORS[spec.name].domain
    check(spec, *(data.draw(st.floats(*interval)) for interval in domain))
    check(spec, *(data.draw(st.floats(*interval)) for interval in spec.ranges))


@pytest.mark.parametrize("spec", SPEC_PARAMS)
def test_special_values_match_numpy(spec: OpSpec) -> None:
    for args in itertools.product(EDGE_VALUES, repeat=len(spec.ranges)):
        check(spec, *args)


@pytest.mark.parametrize("name", [n for n in SPECS if OPERATORS[n].arity == 1])
@given(data=st.data())
def test_value_is_nan_exactly_outside_the_domain(name: str, data: st.DataObject) -> None:
    operator = OPERATORS[name]
    ((low, high),) = operator.domain
    x = data.draw(st.floats(allow_nan=False, allow_infinity=False))
    if SPECS[name].kink(x) != 0:  # a pole with different one-sided limits may give nan
        assert math.isnan(operator.function(x)) == (not low <= x <= high)
    assert operator.result == "bool" or math.isnan(operator.function(math.nan))


def bits_of(x: float) -> bytes:
    return struct.pack("<d", x)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
@given(st.floats(allow_nan=False))
def test_rounding_matches_numpy_including_sign_of_zero(name: str, x: float) -> None:
    rounded = OPERATORS[name].function(x)
    assert bits_of(rounded) == bits_of(oracle(SPECS[name], x))


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round", "neg", "abs", "square", "pow"])
@given(st.integers())
def test_integer_arguments_give_exact_integers(name: str, number: int) -> None:
    function = OPERATORS[name].function
    exact = {"neg": -number, "abs": abs(number), "square": number**2, "pow": number**3}
    result = function(number, 3) if name == "pow" else function(number)
    assert result == exact.get(name, number)
    assert isinstance(result, int)


@pytest.mark.parametrize(
    ("name", "pole"),
    [("log", 0.0), ("log2", 0.0), ("log10", 0.0), ("log1p", -1.0), ("atanh", -1.0), ("atanh", 1.0)],
)
def test_function_at_its_pole_is_infinite(name: str, pole: float) -> None:
    assert OPERATORS[name].function(pole) == math.copysign(math.inf, pole or -1.0)


def test_shifts_by_the_width_of_integers_shift_out_all_bits() -> None:
    left, right = (OPERATORS[f"bitwise_{way}_shift"].function for way in ("left", "right"))
    assert (left(1, 63), left(1, 64), left(1, -1)) == (2**63, 0, 0)
    assert (right(-(2**63), 62), right(2**63 - 1, 64), right(-1, 64), right(5, -1)) == (
        -2,
        0,
        -1,
        0,
    )


def test_integer_power_of_more_than_four_million_bits_is_infinite() -> None:
    power = OPERATORS["pow"].function
    assert type(power(2, 2**21 - 1)) is int
    assert power(2, 2**21) == math.inf


def test_integer_power_with_negative_exponent_is_a_float() -> None:
    assert bits_of(OPERATORS["pow"].function(1, -1)) == bits_of(1.0)
    assert type(OPERATORS["pow"].function(1, -1)) is float


GAMMA: dict[str, tuple[Callable[[float], float], Callable[[float], Any]]] = {
    "lgamma": (OPERATORS["lgamma"].function, mpmath.loggamma),
    "digamma": (OPERATORS["digamma"].function, mpmath.digamma),
    "trigamma": (special.trigamma, partial(mpmath.psi, 1)),
}


@pytest.mark.parametrize("name", GAMMA)
def test_asymptotic_series_is_accurate_to_rounding(name: str) -> None:
    function, exact = GAMMA[name]
    with mpmath.workdps(30):
        for x in np.geomspace(10.0, 1000.0, 400).tolist():
            assert function(x) == pytest.approx(float(exact(x)), rel=1e-15)


PRESERVE_ZERO = ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"]
PRESERVE_ZERO += ["sqrt", "expm1", "log1p", "id", "neg", "softsign", "selu"]
PRESERVE_ZERO += ["silu", "quick_gelu", "gelu", "gelu_tanh", "mish", "hardswish"]


@pytest.mark.parametrize("name", PRESERVE_ZERO)
def test_sign_of_zero_is_preserved(name: str) -> None:
    for zero in (0.0, -0.0):
        assert bits_of(OPERATORS[name].function(zero)) == bits_of(-zero if name == "neg" else zero)


@pytest.mark.parametrize("name", ["sign", "abs", "square", "cosh", "hypot"])
def test_both_zeros_give_the_same_result(name: str) -> None:
    function, arity = OPERATORS[name].function, OPERATORS[name].arity
    assert bits_of(function(*[-0.0] * arity)) == bits_of(function(*[0.0] * arity))


LOGARITHMS = ("log", "log2", "log10")
UNARY = [name for name in ELEMENTARY if OPERATORS[name].arity == 1 and name in SPECS]


@pytest.mark.parametrize("name", UNARY)
def test_integers_too_large_for_float_act_like_infinity(name: str) -> None:
    function = OPERATORS[name].function
    for number, infinity in ((10**400, math.inf), (-(10**400), -math.inf)):
        value, limit = function(number), function(infinity)
        if math.isnan(limit) or name not in {"floor", "ceil", "trunc", "round", *LOGARITHMS}:
            assert value == limit or (math.isnan(value) and math.isnan(limit))
        else:  # these compute with the integer itself
            assert value == number or value == pytest.approx(400 * function(10))


def test_binary_operators_accept_integers_too_large_for_float() -> None:
    power, div = OPERATORS["pow"].function, OPERATORS["div"].function
    assert power(3, 1000) == 3**1000
    assert power(7, 10**8) == math.inf  # the exact result would take minutes
    assert power(-7, 10**8 + 1) == -math.inf
    assert power(10**400, 0.5) == math.inf
    assert div(10**400, 3) == math.inf
    assert div(10**400, -(10**399)) == -10.0
    assert div(1, 10**400) == 0.0
    assert OPERATORS["hypot"].function(10**400, 1) == math.inf
    assert OPERATORS["atan2"].function(-(10**400), 1) == -math.pi / 2


# --- Integers -----------------------------------------------------------------------------------

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-70, 70)


def wrap_to_int64(x: int) -> int:
    return (x + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("name", INTEGER_SPECS)
@given(x=INTEGERS, y=INTEGERS)
def test_integer_operators_match_numpy(name: str, x: int, y: int) -> None:
    function, arity = OPERATORS[name].function, OPERATORS[name].arity
    if name in {"gcd", "lcm"}:
        x, y = x >> 32, y >> 32  # the least common multiple must fit into 64 bits
    args = (x, y)[:arity]
    value = function(*args)
    assert isinstance(value, int)
    assert wrap_to_int64(value) == INTEGER_SPECS[name](np, *map(np.int64, args))


@pytest.mark.parametrize("name", INTEGER_SPECS)
def test_integer_operators_reject_floats(name: str) -> None:
    operator = OPERATORS[name]
    with pytest.raises(TypeError):
        operator.function(*[1.5] * operator.arity)


@given(x=st.integers(), y=st.integers().filter(bool))
def test_integer_division_and_remainders_are_exact(x: int, y: int) -> None:
    floor_divide, remainder, fmod = (
        OPERATORS[name].function for name in ("floor_divide", "remainder", "fmod")
    )
    assert floor_divide(x, y) == x // y
    assert remainder(x, y) == x % y
    rest = fmod(x, y)
    assert (x - rest) % y == 0
    assert abs(rest) < abs(y)
    assert rest * x >= 0


def test_division_by_zero_gives_inf_or_nan_and_large_integers_stay_exact() -> None:
    floor_divide, fmod = OPERATORS["floor_divide"].function, OPERATORS["fmod"].function
    assert floor_divide(10**400, 3) == 10**400 // 3
    assert math.isnan(floor_divide(10**400, 2.0))  # 10**400 is inf as a float
    assert math.isnan(fmod(10**400, 2.0))
    assert floor_divide(7, 0) == math.inf
    assert floor_divide(-7.0, 0.0) == -math.inf
    assert math.isnan(floor_divide(0, 0))
    assert math.isnan(fmod(7, 0))
