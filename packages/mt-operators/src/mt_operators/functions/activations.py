"""Activation functions of neural networks.

The derivatives at kinks are those of torch, which takes one of the two sides.

Many are x times a weight that vanishes exponentially on the left. For infinite x the product would
be infinity times 0, which is nan. Therefore x is clamped (`clamped`) at a point where the weight
is already 0 in every dtype.
"""

from __future__ import annotations

import math

from mt_operators.core.elementary import div, exp, maximum, minimum, where
from mt_operators.core.table import define, define_real, sigmoid, sign
from mt_operators.functions.exponential import expm1, log1p
from mt_operators.functions.special import ndtr, normal_density

UNDERFLOW = 1000.0
"""A number so large that `exp(-UNDERFLOW)` is 0 in every dtype."""


def clamped(x: float, bound: float = UNDERFLOW) -> float:
    """Return `x` clamped to `[-bound, bound]`, so that infinity times 0 does not give nan."""
    return maximum(minimum(x, bound), -bound)


# --- x times a weight ---------------------------------------------------------------------------


def silu_slope(x: float) -> float:
    """Return the derivative of `x * sigmoid(x)`."""
    weight = sigmoid(x)
    return weight * (1.0 + clamped(x) * (1.0 - weight))


define_real(
    "silu",
    lambda x: maximum(x, -UNDERFLOW) * sigmoid(x),
    lambda x, out: silu_slope(x),
    note="x * sigmoid(x), also called swish",
)
define_real(
    "quick_gelu",
    lambda x: maximum(x, -UNDERFLOW) * sigmoid(1.702 * x),
    lambda x, out: silu_slope(1.702 * x),
    note="x * sigmoid(1.702 * x), which is close to gelu",
)
define_real(
    "gelu",
    lambda x: maximum(x, -UNDERFLOW) * ndtr(x),
    lambda x, out: ndtr(x) + clamped(x) * normal_density(x),
    note="x * ndtr(x), where ndtr is the standard normal distribution function",
)

STEEP = 2.0 * math.sqrt(2.0 / math.pi)
"""The slope at 0 of `gelu_tanh_exponent`."""

CUBIC = 0.044715
"""The weight of the cubic term in `gelu_tanh_exponent`."""


def gelu_tanh_exponent(x: float) -> float:
    """Return the `u` for which `x * sigmoid(u)` is the approximation of gelu by tanh."""
    return STEEP * (x * (1.0 + CUBIC * (x * x)))


def gelu_tanh_slope(x: float) -> float:
    """Return the derivative of `x * sigmoid(gelu_tanh_exponent(x))`."""
    weight = sigmoid(gelu_tanh_exponent(x))
    near = clamped(x, 100.0)  # the slope of u must not overflow
    slope = STEEP * (1.0 + 3.0 * CUBIC * (near * near))
    return weight * (1.0 + (1.0 - weight) * near * slope)


define_real(
    "gelu_tanh",
    lambda x: maximum(x, -UNDERFLOW) * sigmoid(gelu_tanh_exponent(x)),
    lambda x, out: gelu_tanh_slope(x),
    note="x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))), which is close to gelu",
)


def mish_parts(x: float) -> tuple[float, float]:
    """Return `e = exp(x)` and `n = e * (e + 2)`, so that `tanh(softplus(x))` is `n / (n + 2)`.

    From 40 on, where the quotient is 1, `e` is `exp(40)`.
    """
    e = exp(minimum(x, 40.0))
    return e, e * (e + 2.0)


def mish(x: float) -> float:
    """Return `x * tanh(softplus(x))`, computed with one exponential."""
    _, n = mish_parts(x)
    return maximum(x, -UNDERFLOW) * (n / (n + 2.0))


def mish_slope(x: float) -> float:
    """Return the derivative of `x * tanh(softplus(x))`."""
    e, n = mish_parts(x)
    return n / (n + 2.0) + clamped(x) * (4.0 * e * (e + 1.0) / ((n + 2.0) * (n + 2.0)))


define_real("mish", mish, lambda x, out: mish_slope(x), note="x * tanh(softplus(x))")
define_real(
    "hardswish",
    lambda x: maximum(x, -3.0) * (minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0),
    lambda x, out: where(x <= -3.0, 0.0, where(x >= 3.0, 1.0, x / 3.0 + 0.5)),
    note="x * hardsigmoid(x); derivative 0 at -3 and 1 at 3",
)

