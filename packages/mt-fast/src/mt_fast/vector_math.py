"""Exponentials, logarithms and `tanh` of float32 as code that LLVM can vectorise.

C's functions take one element at a time, for they branch, look up tables, and are calls. These here
are straight arithmetic: the argument is brought near to 0 or 1, a polynomial does the rest, and
special values are chosen at the end, without branches. Products and sums are fused (`fma`), which
every processor with AVX2, AVX-512 or NEON has. The error is below 1.5 units in the last place; inf,
nan, zeros of both signs and subnormal numbers are as they should be.

The polynomials are those of the Cephes library (S. Moshier, netlib.org/cephes, single precision).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.typing import templates
from numba.extending import intrinsic

_compiled = njit(error_model="numpy", forceinline=True)


def _of_float32(arity: int) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator: from LLVM values to one, as a function of float32 for kernels."""

    def decorate(generate: Callable[..., Any]) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return generate(builder, *args)

        signature = templates.signature(types.float32, *[types.float32] * arity)  # type: ignore[no-untyped-call]
        typed: dict[int, Callable[..., Any]] = {
            1: lambda typing, x: (signature, code),
            3: lambda typing, x, y, z: (signature, code),
        }
        return intrinsic(typed[arity])

    return decorate


_FLOAT = ir.FloatType()
_INT = ir.IntType(32)
_ROOT_OF_HALF = ir.Constant(_INT, 0x3F3504F3)
_FRACTION = ir.Constant(_INT, 0x007FFFFF)
_PLACES = ir.Constant(_INT, 23)
_BIAS = ir.Constant(_INT, 127)


