"""Floating-point values of a kernel, for writing mathematics.

A function of this folder is Python that runs once, while a kernel is compiled. Its arguments are
values that the kernel will compute, and each operation on them (`x * y`, `where`, `fma`) emits an
instruction. So the mathematics is written once for both float dtypes: a Python number becomes a
constant of the dtype of the other operand, and tables with a `Format` as the key hold the
differences.

The instructions compute one element. As they contain no branches and no calls, LLVM vectorizes
them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from llvmlite import ir


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A binary floating-point format of IEEE 754.

    Attributes:
        name: its name in NumPy.
        type: its LLVM type.
        bits: the LLVM type of integers of the same size.
        places: the number of stored bits of the fraction.
        bias: the bias of the stored exponent.
    """

    name: str
    type: Any
    bits: Any
    places: int
    bias: int

    def in_parts(self, exact: Decimal, significant: int | None = None) -> tuple[float, float]:
        """Return a constant as the sum of two numbers of this format, of which the second is tiny.

        Args:
            exact: the constant, with more digits than one number holds.
            significant: the number of bits of the first, so that small multiples of it are exact;
                None for all.
        """
        kind = np.dtype(self.name).type
        high = float(kind(exact))
        if significant is not None:
            unit = 2.0 ** (int(np.frexp(high)[1]) - significant)
            high = round(high / unit) * unit
        return high, float(kind(exact - Decimal(high)))


FLOAT32 = Format("float32", ir.FloatType(), ir.IntType(32), 23, 127)
"""The format of single precision."""

FLOAT64 = Format("float64", ir.DoubleType(), ir.IntType(64), 52, 1023)
"""The format of double precision."""


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A boolean of a kernel."""

    builder: Any
    value: Any

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.builder, self.builder.or_(self.value, other.value))

    def __invert__(self) -> Condition:
        return Condition(self.builder, self.builder.not_(self.value))


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A number of a kernel.

    Attributes:
        builder: emits the instructions.
        value: the LLVM value.
        format: its format.
        precision: the format of the final result, which determines the required accuracy.
    """

    builder: Any
    value: Any
    format: Format
    precision: Format

    def new(self, value: Any) -> Value:
        """Wrap an LLVM value of the same format."""
        return Value(self.builder, value, self.format, self.precision)

    def like(self, number: Value | float) -> Value:
        """Return a Python number as a constant of the same format; return a value unchanged."""
        if isinstance(number, Value):
            return number
        return self.new(ir.Constant(self.format.type, number))

    @property
    def is_wider(self) -> bool:
        """Whether the format has more digits and a wider range than the result."""
        return self.format is not self.precision

    def __add__(self, other: Value | float) -> Value:
        return self.new(self.builder.fadd(self.value, self.like(other).value))

    def __radd__(self, other: float) -> Value:
        return self.like(other) + self

    def __sub__(self, other: Value | float) -> Value:
        return self.new(self.builder.fsub(self.value, self.like(other).value))

    def __rsub__(self, other: float) -> Value:
        return self.like(other) - self

    def __mul__(self, other: Value | float) -> Value:
        return self.new(self.builder.fmul(self.value, self.like(other).value))

    def __rmul__(self, other: float) -> Value:
        return self.like(other) * self

    def __truediv__(self, other: Value | float) -> Value:
        return self.new(self.builder.fdiv(self.value, self.like(other).value))

    def __rtruediv__(self, other: float) -> Value:
        return self.like(other) / self

    def __neg__(self) -> Value:
        return self.new(self.builder.fneg(self.value))

    def __abs__(self) -> Value:
        return self.called("llvm.fabs")

    def __lt__(self, other: Value | float) -> Condition:
        return self._compared("<", other)

    def __gt__(self, other: Value | float) -> Condition:
        return self._compared(">", other)

    def equals(self, other: Value | float) -> Condition:
        """Compare for equality; nan equals nothing."""
        return self._compared("==", other)

    def _compared(self, how: str, other: Value | float) -> Condition:
        holds = self.builder.fcmp_ordered(how, self.value, self.like(other).value)
        return Condition(self.builder, holds)

    def called(self, function: str, *others: Value | float) -> Value:
        """Call an LLVM intrinsic with this number and others as arguments."""
        values = [self.value, *(self.like(other).value for other in others)]
        kind = ir.FunctionType(self.format.type, [self.format.type] * len(values))
        declared = self.builder.module.declare_intrinsic(function, [self.format.type], kind)
        return self.new(self.builder.call(declared, values))

    def to(self, other: Format) -> Value:
        """Convert to the other format, with rounding if that is the smaller one."""
        convert = self.builder.fpext if other is FLOAT64 else self.builder.fptrunc
        return Value(self.builder, convert(self.value, other.type), other, self.precision)

    def pattern(self) -> Any:
        """Return the bits of the number, as an LLVM integer."""
        return self.builder.bitcast(self.value, self.format.bits)

    def of_pattern(self, bits: Any) -> Value:
        """Return the number of the same format with these bits."""
        return self.new(self.builder.bitcast(bits, self.format.type))

    def integer(self, number: int) -> Any:
        """Return an LLVM integer constant with as many bits as the number has."""
        return ir.Constant(self.format.bits, number)


