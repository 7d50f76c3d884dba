"""The sample table: an oracle and test points for each operator.

Every stage and backend is tested with these rows, so the table is part of the installed package. A
new operator needs one row here. The oracle receives the NumPy module as its first argument, so that
this file imports only the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mt_operators.core.row import Interval

WIDE: Interval = (-20.0, 20.0)
POSITIVE: Interval = (0.05, 20.0)
NARROW: Interval = (-3.0, 3.0)
INSIDE_ONE: Interval = (-0.95, 0.95)
UNIT: Interval = (0.0, 1.0)

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)
"""The values at which every operator is compared with its oracle."""


def _nowhere(*_: float) -> float:
    return math.inf


def _at_zero(x: float) -> float:
    return x


def _at_first(x: float, _: float) -> float:
    return x


def _where_equal(x: float, y: float) -> float:
    return (x - y) / 2.0  # both may change


def _at_integers(x: float) -> float:
    return math.remainder(x, 1.0)


def _at_kinks(*kinks: float) -> Callable[..., float]:
    """Return the distance to the nearest of some kinks."""
    return lambda x: min((x - kink for kink in kinks), key=abs)


def _at_bounds(x: float, low: float, high: float) -> float:
    return min(x - low, x - high, low - high, key=abs) / 2.0  # all of them may change


def _erf(np: Any, x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(x)  # NumPy has no erf


def _erfc(np: Any, x: Any) -> Any:
    return np.vectorize(math.erfc, otypes=[np.float64])(x)


def _ndtr(np: Any, x: Any) -> Any:
    return 0.5 * _erfc(np, -math.sqrt(0.5) * x)


def _erfinv(np: Any, y: Any) -> Any:
    """Return the inverse of erf by Newton's iteration, which converges from below."""

    def inverse(y: float) -> float:
        size, x = abs(y), 0.0
        if not size < 1.0:
            return math.copysign(math.inf, y) if size == 1.0 else math.nan
        for _ in range(100):
            error = size - math.erf(x) if size < 0.5 else math.erfc(x) - (1.0 - size)
            x += math.sqrt(math.pi) / 2.0 * math.exp(x * x) * error
        return math.copysign(x, y)

    return np.vectorize(inverse, otypes=[np.float64])(y)


def _sinpi(np: Any, x: Any) -> Any:
    """Return sin(pi x) with full precision."""
    nearest = np.round(x)
    sine = np.sin(math.pi * (x - nearest))
    return np.where(np.mod(nearest, 2.0) == 0.0, sine, -sine)


def _sinc(np: Any, x: Any) -> Any:
    return np.where(x == 0.0, 1.0, _sinpi(np, x) / (math.pi * x))


def _lgamma(np: Any, x: Any) -> Any:
    def value(x: float) -> float:
        try:
            return math.lgamma(x)
        except (OverflowError, ValueError):  # too large, or a pole
            return math.inf

    return np.vectorize(value, otypes=[np.float64])(x)


def _digamma(np: Any, x: Any) -> Any:
    """Return the derivative of lgamma, by its asymptotic series from 40 and by recurrence below."""
    right = np.where(x < 0.0, 1.0 - x, x)
    value = np.zeros_like(right)
    for _ in range(40):
        is_small = right < 40.0
        value = value - np.where(is_small, 1.0 / right, 0.0)
        right = right + is_small
    square = 1.0 / right / right
    value = value + np.log(right) - 0.5 / right
    value = value - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    beyond = x - np.round(x)
    cotangent = np.sin(math.pi * (0.5 - abs(beyond))) / np.sin(math.pi * beyond)
    left = np.where(beyond == 0.0, math.nan, value - math.pi * cotangent)
    return np.where(x < 0.0, left, value)


def _at_poles_or(*changes: float) -> Callable[..., float]:
    """Return the distance to the nearest pole (0, -1, -2, ...) or change of formula.

    The changes also affect negative x, whose formulas use `1 - x`.
    """

    def distance(x: float) -> float:
        right, pole = (1.0 - x, _at_integers(x)) if x < 0.0 else (x, x)
        return min(pole, *(right - change for change in changes), key=abs)

    return distance


