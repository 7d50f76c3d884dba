"""The error function of float32; float64 uses the C library's."""

from __future__ import annotations

from mt_fast.vector_math.exponentials import exp_inside
from mt_fast.vector_math.values import Value, at_most, copysign, fma, polynomial, where

NEAR = 0.9
"""The end of the range in which the error function is an odd polynomial."""

END = 3.93
"""The start of the range in which it is 1."""

ERF = (7.943537e-05, -0.0008039784, 0.005191754, -0.02685556, 0.11283624, -0.3761263, 0.12837917)
"""Coefficients of `erf(x) / x - 1` in powers of `x * x`."""

LOG_ERFC = (
    0.00019716172,
    -0.0030554417,
    0.022276519,
    -0.104036324,
    -0.6370608,
    -1.127749,
    -0.00017763693,
)
"""Coefficients of `log(1 - erf(x))` from `NEAR` to `END`, fitted to the smallest error of
`erf(x)`."""


def erf(x: Value) -> Value:
    """Return the error function: an odd polynomial, or `1 - exp(p(x))` for a polynomial p."""
    size = abs(x)
    near = fma(polynomial(x * x, ERF), size, size)
    far = 1.0 - exp_inside(polynomial(at_most(size, END), LOG_ERFC))
    return copysign(where(size < NEAR, near, far), x)