def in_float64(function: Callable[..., Value]) -> Callable[..., Value]:
    """Turn a function of float64 into one of float32, rounded once at the end."""

    @functools.wraps(function)
    def of_float32(*arguments: Value) -> Value:
        return function(*(argument.to(FLOAT64) for argument in arguments)).to(FLOAT32)

    return of_float32


# --- Functions that are one instruction ---------------------------------------------------------


def where(condition: Condition, if_true: Value, if_false: Value | float) -> Value:
    """Return `if_true` where the condition holds, else `if_false`."""
    values = if_true.value, if_true.like(if_false).value
    return if_true.new(if_true.builder.select(condition.value, *values))


def fma(x: Value, y: Value | float, z: Value | float) -> Value:
    """Return `x * y + z`, rounded once."""
    return x.called("llvm.fma", y, z)


def nearest(x: Value) -> Value:
    """Return the nearest integer."""
    return x.called("llvm.rint")


def copysign(x: Value, y: Value) -> Value:
    """Return `x` with the sign of `y`, also for zeros."""
    return x.called("llvm.copysign", y)


# --- Functions that are several instructions ----------------------------------------------------


def at_least(x: Value, low: float) -> Value:
    """Return the larger of `x` and `low`; nan is kept."""
    return where(x < low, x.like(low), x)


def at_most(x: Value, high: float) -> Value:
    """Return the smaller of `x` and `high`; nan is kept."""
    return where(x > high, x.like(high), x)


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Evaluate a polynomial by Horner's rule; the coefficient of the highest power is first."""
    total = x.like(coefficients[0])
    for coefficient in coefficients[1:]:
        total = fma(total, x, coefficient)
    return total


def integer_bits(n: Value, more: int = 0) -> Any:
    """Return `n + more` for an integer n as an LLVM integer, of which the lowest bits are valid.

    Adding a large number shifts the integer to the last bits of the sum.
    """
    return (n + (1.5 * 2.0**n.format.places + more)).pattern()


def nearest_and_bits(x: Value, factor: float, offset: int = 0) -> tuple[Value, Any]:
    """Return the integer n nearest to `x * factor`, and `n + offset` as from `integer_bits`."""
    large = 1.5 * 2.0**x.format.places + offset
    total = fma(x, factor, large)
    return total - large, total.pattern()


def power_of_two(biased: Any, like: Value) -> Value:
    """Return 2 to the integer power n; the result must be a normal number.

    Args:
        biased: `n + bias` in the lowest bits of an integer.
        like: a number of the format to return.
    """
    return like.of_pattern(like.builder.shl(biased, like.integer(like.format.places)))


def powers_of_two(doubly_biased: Any, like: Value) -> tuple[Value, Value]:
    """Return two powers of two whose product is 2 to the integer power n.

    Both are normal numbers even if the product is too large or too small for one.

    Args:
        doubly_biased: `n + 2 * bias` in the lowest bits of an integer.
        like: a number of the format to return.
    """
    half = like.builder.lshr(doubly_biased, like.integer(1))
    rest = like.builder.sub(doubly_biased, half)
    return power_of_two(half, like), power_of_two(rest, like)


def exponent_and_fraction(x: Value) -> tuple[Value, Value]:
    """Return e and f with `x = f * 2**e` and f between sqrt(1/2) and sqrt(2).

    The number is positive, and neither subnormal nor infinite.
    """
    kind, builder = x.format, x.builder
    itemsize = np.dtype(kind.name).itemsize
    root_of_half = x.integer(int(np.sqrt(np.array(0.5, kind.name)).view(f"u{itemsize}")))
    from_root = builder.sub(x.pattern(), root_of_half)

    exponent = builder.and_(from_root, x.integer(-1 << kind.places))
    fraction = x.of_pattern(builder.sub(x.pattern(), exponent))
    if kind is FLOAT32:
        shifted = builder.ashr(exponent, x.integer(kind.places))
        return x.new(builder.sitofp(shifted, kind.type)), fraction

    # AVX2 does not convert 64-bit integers: the integer becomes the last bits of a large float.
    biased = builder.add(exponent, x.integer(kind.bias << kind.places))
    biased = builder.lshr(biased, x.integer(kind.places))
    large = x.like(2.0**kind.places)  # its last bits count from 0
    counted = x.of_pattern(builder.or_(biased, large.pattern()))
    return counted - (2.0**kind.places + kind.bias), fraction