def _xlogy(np: Any, x: Any, y: Any) -> Any:
    return np.where((x == 0.0) & ~np.isnan(y), 0.0, x * np.log(y))


def _lerp(np: Any, x: Any, y: Any, weight: Any) -> Any:
    difference = y - x
    return np.where(abs(weight) < 0.5, x + weight * difference, y - difference * (1.0 - weight))


def _weighted(weight: Callable[..., Any]) -> Callable[..., Any]:
    """Return the oracle of x times a weight that vanishes where x is -infinity."""
    return lambda np, x: np.where(x == -math.inf, -0.0, x * weight(np, x))


def _sigmoid(np: Any, x: Any) -> Any:
    decay = np.exp(-abs(x))
    return np.where(x >= 0.0, 1.0, decay) / (1.0 + decay)


def _tanh_of_softplus(np: Any, x: Any) -> Any:
    return np.tanh(np.logaddexp(x, 0.0))


def _tanh_weight(np: Any, x: Any) -> Any:
    return _sigmoid(np, 2.0 * math.sqrt(2.0 / math.pi) * (x * (1.0 + 0.044715 * (x * x))))


def _elu(np: Any, x: Any, alpha: Any, width: Any = 1.0) -> Any:
    """Return x on the right, and alpha (exp(x / width) - 1) elsewhere."""
    return np.where(x > 0.0, x, alpha * np.expm1(np.where(x > 0.0, 0.0, x) / width))


@dataclass(frozen=True)
class OpSpec:
    """The test data of an operator.

    Attributes:
        name: the operator's name in the table.
        oracle: a function `oracle(numpy, *arrays)` that returns the expected value in float64.
        ranges: for each argument, the interval of moderate values from which tests draw it. It lies
            inside the operator's domain.
        kink: a function that is 0 where the operator is not differentiable or changes its
            approximation, and elsewhere at most as large as the distance to such a point. Finite
            differences are never taken across it.
        size: a function `size(numpy, *arrays)` that returns the magnitude of the terms that the
            operator adds, for sums that may cancel. Errors are relative to it, or to the value if
            it is None.
    """

    name: str
    oracle: Callable[..., Any]
    ranges: tuple[Interval, ...]
    kink: Callable[..., float] = _nowhere
    size: Callable[..., Any] | None = None


TOLERANCE = {"float64": 1e-12, "float32": 4e-6, "float16": 8e-3}
"""The largest relative error of a backend, by dtype."""

SPECS: dict[str, OpSpec] = {}
"""The rows by operator name, except for the operators of integers."""

INTEGER_SPECS: dict[str, Callable[..., Any]] = {}
"""The oracles of the operators of integers: `oracle(numpy, *arrays)`, for int64 arrays."""


def sample(
    name: str,
    oracle: Callable[..., Any],
    *ranges: Interval,
    kink: Callable[..., float] = _nowhere,
    size: Callable[..., Any] | None = None,
) -> OpSpec:
    """Add a row to `SPECS` and return it; see `OpSpec`."""
    SPECS[name] = OpSpec(name, oracle, ranges, kink, size)
    return SPECS[name]


