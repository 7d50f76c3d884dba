"""Exponentials and logarithms."""

from __future__ import annotations

import math

from mt_operators.core.elementary import dispatched, div, exp, from_math, log, maximum, where
from mt_operators.core.row import EVERYWHERE
from mt_operators.core.table import FROM_0, define_real, sigmoid

FROM_MINUS_1 = ((-1.0, math.inf),)
LN_2 = math.log(2.0)
LN_10 = math.log(10.0)

exp2 = from_math(math.exp2, "Return 2 to the power `x`; infinity from 1024 on.")
expm1 = from_math(math.expm1, "Return `exp(x) - 1`, accurate for small `x` too.")
log2 = from_math(math.log2, "Return the logarithm to base 2.", {0.0: -math.inf})
log10 = from_math(math.log10, "Return the logarithm to base 10.", {0.0: -math.inf})
log1p = from_math(math.log1p, "Return `log(1 + x)`, accurate for small `x` too.", {-1.0: -math.inf})

define_real("exp2", exp2, lambda x, out: LN_2 * out, note="2 to the power x")
define_real("expm1", expm1, lambda x, out: out + 1.0, note="exp(x) - 1, accurate for small x too")
define_real(
    "log2", log2, lambda x, out: div(1.0 / LN_2, x), domain=FROM_0, note="the logarithm to base 2"
)
define_real(
    "log10",
    log10,
    lambda x, out: div(1.0 / LN_10, x),
    domain=FROM_0,
    note="the logarithm to base 10",
)
define_real(
    "log1p",
    log1p,
    lambda x, out: div(1.0, 1.0 + x),
    domain=FROM_MINUS_1,
    note="log(1 + x), accurate for small x too",
)
define_real(
    "xlogy",
    lambda x, y: where((x == 0.0) & (y == y), 0.0, x * log(y)),
    # Where x is 0, the value is 0 for every y: replace a y without finite log or quotient by 1.
    lambda x, y, out: log(where((x == 0.0) & (y <= 0.0), 1.0, y)),
    lambda x, y, out: div(x, where((x == 0.0) & (y == 0.0), 1.0, y)),
    domain=(EVERYWHERE, *FROM_0),
    note="x * log(y), and 0 where x is 0",
)


@dispatched
def softplus(x: float) -> float:
    """Return `log(1 + exp(x))` without overflow."""
    return maximum(x, 0.0) + log1p(exp(-abs(x)))


def gap(x: float, y: float) -> float:
    """Return `x - y`, and 0 for equal infinities."""
    return where((x == y) & (abs(x) == math.inf), 0.0, x - y)


define_real("softplus", softplus, lambda x, out: sigmoid(x), note="log(1 + exp(x))")
define_real(
    "logaddexp",
    lambda x, y: maximum(x, y) + log1p(exp(-abs(gap(x, y)))),
    lambda x, y, out: sigmoid(gap(x, y)),
    lambda x, y, out: sigmoid(gap(y, x)),
    note="log(exp(x) + exp(y)), without overflow",
)
