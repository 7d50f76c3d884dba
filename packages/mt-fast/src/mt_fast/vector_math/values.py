"""Floating-point values of a kernel, to write mathematics with.

A function of this folder is Python that runs once, while a kernel is being compiled. Its arguments
are values that the kernel will compute, and each operation on them (`x * y`, `where`, `fma`) writes
an instruction. So the mathematics is written once for both float types: a plain number becomes a
constant of the type of the value beside it, and tables by `Format` hold what differs.

The instructions compute one element. As there are no branches and no calls among them, LLVM makes
them compute as many at once as the processor can.
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
    """A binary floating-point type of IEEE 754.

    Attributes:
        name: its name in NumPy.
        type: its LLVM type.
        bits: the LLVM type of integers of the same size.
        places: how many bits of the fraction are stored.
        bias: what the stored exponent exceeds the true one by.
    """

    name: str
    type: Any
    bits: Any
    places: int
    bias: int

    def in_parts(self, exact: Decimal, significant: int | None = None) -> tuple[float, float]:
        """Return a constant as the sum of two numbers of this type, the second being tiny.

        Args:
            exact: the constant, with more digits than one number holds.
            significant: how many bits the first may have, so that multiples of it are exact; as
                many as there are if None.
        """
        kind = np.dtype(self.name).type
        high = float(kind(exact))
        if significant is not None:
            unit = 2.0 ** (int(np.frexp(high)[1]) - significant)
            high = round(high / unit) * unit
        return high, float(kind(exact - Decimal(high)))


FLOAT32 = Format("float32", ir.FloatType(), ir.IntType(32), 23, 127)
FLOAT64 = Format("float64", ir.DoubleType(), ir.IntType(64), 52, 1023)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Whether something holds."""

    builder: Any
    value: Any

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.builder, self.builder.or_(self.value, other.value))

    def __invert__(self) -> Truth:
        return Truth(self.builder, self.builder.not_(self.value))


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A number.

    Attributes:
        builder: what writes the instructions.
        value: the LLVM value.
        format: its type.
        precision: the format of the result that it serves, which tells how exact it has to be.
    """

    builder: Any
    value: Any
    format: Format
    precision: Format

    def new(self, value: Any) -> Value:
        """Return an LLVM value of the same type."""
        return Value(self.builder, value, self.format, self.precision)

    def like(self, number: Value | float) -> Value:
        """Return a plain number as a constant of the same type; a value as it is."""
        if isinstance(number, Value):
            return number
        return self.new(ir.Constant(self.format.type, number))

    @property
    def is_wider(self) -> bool:
        """Whether the format has more digits than the result, and a wider range."""
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

    def __lt__(self, other: Value | float) -> Truth:
        return self._compared("<", other)

    def __gt__(self, other: Value | float) -> Truth:
        return self._compared(">", other)

    def equals(self, other: Value | float) -> Truth:
        """Whether both are the same number; nan equals nothing."""
        return self._compared("==", other)

    def _compared(self, how: str, other: Value | float) -> Truth:
        holds = self.builder.fcmp_ordered(how, self.value, self.like(other).value)
        return Truth(self.builder, holds)

    def called(self, function: str, *others: Value | float) -> Value:
        """Return what LLVM's own function of that name makes of this number and others."""
        values = [self.value, *(self.like(other).value for other in others)]
        kind = ir.FunctionType(self.format.type, [self.format.type] * len(values))
        declared = self.builder.module.declare_intrinsic(function, [self.format.type], kind)
        return self.new(self.builder.call(declared, values))

    def to(self, other: Format) -> Value:
        """Return the number in the other format, rounded if that is the smaller one."""
        convert = self.builder.fpext if other is FLOAT64 else self.builder.fptrunc
        return Value(self.builder, convert(self.value, other.type), other, self.precision)

    def pattern(self) -> Any:
        """Return the bits of the number, as an LLVM integer."""
        return self.builder.bitcast(self.value, self.format.bits)

    def of_pattern(self, bits: Any) -> Value:
        """Return the number of the same type that has these bits."""
        return self.new(self.builder.bitcast(bits, self.format.type))

    def integer(self, number: int) -> Any:
        """Return a constant as an LLVM integer of the same size."""
        return ir.Constant(self.format.bits, number)


