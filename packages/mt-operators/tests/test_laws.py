"""Mathematical laws that the operators obey, for numbers chosen by Hypothesis."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import OPERATORS

NUMBERS = st.floats(-1e3, 1e3)
SMALL = st.floats(-20.0, 20.0)
ANY = st.floats(allow_nan=False, allow_infinity=False)


def op(name: str) -> Callable[..., float]:
    function: Callable[..., float] = OPERATORS[name].function
    return function


def close(x: float) -> object:
    return pytest.approx(x, rel=1e-9, abs=1e-9)


# --- Arithmetic ---------------------------------------------------------------------------------

SYMMETRIC = ["add", "mul", "maximum", "minimum", "eq", "ne", "is_close"]
SYMMETRIC += ["logical_and", "logical_or", "logical_xor", "hypot", "logaddexp"]


@pytest.mark.parametrize("name", SYMMETRIC)
@given(ANY, ANY)
def test_symmetric_operators_commute(name: str, x: float, y: float) -> None:
    assert op(name)(x, y) == op(name)(y, x)


@pytest.mark.parametrize("name", [n for n, row in OPERATORS.items() if row.identity is not None])
@given(ANY)
def test_identity_leaves_operand_unchanged(name: str, x: float) -> None:
    operator = OPERATORS[name]
    other = bool(x) if operator.result == "bool" else x
    assert operator.function(other, operator.identity) == other
    assert operator.function(operator.identity, other) == other


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum", "logical_xor"])
@given(NUMBERS, NUMBERS, NUMBERS)
def test_associative_operators_can_be_regrouped(name: str, x: float, y: float, z: float) -> None:
    f = op(name)
    assert f(f(x, y), z) == pytest.approx(f(x, f(y, z)), rel=1e-9, abs=1e-6)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_mul_add_maximum_and_minimum_distribute(x: float, y: float, z: float) -> None:
    add, mul, maximum, minimum = op("add"), op("mul"), op("maximum"), op("minimum")
    assert mul(z, add(x, y)) == close(add(mul(z, x), mul(z, y)))
    assert add(z, maximum(x, y)) == maximum(add(z, x), add(z, y))
    assert maximum(z, minimum(x, y)) == minimum(maximum(z, x), maximum(z, y))


@given(ANY, ANY)
def test_sub_div_and_abs_are_expressed_by_other_operators(x: float, y: float) -> None:
    assert op("sub")(x, y) == op("add")(x, op("neg")(y)) == -op("sub")(y, x)
    assert op("inv")(x) == op("div")(1.0, x)
    if x and y:
        assert op("div")(x, y) == pytest.approx(x / y)
    assert op("maximum")(x, y) + op("minimum")(x, y) == pytest.approx(x + y)
    assert op("maximum")(x, -x) == op("abs")(x) == op("sign")(x) * x


@given(st.floats(1e-3, 1e3), st.floats(-5, 5), st.floats(-5, 5))
def test_pow_obeys_laws_of_exponents(x: float, m: float, n: float) -> None:
    power = op("pow")
    assert power(x, m + n) == pytest.approx(power(x, m) * power(x, n))
    assert power(power(x, m), n) == pytest.approx(power(x, m * n))
    assert power(x, 2.0) == pytest.approx(op("square")(x))
    assert power(x, 0.5) == pytest.approx(op("sqrt")(x))
    assert op("rsqrt")(x) * op("sqrt")(x) == close(1.0)
    assert power(x, m) == pytest.approx(op("exp")(m * op("log")(x)))


# --- Parity and inverses ------------------------------------------------------------------------

ODD = ["id", "neg", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "sign"]
ODD += ["trunc", "round", "inv", "softsign"]


@pytest.mark.parametrize("name", ODD)
@given(ANY)
def test_odd_function_changes_sign_with_its_argument(name: str, x: float) -> None:
    forward, backward = op(name)(x), op(name)(-x)
    assert forward == -backward or (math.isnan(forward) and math.isnan(backward))


@pytest.mark.parametrize("name", ["abs", "square", "cos", "cosh"])
@given(ANY)
def test_even_function_ignores_sign_of_its_argument(name: str, x: float) -> None:
    assert op(name)(x) == op(name)(-x)


INVERSES = [
    ("exp", "log", (-20.0, 20.0)),
    ("exp2", "log2", (-20.0, 20.0)),
    ("expm1", "log1p", (-5.0, 20.0)),
    ("sin", "asin", (-1.5, 1.5)),
    ("cos", "acos", (0.1, 3.0)),
    ("tan", "atan", (-1.5, 1.5)),
    ("sinh", "asinh", (-20.0, 20.0)),
    ("cosh", "acosh", (0.1, 20.0)),
    ("tanh", "atanh", (-3.0, 3.0)),
    ("square", "sqrt", (0.0, 1e3)),
    ("inv", "inv", (1e-3, 1e3)),
    ("neg", "neg", (-1e3, 1e3)),
]


@pytest.mark.parametrize(("name", "inverse", "interval"), INVERSES)
@given(data=st.data())
def test_inverse_returns_original_argument(
    name: str, inverse: str, interval: tuple[float, float], data: st.DataObject
) -> None:
    x = data.draw(st.floats(*interval))
    assert op(inverse)(op(name)(x)) == pytest.approx(x, rel=1e-6, abs=1e-6)


# --- Exponentials, logarithms, angles -----------------------------------------------------------


@given(SMALL, SMALL)
def test_exponential_and_hyperbolic_functions_are_related(x: float, y: float) -> None:
    assert op("exp")(x + y) == pytest.approx(op("exp")(x) * op("exp")(y))
    assert op("expm1")(x) == close(op("exp")(x) - 1.0)
    assert op("exp2")(x) == pytest.approx(op("exp")(x * math.log(2.0)))
    assert op("cosh")(abs(x)) + op("sinh")(abs(x)) == close(op("exp")(abs(x)))
    assert op("cosh")(x / 4) ** 2 - op("sinh")(x / 4) ** 2 == close(1.0)
    assert op("tanh")(x) == close(op("sinh")(x) / op("cosh")(x))


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_logarithm_of_product_is_sum_of_logarithms(x: float, y: float) -> None:
    for name in ("log", "log2", "log10"):
        assert op(name)(x * y) == close(op(name)(x) + op(name)(y))
    assert op("log10")(x) == close(op("log")(x) / math.log(10.0))
    assert op("log2")(x) == close(op("log")(x) / math.log(2.0))
    assert op("log1p")(x) == close(op("log")(1.0 + x))


@given(NUMBERS)
def test_trigonometric_functions_are_related(x: float) -> None:
    assert op("sin")(x) ** 2 + op("cos")(x) ** 2 == close(1.0)
    assert op("tan")(x) == pytest.approx(op("sin")(x) / op("cos")(x), rel=1e-9)
    assert op("asin")(op("sin")(x)) + op("acos")(op("sin")(x)) == close(math.pi / 2)


# --- Sigmoids -----------------------------------------------------------------------------------


@given(ANY, st.floats(0.0, 1e3))
def test_sigmoid_is_bounded_symmetric_and_never_decreases(x: float, step: float) -> None:
    sigmoid = op("sigmoid")
    assert 0.0 <= sigmoid(x) <= sigmoid(x + step) <= 1.0
    assert 1.0 - sigmoid(x) == pytest.approx(sigmoid(-x), abs=1e-15)
    assert 2.0 * sigmoid(2.0 * x) - 1.0 == close(op("tanh")(x))
    assert sigmoid(0.0) == 0.5


@given(ANY)
def test_softplus_is_at_least_relu_and_equals_minus_log_sigmoid(x: float) -> None:
    softplus = op("softplus")
    assert softplus(x) >= op("relu")(x)
    assert softplus(x) - softplus(-x) == pytest.approx(x, abs=1e-15)
    assert (
        softplus(x) == pytest.approx(-op("log")(op("sigmoid")(-x)), rel=1e-7) or x < -30 or x > 30
    )


@given(ANY)
def test_relu_is_positive_part(x: float) -> None:
    relu = op("relu")
    assert relu(x) - relu(-x) == x
    assert relu(x) + relu(-x) == abs(x)


@given(ANY)
def test_erf_and_erfc_are_complementary(x: float) -> None:
    erf, erfc = op("erf"), op("erfc")
    assert erf(x) == pytest.approx(1.0 - math.erfc(x), abs=1e-15)
    assert erfc(x) == pytest.approx(1.0 - erf(x), abs=1e-15)
    assert erfc(x) + erfc(-x) == pytest.approx(2.0)


@given(ANY)
def test_ndtr_is_expressed_by_erf(x: float) -> None:
    ndtr = op("ndtr")
    assert ndtr(x) == pytest.approx(0.5 + 0.5 * op("erf")(x / math.sqrt(2.0)), abs=1e-15)
    assert ndtr(x) + ndtr(-x) == pytest.approx(1.0)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_logaddexp_is_associative_and_shifts_with_its_arguments(
    x: float, y: float, z: float
) -> None:
    add = op("logaddexp")
    assert add(x, y) >= max(x, y)
    assert add(x + z, y + z) == close(add(x, y) + z)
    assert add(add(x, y), z) == close(add(x, add(y, z)))
    assert add(x, 0.0) == op("softplus")(x)
    assert add(x, -math.inf) == x


# --- The plane ----------------------------------------------------------------------------------


@given(NUMBERS, NUMBERS)
def test_hypot_and_atan2_are_polar_coordinates(x: float, y: float) -> None:
    length, angle = op("hypot")(x, y), op("atan2")(y, x)
    assert length * op("cos")(angle) == close(x)
    assert length * op("sin")(angle) == close(y)
    if x > 0.0:
        assert angle == close(op("atan")(op("div")(y, x)))


@given(NUMBERS, NUMBERS, st.floats(0.0, 1.0))
def test_lerp_interpolates_between_its_ends(x: float, y: float, weight: float) -> None:
    lerp = op("lerp")
    assert lerp(x, y, 0.0) == x
    assert lerp(x, y, 1.0) == y
    assert min(x, y) <= lerp(x, y, weight) <= max(x, y)
    assert lerp(x, y, weight) == close(lerp(y, x, 1.0 - weight))


@given(st.floats(0.0, 1e3), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_xlogy_of_product_is_sum(x: float, y: float, z: float) -> None:
    assert op("xlogy")(x, y * z) == close(op("xlogy")(x, y) + op("xlogy")(x, z))


# --- Activation functions -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["silu", "quick_gelu", "gelu", "gelu_tanh", "mish", "hardswish"])
@given(ANY)
def test_silu_like_activations_lie_between_zero_and_x(name: str, x: float) -> None:
    value = op(name)(x)
    assert min(x, 0.0) <= value <= max(x, 0.0)
    if name != "mish":  # the weights of x and -x add up to 1
        assert value - op(name)(-x) == pytest.approx(x, rel=1e-12)
    assert op(name)(1e3) == 1e3
    assert op(name)(-math.inf) == 0.0


@given(SMALL)
def test_activations_match_their_definitions(x: float) -> None:
    sigmoid, tanh = op("sigmoid"), op("tanh")
    u = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    assert op("silu")(x) == close(x * sigmoid(x))
    assert op("quick_gelu")(x) == close(op("silu")(1.702 * x) / 1.702)
    assert op("gelu")(x) == close(x * op("ndtr")(x))
    assert op("gelu_tanh")(x) == close(x * (1.0 + tanh(u)) / 2.0)
    assert op("mish")(x) == close(x * tanh(op("softplus")(x)))
    assert op("hardswish")(x) == close(x * op("hardsigmoid")(x))
    assert op("log_sigmoid")(x) == close(op("log")(sigmoid(x)))
    assert op("gelu")(x) == pytest.approx(op("gelu_tanh")(x), abs=5e-4)


@given(st.floats(-1e300, 1e300), st.floats(0.0, 3.0), st.floats(0.01, 3.0))
def test_elu_like_activations_are_related(x: float, slope: float, alpha: float) -> None:
    scale, at_minus_infinity = op("selu")(1.0), op("selu")(-math.inf)
    assert op("selu")(x) == pytest.approx(scale * op("elu")(x, -at_minus_infinity / scale))
    assert op("celu")(x, 1.0) == op("elu")(x, 1.0)
    assert op("celu")(x, alpha) == pytest.approx(alpha * op("elu")(x / alpha, 1.0), rel=1e-12)
    assert op("elu")(x, alpha) >= -alpha
    assert op("leaky_relu")(x, 0.0) == op("relu")(x)
    assert op("leaky_relu")(x, slope) == op("relu")(x) - slope * op("relu")(-x)
    assert op("leaky_relu")(x, -1.0) == op("abs")(x)


@given(ANY, NUMBERS, st.floats(0.0, 1e3))
def test_clamp_returns_nearest_value_of_interval(x: float, low: float, width: float) -> None:
    high = low + width
    clamped = op("clamp")(x, low, high)
    assert low <= clamped <= high
    assert clamped == op("clamp_max")(op("clamp_min")(x, low), high) == op("hardtanh")(x, low, high)
    assert (clamped == x) == (low <= x <= high)
    assert op("relu6")(x) == op("clamp")(x, 0.0, 6.0) == op("relu")(x) - op("relu")(x - 6.0) or (
        abs(x) > 1e3
    )


# --- Rounding, comparisons and logic ------------------------------------------------------------


@given(st.floats())
def test_isnan_isinf_isfinite_and_signbit_match_math(x: float) -> None:
    results = [op(name)(x) for name in ("isnan", "isinf", "isfinite")]
    assert results == [math.isnan(x), math.isinf(x), math.isfinite(x)]
    assert op("signbit")(x) == (math.copysign(1.0, x) < 0.0) or math.isnan(x)
    assert op("copysign")(2.0, x) == math.copysign(2.0, x) or math.isnan(x)


@given(ANY)
def test_rounding_functions_return_adjacent_integers(x: float) -> None:
    floor, ceil, trunc, rounded = (op(name)(x) for name in ("floor", "ceil", "trunc", "round"))
    assert floor <= x <= ceil
    assert ceil - floor in (0.0, 1.0)
    assert trunc == (floor if x > 0 else ceil)
    assert rounded in (floor, ceil)
    assert abs(rounded - x) <= 0.5
    assert op("ceil")(x) == -op("floor")(-x)


@given(ANY, ANY)
def test_comparisons_are_consistent(x: float, y: float) -> None:
    assert op("lt")(x, y) == op("gt")(y, x) == (not op("ge")(x, y))
    assert op("le")(x, y) == op("ge")(y, x) == (not op("gt")(x, y))
    assert op("eq")(x, y) == (not op("ne")(x, y)) == (op("le")(x, y) and op("ge")(x, y))
    assert op("where")(op("lt")(x, y), x, y) == op("minimum")(x, y)


@given(st.booleans(), st.booleans())
def test_logical_operators_obey_de_morgans_laws(a: bool, b: bool) -> None:
    both, either, negate = op("logical_and"), op("logical_or"), op("logical_not")
    assert negate(both(a, b)) == either(negate(a), negate(b))
    assert op("logical_xor")(a, b) == both(either(a, b), negate(both(a, b)))
    assert negate(negate(a)) == a
