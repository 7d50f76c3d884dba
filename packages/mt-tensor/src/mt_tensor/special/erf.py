"""The error function and its complement on arrays, which NumPy lacks.

The error function is odd, and rounds to 1 from some `end` on. Before that it is x times a function
of x x, which a quotient of two polynomials approximates to the last digit:

    erf(x) = x P(x x) / Q(x x)    for |x| <= end

All coefficients are positive, so that there is no cancellation. They were fitted with mpmath in 60
digits for the smallest relative error: linear least squares of
(P - Q erf(x) / x) / (Q erf(x) / x) at points x = end (1 - cos t) / 2, with the Q of the previous
iteration in the denominator and Lawson's weights (each multiplied by the error at its point), until
the error is the same at all its peaks: 3.1e-17 for float64, and 1.9e-8 for float32.

The complement, 1 - erf(x), decreases too fast to be computed as a difference. It is

    erfc(x) = exp(-x x) P(x) / Q(x)    for x >= 0,    2 - erfc(-x)    for x < 0

with positive coefficients that were fitted in the same way to exp(x x) erfc(x), at points that are
denser near 0. The errors are 1.3e-18 and 6.4e-9. Beyond the end the exponential is 0. It is
computed as exp(-h h) exp((h - x) (h + x)), where h is x with half of its digits, so that h h is
exact: rounding x x would change the last digits of exp(-x x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array
from mt_tensor.core.numpy_functions import FUNCTIONS


@dataclass(frozen=True, slots=True)
class Fit:
    """An approximation for one dtype.

    Attributes:
        end: the argument from which the function is constant in this dtype.
        numerator: the coefficients of P, of the highest power first.
        denominator: the coefficients of Q.
    """

    end: float
    numerator: tuple[float, ...]
    denominator: tuple[float, ...]


ERF_FLOAT32 = Fit(
    3.92,
    (2.047407143e-06, 0.0002847778054, 0.003768339551, 0.05275724443, 0.190493812, 1.128379147),
    (3.805803537e-05, 0.001162868872, 0.01497504664, 0.1141424226, 0.5021535031, 1.0),
)

ERF_FLOAT64 = Fit(
    5.93,
    (
        1.5721060492975742e-17,
        2.2274818005841382e-14,
        3.3363087881622446e-12,
        1.7192234380101842e-10,
        6.758086403900436e-09,
        1.6942320367409173e-07,
        3.8995212423422465e-06,
        5.692775116901875e-05,
        0.0008555307872172992,
        0.006888163445525181,
        0.06611699176206383,
        0.22014707676758333,
        1.1283791670955126,
    ),
    (
        8.854517083528804e-16,
        3.3195855269823847e-13,
        2.5488093274224375e-11,
        1.1242376438756763e-09,
        3.5144739383905296e-08,
        8.347860317099242e-07,
        1.5494727601005082e-05,
        0.00022604684452785407,
        0.0025642992059121605,
        0.021983703612919243,
        0.13473919177100382,
        0.5284336003244786,
        1.0,
    ),
)

ERFC_FLOAT32 = Fit(
    10.5,
    (0.03312638036, 0.2307939358, 0.7349105491, 1.241568403, 1.000000006),
    (0.05871433484, 0.4090964739, 1.331539825, 2.409100922, 2.36994817, 1.0),
)

ERFC_FLOAT64 = Fit(
    27.5,
    (
        1.3879187725102367e-05,
        0.00030707063105847343,
        0.003332023373792941,
        0.02307396426952382,
        0.11215248430922728,
        0.39831623792337917,
        1.045600070826017,
        2.006027425336956,
        2.7044052143304027,
        2.335417130029146,
        1.0,
    ),
    (
        2.4600219730791472e-05,
        0.0005442685225206837,
        0.005918157769969774,
        0.0411696710901423,
        0.2017257313080151,
        0.7261737865339616,
        1.949748199921033,
        3.888821788870932,
        5.627941662821913,
        5.612880795068436,
        3.463796297124659,
        1.0,
    ),
)

BLOCK = 32768
"""The number of elements per block, which fits into the processor's cache."""

LEADING_HALF: dict[int, np.signedinteger[Any]] = {4: np.int32(-1 << 12), 8: np.int64(-1 << 27)}
"""Masks, by item size, that keep half of the digits of a number, so that its square is exact."""


def erf(x: Any, out: Array | None = None, casting: Any = "same_kind") -> Any:
    """Return the error function of each element; called like a ufunc.

    Args:
        x: numbers. float32 and float16 are computed in float32, all others in float64.
        out: the array for the result; may be `x`.
        casting: the conversions to the dtype of `out` that are allowed.
    """
    return _in_blocks(_erf, (ERF_FLOAT32, ERF_FLOAT64), x, out, casting)


def erfc(x: Any, out: Array | None = None, casting: Any = "same_kind") -> Any:
    """Return `1 - erf(x)` of each element; called like `erf`."""
    return _in_blocks(_erfc, (ERFC_FLOAT32, ERFC_FLOAT64), x, out, casting)


def _in_blocks(
    compute: Callable[[Array, Fit, Array], None],
    fits: tuple[Fit, Fit],
    x: Any,
    out: Array | None,
    casting: Any,
) -> Any:
    """Compute block by block, with the approximation for float32 or float64."""
    x = np.asarray(x)
    computed = np.float32 if x.dtype in (np.float16, np.float32) else np.float64
    if out is None:
        out = np.empty_like(x, dtype=x.dtype if x.dtype.kind == "f" else computed)
    fit = fits[computed is np.float64]
    blocks = np.nditer(
        [x, out],
        ["buffered", "external_loop", "zerosize_ok"],
        [["readonly"], ["writeonly"]],
        [computed, computed],
        casting=casting,
        buffersize=BLOCK,
    )
    with blocks:
        for values, results in blocks:
            compute(values, fit, results)
    return out[()]  # a scalar for a scalar


def _erf(x: Array, fit: Fit, out: Array) -> None:
    """Compute one block; `out` may be `x`."""
    inside = np.clip(x, -fit.end, fit.end)
    squares = inside * inside
    np.multiply(inside, _polynomial(fit.numerator, squares), out=out)
    np.divide(out, _polynomial(fit.denominator, squares), out=out)
    np.clip(out, -1.0, 1.0, out=out)  # rounding may have exceeded the bounds
    np.copysign(1.0, inside, out=out, where=np.abs(inside) >= fit.end)


def _erfc(x: Array, fit: Fit, out: Array) -> None:
    """Compute one block; `out` may be `x`."""
    left = x < 0.0
    size = np.clip(np.abs(x), 0.0, fit.end)
    bits = LEADING_HALF[size.dtype.itemsize]
    short = (size.view(bits.dtype) & bits).view(size.dtype)
    falling = np.exp(-(short * short))
    falling *= np.exp((short - size) * (short + size))
    falling *= _polynomial(fit.numerator, size)
    np.divide(falling, _polynomial(fit.denominator, size), out=out)
    np.subtract(np.multiply(left, 2.0, dtype=out.dtype), out, out=out)
    np.abs(out, out=out)  # erfc(x) for x >= 0, and 2 - erfc(-x) for x < 0


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Evaluate a polynomial by Horner's rule; the coefficient of the highest power is first."""
    highest, second, *rest = coefficients
    total: Array = x * highest
    total += second
    for coefficient in rest:
        total *= x
        total += coefficient
    return total


FUNCTIONS["erf"] = erf
FUNCTIONS["erfc"] = erfc