def in_float64(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return a function of float64 as one of float32, which is rounded once, at the end."""

    @functools.wraps(function)
    def of_float32(*arguments: Value) -> Value:
        return function(*(argument.to(FLOAT64) for argument in arguments)).to(FLOAT32)

    return of_float32


# --- Functions that are one instruction ---------------------------------------------------------


def where(condition: Truth, if_true: Value, if_false: Value | float) -> Value:
    """Return `if_true` where the condition holds, else `if_false`."""
    values = if_true.value, if_true.like(if_false).value
    return if_true.new(if_true.builder.select(condition.value, *values))


def fma(x: Value, y: Value | float, z: Value | float) -> Value:
    """Return `x * y + z`, rounded once."""
    return x.called("llvm.fma", y, z)


def nearest(x: Value) -> Value:
    """Return the nearest whole number."""
    return x.called("llvm.rint")


def copysign(x: Value, y: Value) -> Value:
    """Return `x` with the sign of `y`, also of a zero."""
    return x.called("llvm.copysign", y)


# --- Functions that are a few -------------------------------------------------------------------


def at_least(x: Value, low: float) -> Value:
    """Return the larger of `x` and `low`; nan stays."""
    return where(x < low, x.like(low), x)


def at_most(x: Value, high: float) -> Value:
    """Return the smaller of `x` and `high`; nan stays."""
    return where(x > high, x.like(high), x)


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Return a polynomial by Horner's rule; the coefficient of the highest power comes first."""
    total = x.like(coefficients[0])
    for coefficient in coefficients[1:]:
        total = fma(total, x, coefficient)
    return total


def whole_bits(n: Value, more: int = 0) -> Any:
    """Return the whole number `n + more` as an LLVM integer, of which the lowest bits are right.

    It is added to a number so large that it lands in its last bits.
    """
    return (n + (1.5 * 2.0**n.format.places + more)).pattern()


def nearest_and_bits(x: Value, factor: float, offset: int = 0) -> tuple[Value, Any]:
    """Return the whole number n nearest to `x * factor`, and `n + offset` as `whole_bits` does."""
    large = 1.5 * 2.0**x.format.places + offset
    total = fma(x, factor, large)
    return total - large, total.pattern()


def power_of_two(biased: Any, like: Value) -> Value:
    """Return 2 to the whole number n, which must be the exponent of a normal number.

    Args:
        biased: `n + bias` in the lowest bits of an integer.
        like: a number of the type to return.
    """
    return like.of_pattern(like.builder.shl(biased, like.integer(like.format.places)))


def powers_of_two(doubly_biased: Any, like: Value) -> tuple[Value, Value]:
    """Return two powers of two whose product is 2 to the whole number n.

    They are normal numbers also where that power is too large or too small to be one.

    Args:
        doubly_biased: `n + 2 * bias` in the lowest bits of an integer.
        like: a number of the type to return.
    """
    half = like.builder.lshr(doubly_biased, like.integer(1))
    rest = like.builder.sub(doubly_biased, half)
    return power_of_two(half, like), power_of_two(rest, like)


def exponent_and_fraction(x: Value) -> tuple[Value, Value]:
    """Return e and f with `x = f * 2**e` and f between the roots of 1/2 and 2.

    For a positive number that is neither subnormal nor infinite.
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

    # AVX2 has no conversion of 64 bits: they become the last ones of a large float.
    biased = builder.add(exponent, x.integer(kind.bias << kind.places))
    biased = builder.lshr(biased, x.integer(kind.places))
    large = x.like(2.0**kind.places)  # whose last bits count from 0
    counted = x.of_pattern(builder.or_(biased, large.pattern()))
    return counted - (2.0**kind.places + kind.bias), fraction
