"""Reduce angles by multiples of a full turn.

An angle in radians is `n pi / 2 + r`, and its sine and cosine are those of r, exchanged or negated
as the quarters n say. To find r of an angle of a billion turns to the last digit, it is multiplied
by 1 / (2 pi) with hundreds of digits, of which only a few matter: those before them make whole
turns, and those behind them nothing. So any angle takes as long as any other (after M. Payne and
R. Hanek, Radian reduction for trigonometric functions, 1983).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from llvmlite import ir

from mt_fast.vector_math.values import FLOAT64, Value, copysign, fma, nearest

DIGITS = (
    "28BE60DB9391054A7F09D5F47D4D377036D8A5664F10E4107F9458EAF7AEF1586DC91B8E909374B8"
    "01924BBA827464873F877AC72C4A69CFBA208D7D4BAED1213A671C09AD17DF904E64758E60D4CE7D"
    "272117E2EF7E4A0EC7FE25FFF7816603FBCBC462D6829B47DB4D9FB3C9F2C26DD3D18FD9A797FA8B"
    "5D49EEB1FAF97C5ECF41CE7DE294A4BA9AFED7EC47E357421580CC11BF1EDAEAFC33EF0826BD0D87"
)
"""The first hexadecimal digits of 1 / (2 pi)."""

TAU, TAU_LOW = FLOAT64.in_parts(Decimal("6.283185307179586476925286766559005768"))
"""2 pi."""


def reduced(x: Value) -> tuple[Value, Value, Value | None]:
    """Return n, r and a tiny rest with `x = n pi / 2 + r + rest` and r up to an eighth of a turn.

    Whole turns do not count. There is no rest where x is a float32, in float64.
    """
    return _of_float32(x) if x.is_wider else _of_float64(x)


# --- Of float32 ---------------------------------------------------------------------------------

PIECE, PIECES = 29, 5
"""A piece of so many bits times a float32 is exact in float64. After so many, and one that is as
long as a float64, nothing is missing beside the nearest that a float32 comes to a whole turn."""


def _pieces() -> list[float]:
    """Return 1 / (2 pi) as a sum of numbers of few bits, and a last one."""
    bits, count = int(DIGITS, 16), 4 * len(DIGITS)
    ends = [PIECE * i for i in range(1, PIECES + 1)]
    pieces = [(bits >> (count - end)) % (1 << PIECE) * 2.0**-end for end in ends]
    return [*pieces, (bits % (1 << (count - ends[-1]))) / (1 << count)]


def _of_float32(x: Value) -> tuple[Value, Value, None]:
    """Multiply by all pieces; each product loses its whole turns before it meets the next."""
    *products, last = [x * piece for piece in _pieces()]
    turns = [*(product - nearest(product) for product in products), last]
    n = nearest(_total(turns) * 4.0)
    rest = _total([fma(n, -0.25, turns[0]), *turns[1:]])
    return n, rest * TAU, None


def _total(values: list[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


# --- Of float64 ---------------------------------------------------------------------------------

WINDOW, WINDOWS = 48, 4
"""How many bits a window has that is cut out of the digits, and how many follow one another."""

ZEROS = 80
"""How many zeros stand before the digits, where the windows for the smallest numbers begin."""


def _of_float64(x: Value) -> tuple[Value, Value, Value]:
    """Multiply the fraction of x by the windows that its exponent points at.

    Each product is a sum of two floats, the second being its rounding error. They are added up so
    that nothing is lost, for near a multiple of pi / 2 the last of them are all that remains.
    """
    windows = _windows(x)
    f = _fraction(x)
    products = [f * window for window in windows]
    errors = [fma(f, windows[i], -products[i]) for i in range(3)]
    first, second = (product - nearest(product) for product in products[:2])
    turns, lost = _sum(first + errors[0], second)  # the inner sum has few enough bits to be exact
    n = nearest(turns * 4.0)
    small, lost_of_small = _sum(products[2], errors[1])
    turns, lost = _sum(fma(n, -0.25, turns), lost)
    turns, lost_by_both = _sum(turns, small)
    smallest = (lost + lost_of_small + lost_by_both) + (errors[2] + products[3])
    turns, rest = _sum(turns, smallest)
    r = turns * TAU
    return n, r, fma(turns, TAU, -r) + fma(turns, TAU_LOW, rest * TAU)


def _sum(x: Value, y: Value) -> tuple[Value, Value]:
    """Return `x + y`, and what that has lost to rounding (D. Knuth's TwoSum)."""
    total = x + y
    added = total - x
    return total, (x - (total - added)) + (y - added)


def _fraction(x: Value) -> Value:
    """Return f with `x = f 2**e` and |f| from 1 to 2."""
    bits = x.builder.and_(x.pattern(), x.integer((1 << x.format.places) - 1))
    return copysign(x.of_pattern(x.builder.or_(bits, x.like(1.0).pattern())), x)


def _windows(x: Value) -> list[Value]:
    """Return the digits of 1 / (2 pi) that matter for x, as what its fraction is multiplied by.

    A window begins at any bit: the eight bytes around it are loaded and shifted. It becomes a float
    as the last bits of one that is so large that they count what they should.
    """
    builder, integer, places = x.builder, x.integer, x.format.places
    exponent = builder.lshr(builder.shl(x.pattern(), integer(1)), integer(places + 1))
    skipped = builder.sub(exponent, integer(x.format.bias + places - ZEROS))
    before = builder.icmp_signed("<", skipped, integer(0))  # of numbers too small to need any
    skipped = builder.select(before, integer(0), skipped)
    behind = builder.sub(integer(ZEROS + 4 * len(DIGITS) - WINDOW), skipped)
    byte, shift = builder.lshr(behind, integer(3)), builder.and_(behind, integer(7))
    first = builder.gep(_table(x), [integer(0), byte])
    windows = []
    for i in range(WINDOWS):
        place = builder.gep(first, [integer(-WINDOW // 8 * i)])
        around = builder.load(builder.bitcast(place, x.format.bits.as_pointer()), align=1)
        bits = builder.and_(builder.lshr(around, shift), integer((1 << WINDOW) - 1))
        large = x.like(2.0 ** (2 * places - WINDOW * (i + 1)))
        windows.append(x.of_pattern(builder.or_(bits, large.pattern())) - large)
    return windows


def _table(x: Value) -> Any:
    """Return the digits as bytes, as a constant of the module.

    The last ones come first, as in the integers of all processors that Numba compiles for.
    """
    module, name = x.builder.module, "turns_per_radian"
    if name not in module.globals:
        size = (ZEROS + 4 * len(DIGITS)) // 8 + 8  # a load begins at each byte
        data = bytearray(int(DIGITS, 16).to_bytes(size, "little"))
        table = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), size), name)
        table.initializer = ir.Constant(table.value_type, data)
        table.global_constant, table.linkage = True, "internal"
    return module.globals[name]
