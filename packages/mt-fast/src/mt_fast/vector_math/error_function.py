"""The error function, and its complement."""

from __future__ import annotations

from mt_fast.vector_math.exponentials import exp_inside
from mt_fast.vector_math.values import (
    FLOAT32,
    FLOAT64,
    Value,
    at_most,
    copysign,
    fma,
    in_float64,
    polynomial,
    where,
)
from mt_tensor.backends.extending import ERFC_FLOAT32

NEAR = {FLOAT32: 0.9, FLOAT64: 1.0}
"""Up to here, the error function is an odd polynomial."""

END = {FLOAT32: 3.93, FLOAT64: 5.93}
"""From here on, it is 1."""

ERF = {
    FLOAT32: (
        7.943537e-05,
        -0.0008039784,
        0.005191754,
        -0.02685556,
        0.11283624,
        -0.3761263,
        0.12837917,
    ),
    FLOAT64: (
        -7.584592743213617e-10,
        1.3606279663931811e-08,
        -1.6182049646259312e-07,
        1.6443956865187817e-06,
        -1.4924454537640245e-05,
        0.00012055280133698285,
        -0.0008548325478746354,
        0.005223977596689263,
        -0.02686617064195819,
        0.11283791670936952,
        -0.37612638903183343,
        0.12837916709551256,
    ),
}
"""Of `erf(x) / x - 1`, in powers of x x."""

LOG_ERFC = {
    FLOAT32: (
        0.00019716172,
        -0.0030554417,
        0.022276519,
        -0.104036324,
        -0.6370608,
        -1.127749,
        -0.00017763693,
    ),
    FLOAT64: (
        1.0388159264246785e-12,
        -4.750716956756816e-11,
        1.0168640845716845e-09,
        -1.3520213086122513e-08,
        1.2481587269852966e-07,
        -8.451123220535883e-07,
        4.301452214775098e-06,
        -1.6420442316169543e-05,
        4.476728912922488e-05,
        -6.97450764749599e-05,
        -4.5964837232948384e-05,
        0.0006428456180576907,
        -0.001770938230640939,
        0.0002822394860010585,
        0.019076948323215343,
        -0.10274663924883513,
        -0.6366287048476214,
        -1.1283772821644562,
        -1.8440802188596914e-07,
    ),
}
"""Of `log(1 - erf(x))` from `NEAR` to `END`, to the smallest error of `erf(x)`."""


def erf(x: Value) -> Value:
    """Return the error function: an odd polynomial, or `1 - exp(p)`, p being another."""
    size = abs(x)
    near = fma(polynomial(x * x, ERF[x.precision]), size, size)
    far = 1.0 - exp_inside(polynomial(at_most(size, END[x.precision]), LOG_ERFC[x.precision]))
    return copysign(where(size < NEAR[x.precision], near, far), x)


@in_float64
def erfc(x: Value) -> Value:
    """Return `1 - erf(x)`, exact also where erf(x) is almost 1: `exp(-x x)` times a quotient."""
    size = at_most(abs(x), ERFC_FLOAT32.end)
    numerator = polynomial(size, ERFC_FLOAT32.numerator)
    right = exp_inside(-(size * size)) * numerator / polynomial(size, ERFC_FLOAT32.denominator)
    return where(x < 0.0, 2.0 - right, right)