def high_precision(mp: Any) -> dict[str, Callable[..., Any]]:
    """Return mpmath's elementary functions by name, given the module `mpmath`.

    An operator's graph can be evaluated with these functions to any number of digits, so that
    finite differences are exact enough.
    """
    names = "exp expm1 log log10 log1p sqrt erf floor ceil sin cos tan asin acos atan atan2"
    return {
        **{name: getattr(mp, name) for name in names.split()},
        **{name: getattr(mp, name) for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
        "hypot": mp.hypot,
        "erfc": lambda x: 1 - mp.erf(x),  # mpmath's erfc overflows
        "exp2": lambda x: mp.power(2, x),
        "log2": lambda x: mp.log(x, 2),
        "pow": mp.power,
        "div": lambda x, y: mp.mpf(x) / y,
        "maximum": max,
        "minimum": min,
        "where": lambda condition, x, y: x if condition else y,
        "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
        "round": mp.nint,
        "floor_divide": lambda x, y: mp.floor(x / y),
        "fmod": lambda x, y: x - y * (mp.sign(x / y) * mp.floor(abs(x / y))),
    }


# --- Arithmetic ---------------------------------------------------------------------------------

sample("id", lambda np, x: x, WIDE)
sample("neg", lambda np, x: -x, WIDE)
sample("add", lambda np, x, y: x + y, WIDE, WIDE)
sample("sub", lambda np, x, y: x - y, WIDE, WIDE)
sample("mul", lambda np, x, y: x * y, WIDE, WIDE)
sample("div", lambda np, x, y: x / y, WIDE, POSITIVE, kink=lambda x, y: y)
sample("inv", lambda np, x: 1.0 / x, POSITIVE, kink=_at_zero)
sample("square", lambda np, x: x * x, WIDE)
# For x < 0 only integer powers exist, which have no derivative with respect to y: x is positive.
sample("pow", lambda np, x, y: np.power(x, y), POSITIVE, NARROW, kink=lambda x, y: max(x, 0.0))
sample("sqrt", lambda np, x: np.sqrt(x), POSITIVE)
sample("rsqrt", lambda np, x: 1.0 / np.sqrt(x), POSITIVE)
sample("hypot", lambda np, x, y: np.hypot(x, y), WIDE, WIDE, kink=math.hypot)
sample(
    "lerp",
    _lerp,
    WIDE,
    WIDE,
    NARROW,
    size=lambda np, x, y, weight: (abs(x) + abs(y)) * (1.0 + abs(weight)),
)

# --- Exponentials and logarithms ----------------------------------------------------------------

sample("exp", lambda np, x: np.exp(x), (-10.0, 10.0))
sample("exp2", lambda np, x: np.exp2(x), (-10.0, 10.0))
sample("expm1", lambda np, x: np.expm1(x), (-10.0, 10.0))
sample("log", lambda np, x: np.log(x), POSITIVE)
sample("log2", lambda np, x: np.log2(x), POSITIVE)
sample("log10", lambda np, x: np.log10(x), POSITIVE)
sample("log1p", lambda np, x: np.log1p(x), (-0.9, 20.0))
sample("xlogy", _xlogy, WIDE, POSITIVE)

# --- Trigonometric functions --------------------------------------------------------------------

sample("sin", lambda np, x: np.sin(x), WIDE)
sample("cos", lambda np, x: np.cos(x), WIDE)
sample("tan", lambda np, x: np.tan(x), NARROW, kink=math.cos)
sample("asin", lambda np, x: np.arcsin(x), INSIDE_ONE)
sample("acos", lambda np, x: np.arccos(x), INSIDE_ONE)
sample("atan", lambda np, x: np.arctan(x), WIDE)
# The angle jumps where y is 0 and x negative.
sample(
    "atan2",
    lambda np, y, x: np.arctan2(y, x),
    WIDE,
    WIDE,
    kink=lambda y, x: math.hypot(y, x) if x > 0.0 else y,
)

# --- Hyperbolic functions -----------------------------------------------------------------------

sample("sinh", lambda np, x: np.sinh(x), NARROW)
sample("cosh", lambda np, x: np.cosh(x), NARROW)
sample("tanh", lambda np, x: np.tanh(x), WIDE)
sample("asinh", lambda np, x: np.arcsinh(x), WIDE)
sample("acosh", lambda np, x: np.arccosh(x), (1.1, 20.0))
sample("atanh", lambda np, x: np.arctanh(x), INSIDE_ONE)

# --- Sigmoids -----------------------------------------------------------------------------------

sample("sigmoid", lambda np, x: 1.0 / (1.0 + np.exp(-x)), WIDE)
sample("softplus", lambda np, x: np.logaddexp(x, 0.0), WIDE)
sample("logaddexp", lambda np, x, y: np.logaddexp(x, y), WIDE, WIDE)
sample("erf", _erf, NARROW)
sample("erfc", _erfc, NARROW)
sample("ndtr", _ndtr, NARROW)

# --- Operators with kinks ------------------------------------------------------------------------

sample("abs", lambda np, x: np.abs(x), WIDE, kink=_at_zero)
sample("sign", lambda np, x: np.sign(x), WIDE, kink=_at_zero)
sample("relu", lambda np, x: np.maximum(x, 0.0), WIDE, kink=_at_zero)
sample("maximum", lambda np, x, y: np.maximum(x, y), WIDE, WIDE, kink=_where_equal)
sample("minimum", lambda np, x, y: np.minimum(x, y), WIDE, WIDE, kink=_where_equal)
sample("clamp_min", lambda np, x, low: np.maximum(x, low), WIDE, WIDE, kink=_where_equal)
sample("clamp_max", lambda np, x, high: np.minimum(x, high), WIDE, WIDE, kink=_where_equal)
sample("clamp", lambda np, x, a, b: np.clip(x, a, b), WIDE, WIDE, WIDE, kink=_at_bounds)
sample("copysign", lambda np, x, y: np.copysign(x, y), WIDE, WIDE, kink=lambda x, y: x * y / 20.0)
sample("where", lambda np, c, x, y: np.where(c, x, y), UNIT, WIDE, WIDE, kink=lambda c, x, y: c)

# --- Rounding -----------------------------------------------------------------------------------

sample("floor", lambda np, x: np.floor(x), WIDE, kink=_at_integers)
sample("ceil", lambda np, x: np.ceil(x), WIDE, kink=_at_integers)
sample("trunc", lambda np, x: np.trunc(x), WIDE, kink=_at_integers)
sample("round", lambda np, x: np.round(x), WIDE, kink=lambda x: _at_integers(x - 0.5))

# --- Rounded division and remainders ------------------------------------------------------------


def _at_integer_quotients(x: float, y: float) -> float:
    if abs(x) >= 1e9 * abs(y):
        return 0.0  # a pole, or steps too small to resolve
    return math.remainder(x / y, 1.0) * y * (y / (abs(x) + abs(y)))  # either may change


def _remainder(np: Any, x: Any, y: Any) -> Any:
    """Return NumPy's remainder, with the sign of `x` for zeros, as in torch."""
    rest = np.remainder(x, y)
    return np.where(rest == 0.0, np.copysign(rest, x), rest)


sample(
    "floor_divide",
    lambda np, x, y: np.floor_divide(x, y),
    WIDE,
    (1.0, 20.0),
    kink=_at_integer_quotients,
)
sample("remainder", _remainder, WIDE, (1.0, 20.0), kink=_at_integer_quotients)
sample("fmod", lambda np, x, y: np.fmod(x, y), WIDE, (1.0, 20.0), kink=_at_integer_quotients)

# --- Comparisons and logic ----------------------------------------------------------------------

sample("lt", lambda np, x, y: x < y, WIDE, WIDE, kink=_where_equal)
sample("le", lambda np, x, y: x <= y, WIDE, WIDE, kink=_where_equal)
sample("gt", lambda np, x, y: x > y, WIDE, WIDE, kink=_where_equal)
sample("ge", lambda np, x, y: x >= y, WIDE, WIDE, kink=_where_equal)
sample("eq", lambda np, x, y: x == y, WIDE, WIDE, kink=_where_equal)
sample("ne", lambda np, x, y: x != y, WIDE, WIDE, kink=_where_equal)
sample(
    "is_close",
    lambda np, x, y: np.abs(x - y) < 1e-2,
    WIDE,
    WIDE,
    kink=lambda x, y: (abs(x - y) - 1e-2) / 2.0,
)
sample("logical_and", lambda np, x, y: np.logical_and(x, y), UNIT, UNIT, kink=lambda x, y: x * y)
sample("logical_or", lambda np, x, y: np.logical_or(x, y), UNIT, UNIT, kink=lambda x, y: x * y)
sample("logical_xor", lambda np, x, y: np.logical_xor(x, y), UNIT, UNIT, kink=lambda x, y: x * y)
sample("logical_not", lambda np, x: np.logical_not(x), UNIT, kink=_at_zero)
sample("signbit", lambda np, x: np.signbit(x), WIDE, kink=_at_zero)
sample("isnan", lambda np, x: np.isnan(x), WIDE)
sample("isinf", lambda np, x: np.isinf(x), WIDE)
sample("isfinite", lambda np, x: np.isfinite(x), WIDE)

# --- Activation functions -----------------------------------------------------------------------

sample("silu", _weighted(_sigmoid), WIDE)
sample("quick_gelu", _weighted(lambda np, x: _sigmoid(np, 1.702 * x)), WIDE)
sample("gelu", _weighted(_ndtr), WIDE)
sample("gelu_tanh", _weighted(_tanh_weight), WIDE)
sample("mish", _weighted(_tanh_of_softplus), WIDE)
sample(
    "hardswish",
    lambda np, x: np.where(x <= -3.0, -0.0, x * (np.clip(x + 3.0, 0.0, 6.0) / 6.0)),
    WIDE,
    kink=_at_kinks(-3.0, 3.0),
)
sample("log_sigmoid", lambda np, x: 0.0 - np.logaddexp(-x, 0.0), WIDE)
sample(
    "hardsigmoid", lambda np, x: np.clip(x + 3.0, 0.0, 6.0) / 6.0, WIDE, kink=_at_kinks(-3.0, 3.0)
)
sample(
    "softsign",
    lambda np, x: np.where(np.isinf(x), np.sign(x), x / (1.0 + abs(x))),
    WIDE,
    kink=_at_zero,
)
sample("hardtanh", lambda np, x, a, b: np.clip(x, a, b), WIDE, WIDE, WIDE, kink=_at_bounds)
sample("relu6", lambda np, x: np.clip(x, 0.0, 6.0), WIDE, kink=_at_kinks(0.0, 6.0))
sample(
    "leaky_relu",
    lambda np, x, slope: np.where(x > 0.0, x, slope * x),
    WIDE,
    NARROW,
    kink=_at_first,
)
sample("elu", _elu, WIDE, NARROW, kink=_at_first)
sample("celu", lambda np, x, alpha: _elu(np, x, alpha, alpha), WIDE, POSITIVE, kink=_at_first)
sample(
    "selu",
    lambda np, x: 1.0507009873554805 * _elu(np, x, 1.6732632423543772),
    WIDE,
    kink=_at_zero,
)

# --- Special functions --------------------------------------------------------------------------

sample("sinc", _sinc, WIDE)
sample("erfinv", _erfinv, INSIDE_ONE)
sample(
    "lgamma",
    _lgamma,
    (-4.0, 20.0),
    kink=_at_poles_or(10.0, *(n + 0.5 for n in range(10))),
    size=lambda np, x: 4.0 + np.abs(_lgamma(np, x)),
)
sample(
    "digamma",
    _digamma,
    (-4.0, 20.0),
    kink=_at_poles_or(10.0),
    size=lambda np, x: 4.0 + np.abs(_digamma(np, x)) + np.log1p(np.abs(x)),
)

# --- Integers -----------------------------------------------------------------------------------

INTEGER_SPECS["bitwise_and"] = lambda np, x, y: np.bitwise_and(x, y)
INTEGER_SPECS["bitwise_or"] = lambda np, x, y: np.bitwise_or(x, y)
INTEGER_SPECS["bitwise_xor"] = lambda np, x, y: np.bitwise_xor(x, y)
INTEGER_SPECS["bitwise_not"] = lambda np, x: np.bitwise_not(x)
INTEGER_SPECS["bitwise_left_shift"] = lambda np, x, y: np.left_shift(x, y)
INTEGER_SPECS["bitwise_right_shift"] = lambda np, x, y: np.right_shift(x, y)
INTEGER_SPECS["gcd"] = lambda np, x, y: np.gcd(x, y)
INTEGER_SPECS["lcm"] = lambda np, x, y: np.lcm(x, y)
