"""Helper functions that kernels call: integer division, shifts, gcd.

Most operations are lowered to one expression. These take several steps, so kernels call functions.
The functions are text, like kernels, for Numba on the CPU and for GPUs alike. On integers they
compute in int64 or uint64, and nothing traps: a quotient by zero is 0, and the one quotient that
overflows, the smallest integer by -1, wraps around. On floats they compute in the dtype of the
kernel, `{kind}` in the text.
"""

from __future__ import annotations

INTEGERS: dict[str, str] = {
    "floor_divide": """\
def floor_divide(x, y):
    if y == 0:
        return int64(0)
    if y == -1:
        return int64(-x)
    return int64(x // y)
""",
    "fmod": """\
def fmod(x, y):  # the remainder has the sign of x, where that of % has the sign of y
    if (y == 0) | (y == -1):
        return int64(0)
    rest = int64(x % y)
    if (rest != 0) & ((rest < 0) != (x < 0)):
        rest = int64(rest - y)
    return rest
""",
    "bitwise_left_shift": """\
def bitwise_left_shift(x, y):
    if (y < 0) | (y > 63):
        return {wide}(0)
    return {wide}(x << y)
""",
    "bitwise_right_shift": """\
def bitwise_right_shift(x, y):
    if (y < 0) | (y > 63):
        return int64(x >> int64(63))
    return int64(x >> y)
""",
    "gcd": """\
def gcd(x, y):  # Euclid's algorithm
    x = {wide}(abs(x))
    y = {wide}(abs(y))
    while y != 0:
        rest = {wide}(x % y)
        x = y
        y = rest
    return {wide}(abs(x))  # negative if an argument is the smallest integer
""",
}
"""The functions of integers by name; their arguments are int64 or uint64, `{wide}` in the text."""

UNSIGNED: dict[str, str] = {
    "floor_divide": """\
def floor_divide(x, y):
    return uint64(x // y) if y != 0 else uint64(0)
""",
    "fmod": """\
def fmod(x, y):
    return uint64(x % y) if y != 0 else uint64(0)
""",
    "bitwise_right_shift": """\
def bitwise_right_shift(x, y):
    return uint64(x >> y) if y < 64 else uint64(0)
""",
}
"""The functions that differ for unsigned integers; their arguments are uint64."""

FLOATS: dict[str, str] = {
    "floor_divide": """\
def floor_divide(x, y):
    remainder = {fmod}(x, y)
    quotient = (x - remainder) / y  # an integer, but for its rounding
    if (remainder != {kind}(0)) & ((remainder < {kind}(0)) != (y < {kind}(0))):
        quotient = quotient - {kind}(1)
    if (y == {kind}(0)) | (quotient == {kind}(0)) | (abs(quotient) == {kind}(inf)):
        return x / y if abs(x) >= abs(y) else x / y * {kind}(0)
    rounded = quotient - {fmod}(quotient, {kind}(1))
    if quotient - rounded > {kind}(0.5):
        rounded = rounded + {kind}(1)
    if rounded - quotient >= {kind}(0.5):
        rounded = rounded - {kind}(1)
    return rounded
""",
}
"""The functions of floats by name: `{kind}` is the dtype of their arguments, and `{fmod}` the
target's name for the remainder with the sign of `x`."""

NAMES = INTEGERS.keys() | FLOATS.keys()
"""The names of all functions."""


def text(name: str, kind: str, fmod: str) -> str:
    """Return the definition of a function for arguments of the dtype `kind`.

    Return an empty string if the function needs no definition for this dtype.

    Args:
        name: the function.
        kind: the name of a dtype.
        fmod: the name of `fmod` for floats on the target.
    """
    tables = {"f": FLOATS, "i": INTEGERS, "u": INTEGERS | UNSIGNED}
    wide = "uint64" if kind[0] == "u" else "int64"
    return tables[kind[0]].get(name, "").format(kind=kind, wide=wide, fmod=fmod)