@_of_float32(3)
def fma(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Return `x * y + z`, rounded once."""
    kind = ir.FunctionType(_FLOAT, [_FLOAT] * 3)
    return builder.call(builder.module.declare_intrinsic("llvm.fma", [_FLOAT], kind), [x, y, z])


@_of_float32(1)
def nearest(builder: Any, x: Any) -> Any:
    """Return the nearest whole number."""
    return builder.call(builder.module.declare_intrinsic("llvm.rint", [_FLOAT]), [x])


@_of_float32(1)
def power_of_two(builder: Any, n: Any) -> Any:
    """Return 2 to the whole number `n`, from -126 to 127."""
    biased = builder.add(builder.fptosi(n, _INT), _BIAS)
    return builder.bitcast(builder.shl(biased, _PLACES), _FLOAT)


@_of_float32(1)
def exponent(builder: Any, x: Any) -> Any:
    """Return the whole number e with `x = fraction(x) * 2**e`."""
    bits = builder.sub(builder.bitcast(x, _INT), _ROOT_OF_HALF)
    return builder.sitofp(builder.ashr(bits, _PLACES), _FLOAT)


@_of_float32(1)
def fraction(builder: Any, x: Any) -> Any:
    """Return a positive number that is not subnormal, scaled to lie around 1.

    It lies between the root of 1/2 and that of 2.
    """
    bits = builder.sub(builder.bitcast(x, _INT), _ROOT_OF_HALF)
    return builder.bitcast(builder.add(builder.and_(bits, _FRACTION), _ROOT_OF_HALF), _FLOAT)


_0, _1, _2, _HALF = np.float32(0), np.float32(1), np.float32(2), np.float32(0.5)
_INF, _NAN = np.float32(math.inf), np.float32(math.nan)

_LOG2_E = np.float32(1.44269504088896341)
_LN_2 = np.float32(0.69314718055994530942)
_LN_2_HIGH, _LN_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
"""Two parts of the logarithm of 2. The first has so few digits that its multiples are exact."""

# --- Exponentials -------------------------------------------------------------------------------

_EXP_LOWEST, _EXP_HIGHEST = np.float32(-104.0), np.float32(88.8)
_EXP2_LOWEST, _EXP2_HIGHEST = np.float32(-150.0), np.float32(128.0)
"""Beyond these the result is 0, or infinite."""

_EXPM1_LOWEST, _MANY = np.float32(-20.0), np.float32(40.0)
"""Below the first the result is -1; 2 to the second is so large that 1 beside it is lost."""

_E0, _E1, _E2, _E3, _E4, _E5 = map(
    np.float32,
    (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5),
)


@_compiled
def _exp_less_1(r: Any) -> Any:
    """Return `exp(r) - 1` for an r no farther from 0 than half the logarithm of 2."""
    p = fma(fma(fma(fma(fma(_E0, r, _E1), r, _E2), r, _E3), r, _E4), r, _E5)
    return fma(p, r * r, r)


@_compiled
def _beyond(x: Any, n: Any) -> Any:
    """Return `x - n ln 2`."""
    return fma(-n, _LN_2_LOW, fma(-n, _LN_2_HIGH, x))


@_compiled
def _scaled(x: Any, n: Any) -> Any:
    """Return `x * 2**n`, in two steps, for 2**n may be too large or too small where that is not."""
    half = nearest(n * _HALF)
    return x * power_of_two(half) * power_of_two(n - half)


@_compiled
def exp(x: Any) -> Any:
    """Return e to the power x: `exp(r) * 2**n` with x = n ln 2 + r."""
    bounded = min(max(x, _EXP_LOWEST), _EXP_HIGHEST)
    n = nearest(bounded * _LOG2_E)
    found = _scaled(_exp_less_1(_beyond(bounded, n)) + _1, n)
    return found if x == x else x


@_compiled
def exp2(x: Any) -> Any:
    """Return 2 to the power x: `exp(r ln 2) * 2**n` with x = n + r."""
    bounded = min(max(x, _EXP2_LOWEST), _EXP2_HIGHEST)
    n = nearest(bounded)
    found = _scaled(_exp_less_1((bounded - n) * _LN_2) + _1, n)
    return found if x == x else x


@_compiled
def expm1(x: Any) -> Any:
    """Return `exp(x) - 1`: `(exp(r) - 1 + 1 - 2**-n) * 2**n` with x = n ln 2 + r."""
    bounded = min(max(x, _EXPM1_LOWEST), _EXP_HIGHEST)
    n = nearest(bounded * _LOG2_E)
    rest = _1 - power_of_two(-min(n, _MANY))
    found = _scaled(_exp_less_1(_beyond(bounded, n)) + rest, n)
    return found if abs(x) > _0 else x  # nan, and zero with its sign


# --- Logarithms ---------------------------------------------------------------------------------

_LEAST_NORMAL, _LIFT, _LIFTED = np.float32(1.17549435e-38), np.float32(2.0**25), np.float32(25)

_L0, _L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8 = map(
    np.float32,
    (
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    ),
)

_LOG2_E_LESS_1 = np.float32(0.44269504088896340736)
_LOG10_E_HIGH, _LOG10_E_LOW = np.float32(4.3359375e-1), np.float32(7.00731903251827651129e-4)
_LOG10_2_HIGH, _LOG10_2_LOW = np.float32(3.0078125e-1), np.float32(2.48745663981195213739e-4)
"""Logarithms of e and 2, in two parts as that of 2 above."""


@_compiled
def _parts(x: Any) -> Any:
    """Return e, r and s with `log(x) = e ln 2 + r + s`, where s is the smaller by far."""
    subnormal = x < _LEAST_NORMAL
    normal = x * _LIFT if subnormal else x
    e = exponent(normal) - (_LIFTED if subnormal else _0)
    r = fraction(normal) - _1
    square = r * r
    p = fma(fma(fma(fma(_L0, r, _L1), r, _L2), r, _L3), r, _L4)
    p = fma(fma(fma(fma(p, r, _L5), r, _L6), r, _L7), r, _L8)
    return e, r, fma(-_HALF, square, p * r * square)


@_compiled
def _with_ends(x: Any, found: Any) -> Any:
    """Return the logarithm of x, which was found as if x were positive and finite."""
    found = found if x < _INF else x  # also if x is nan
    return found if x > _0 or x != x else (-_INF if x == _0 else _NAN)


@_compiled
def log(x: Any) -> Any:
    """Return the natural logarithm."""
    e, r, s = _parts(x)
    return _with_ends(x, fma(e, _LN_2_HIGH, r + fma(e, _LN_2_LOW, s)))


@_compiled
def log2(x: Any) -> Any:
    """Return the logarithm to the base 2."""
    e, r, s = _parts(x)
    return _with_ends(x, e + (r + (s + fma(r, _LOG2_E_LESS_1, s * _LOG2_E_LESS_1))))


@_compiled
def log10(x: Any) -> Any:
    """Return the logarithm to the base 10."""
    e, r, s = _parts(x)
    low = fma(e, _LOG10_2_LOW, fma(s, _LOG10_E_HIGH, (r + s) * _LOG10_E_LOW))
    return _with_ends(x, fma(e, _LOG10_2_HIGH, fma(r, _LOG10_E_HIGH, low)))


@_compiled
def log1p(x: Any) -> Any:
    """Return `log(1 + x)`, mended by what the sum has lost to rounding."""
    total = _1 + x
    lost = x - (total - _1)
    found = log(total)
    found = found + lost / total if total > _0 and total < _INF else found
    return found if abs(x) > _0 else x


# --- tanh ---------------------------------------------------------------------------------------

_TANH_NEAR, _TANH_FAR = np.float32(0.625), np.float32(9.1)
"""Up to the first, a polynomial; beyond the second, 1."""

_T0, _T1, _T2, _T3, _T4 = map(
    np.float32,
    (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1),
)


@_compiled
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent: an odd polynomial, or `1 - 2 / (exp(2 |x|) + 1)`."""
    size = abs(x)
    square = x * x
    p = fma(fma(fma(fma(_T0, square, _T1), square, _T2), square, _T3), square, _T4)
    near = fma(p * square, x, x)
    far = _1 - _2 / (exp(_2 * min(size, _TANH_FAR)) + _1)
    far = far if x > _0 else -far
    found = near if size < _TANH_NEAR else far
    return found if size > _0 else x  # nan, and zero with its sign
