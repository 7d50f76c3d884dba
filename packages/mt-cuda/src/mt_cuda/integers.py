"""Division, shifts, gcd and powers: operations that take several steps in kernels.

The core lowers each operation to one expression. These functions have the same source as in stage
3, except for the power of integers, which is a loop.
"""

from __future__ import annotations

import functools

from mt_cuda.core.device import HELPERS, TABLES
from mt_fast.extending import integer_functions
from mt_tensor.extending import DTYPES

_INTEGER_POWER = """\
def whole_power(base, exponent):  # by squaring; a fraction is dropped, as everywhere
    power = {wide}(1)
    factor = {wide}(base)
    rest = {wide}(exponent)
    if rest < 0:
        if (base != 1) & (base != -1):
            power = {wide}(0)
        rest = {wide}(-rest)
    while rest > 0:
        if rest % {wide}(2) == {wide}(1):
            power = {wide}(power * factor)
        factor = {wide}(factor * factor)
        rest = {wide}(rest // {wide}(2))
    return {kind}(power)
"""


def _power(name: str) -> str:
    """Return the source of the function that raises integers to a power, or "" for other dtypes."""
    dtype = DTYPES[name]
    if dtype.kind != "integer":
        return ""
    return _INTEGER_POWER.format(kind=name, wide="int64" if dtype.is_signed else "uint64")


for _name in integer_functions.NAMES:
    HELPERS[_name] = functools.partial(integer_functions.text, _name, fmod="math.fmod")
HELPERS["pow"] = _power
for _name in integer_functions.FLOATS:
    for _table in TABLES.values():
        _table[_name] = f"{_name}({{0}}, {{1}})"
for _wide in ("int64", "uint64"):
    TABLES[_wide]["pow"] = "whole_power({0}, {1})"
    for _name in integer_functions.INTEGERS:
        TABLES[_wide][_name] = f"{_name}({_wide}({{0}}), {_wide}({{1}}))"
