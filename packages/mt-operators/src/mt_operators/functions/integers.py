"""Operators of integers: bitwise operations and divisors."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast

from mt_operators.core.elementary import elementary, where
from mt_operators.core.table import define_steps
from mt_operators.functions.arithmetic import floor_divide

define_integer = partial(define_steps, result="integer")

BITS = 64
"""The width of integers; shifts by negative or larger numbers shift out all bits."""


@elementary
def bitwise_and(x: int, y: int) -> int:
    """Return the bitwise AND."""
    return x & y


@elementary
def bitwise_or(x: int, y: int) -> int:
    """Return the bitwise OR."""
    return x | y


@elementary
def bitwise_xor(x: int, y: int) -> int:
    """Return the bitwise exclusive OR."""
    return x ^ y


@elementary
def bitwise_not(x: int) -> int:
    """Return the bitwise complement, `-x - 1`."""
    return x ^ -1


@elementary
def bitwise_left_shift(x: int, y: int) -> int:
    """Return `x` shifted left by `y` bits; 0 if all are shifted out or `y` is negative."""
    return x << y if 0 <= y < BITS else 0


@elementary
def bitwise_right_shift(x: int, y: int) -> int:
    """Return `x` shifted right by `y` bits; the sign is kept.

    If all bits are shifted out or `y` is negative, the result is 0, or -1 for negative `x`.
    """
    return x >> (y if 0 <= y < BITS else BITS)


@elementary
def gcd(x: int, y: int) -> int:
    """Return the greatest common divisor, 0 or more."""
    return math.gcd(x, y)


def lcm(x: int, y: int) -> int:
    """Return the least common multiple, 0 or more; 0 if either is 0."""
    divisor: Any = gcd(x, y)
    return cast("int", abs(floor_divide(x, where(divisor == 0, 1, divisor)) * y))


define_integer("bitwise_and", bitwise_and, note="the bitwise AND of x and y")
define_integer("bitwise_or", bitwise_or, note="the bitwise OR of x and y")
define_integer("bitwise_xor", bitwise_xor, note="the bitwise exclusive OR of x and y")
define_integer("bitwise_not", bitwise_not, note="the bitwise complement of x, -x - 1")
define_integer(
    "bitwise_left_shift", bitwise_left_shift, note="the bits of x shifted left by y places"
)
define_integer(
    "bitwise_right_shift",
    bitwise_right_shift,
    note="the bits of x shifted right by y places; the sign is kept",
)
define_integer("gcd", gcd, note="the greatest common divisor, not negative")
define_integer("lcm", lcm, note="the least common multiple, not negative")