# --- Bounded functions --------------------------------------------------------------------------


define_real(
    "log_sigmoid",
    lambda x: minimum(x, 0.0) - log1p(exp(-abs(x))),
    lambda x, out: sigmoid(-x),
    aliases=("logsigmoid",),
    note="log(sigmoid(x)), without underflow",
)
define_real(
    "hardsigmoid",
    lambda x: minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0,
    lambda x, out: where((x > -3.0) & (x < 3.0), 1.0 / 6.0, 0.0),
    selects=True,
    note="x / 6 + 1/2, clamped to [0, 1]; derivative 0 at the kinks",
)


def softsign_slope(x: float) -> float:
    """Return the derivative of `x / (1 + |x|)`."""
    inverse = div(1.0, 1.0 + abs(x))
    return inverse * inverse


define_real(
    "softsign",
    lambda x: where(abs(x) < math.inf, div(x, 1.0 + abs(x)), sign(x)),
    lambda x, out: softsign_slope(x),
    note="x / (1 + |x|)",
)
define(
    "hardtanh",
    lambda x, low, high: minimum(maximum(x, low), high),
    lambda x, low, high, out: where((x <= low) | (x >= high), 0.0, 1.0),
    lambda x, low, high, out: where((x <= low) & (low < high), 1.0, 0.0),
    lambda x, low, high, out: where((x >= high) | (low >= high), 1.0, 0.0),
    selects=True,
    note="x clamped to [`low`, `high`]; at a bound, the derivative is that of the bound",
)
define(
    "relu6",
    lambda x: minimum(maximum(x, 0.0), 6.0),
    lambda x, out: where((x <= 0.0) | (x >= 6.0), 0.0, 1.0),
    selects=True,
    note="x clamped to [0, 6]; derivative 0 at both bounds",
)

# --- x on the right, a smaller slope on the left ------------------------------------------------


def negative_part(x: float) -> float:
    """Return `x`, but 0 if it is positive; zeros keep their sign, and nan stays nan."""
    return where(x > 0.0, 0.0, x)


def below_zero(x: float) -> float:
    """Return `x` if it is negative, else 0; unlike for `negative_part`, the slope at 0 is 0."""
    return where(x >= 0.0, 0.0, x)


define_real(
    "leaky_relu",
    lambda x, slope: where(x > 0.0, x, slope * x),
    lambda x, slope, out: where(x > 0.0, 1.0, slope),
    lambda x, slope, out: negative_part(x),
    note="x, or slope * x for negative x; derivative slope at 0",
)
define_real(
    "elu",
    lambda x, alpha: where(x > 0.0, x, alpha * expm1(negative_part(x))),
    lambda x, alpha, out: where(x > 0.0, 1.0, alpha * exp(below_zero(x))),
    lambda x, alpha, out: expm1(negative_part(x)),
    note="x, or alpha * (exp(x) - 1) for negative x; derivative alpha at 0",
)


def celu_by_alpha(scaled: float) -> float:
    """Return the derivative of celu with respect to alpha, given `x / alpha`, at most 0."""
    return expm1(scaled) - clamped(scaled) * exp(scaled)


define_real(
    "celu",
    lambda x, alpha: where(x > 0.0, x, alpha * expm1(div(negative_part(x), alpha))),
    lambda x, alpha, out: where(x > 0.0, 1.0, exp(div(below_zero(x), alpha))),
    lambda x, alpha, out: celu_by_alpha(div(negative_part(x), alpha)),
    domain=((-math.inf, math.inf), (0.0, math.inf)),
    note="x, or alpha * (exp(x / alpha) - 1) for negative x; derivative 1 at 0",
)

# Both constants keep mean 0 and variance 1: Klambauer et al., Self-Normalizing Neural Networks,
# 2017.
SELU_ALPHA = 1.6732632423543772
"""The `alpha` of selu, whose limit at minus infinity is `-SELU_SCALE * SELU_ALPHA`."""

SELU_SCALE = 1.0507009873554805
"""The slope of selu for positive x."""

define_real(
    "selu",
    lambda x: where(x > 0.0, SELU_SCALE * x, SELU_SCALE * SELU_ALPHA * expm1(negative_part(x))),
    lambda x, out: where(x > 0.0, SELU_SCALE, SELU_SCALE * SELU_ALPHA * exp(below_zero(x))),
    note="elu scaled to preserve mean 0 and variance 1; at 0 the derivative from the left",
)
