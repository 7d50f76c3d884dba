"""Elementary functions as code that LLVM can vectorize.

C's functions process one element at a time: they branch, use lookup tables, and are calls. The
functions here are straight-line arithmetic: reduce the argument to a range near 0 or 1, evaluate a
polynomial, and select special values at the end. Products and sums are fused (`fma`), which every
processor with AVX2, AVX-512 or NEON supports. The error is below 1.5 units in the last place, that
of sigmoid below 2.5 and that of the normal distribution below 4.5; inf, nan, signed zeros and
subnormal numbers give the results of IEEE 754.

These are the functions that networks use. Most compute in their own dtype, on as many elements as a
register holds. Sines, cosines and powers of float32 compute in float64, whose rounding errors
vanish in the result; that is half as fast, and simple. Polynomials are fitted by Remez's algorithm,
in 50 digits, to the smallest relative error of the final result, a few hundredths of a unit in the
last place. All other functions are C's.
"""

from __future__ import annotations

from mt_fast.vector_math.calling import Written, callable_in_kernels
from mt_fast.vector_math.error_function import erf
from mt_fast.vector_math.exponentials import decay, exp, exp2, expm1, sigmoid, tanh
from mt_fast.vector_math.logarithms import log, log1p, log2, log10
from mt_fast.vector_math.normal import gelu, ndtr
from mt_fast.vector_math.powers import pow
from mt_fast.vector_math.trigonometry import cos, sin
from mt_fast.vector_math.values import FLOAT32, FLOAT64, Format

__all__ = ["FLOAT32", "FLOAT64", "IN_FLOAT64", "WRITTEN", "Written", "callable_in_kernels", "decay"]


def _by_name(*functions: Written) -> dict[str, Written]:
    return {function.__name__: function for function in functions}


_OF_BOTH = _by_name(exp, exp2, expm1, log, log2, log10, log1p, tanh, sigmoid, ndtr, gelu)

IN_FLOAT64 = _by_name(sin, cos, pow)
"""The functions of float32 that compute in float64."""

WRITTEN: dict[Format, dict[str, Written]] = {
    FLOAT32: {**_OF_BOTH, **_by_name(erf), **IN_FLOAT64},
    FLOAT64: _OF_BOTH,
}
"""The functions of each float format, by name.

They are elementary functions, and operators that are compositions on other backends. Those of
float64 are a subset of those of float32.
"""
