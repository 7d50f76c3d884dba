"""Integers plus 0.5, integers of 32 bits plus floats, and 200 plus 100 in 8 bits.

The last is 44 in tensors, because 8 bits overflow above 255. Python's numbers do not.
"""

from typing import Any

INTEGERS, FLOATS = [1, 2, 3], [0.25, 0.5, 0.75]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    halves = operators.addLists(INTEGERS, [0.5] * 3)
    mixed = operators.addLists(INTEGERS, FLOATS)
    (large,) = operators.addLists([200], [100])
    return [list(halves), list(mixed), large % 256], None


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    halves = mt.tensor(INTEGERS) + 0.5
    mixed = mt.tensor(INTEGERS, dtype="int32") + mt.tensor(FLOATS)
    large = mt.tensor([200], dtype="uint8") + 100
    return [halves, mixed, large.item()], None


def reference() -> tuple[Any, Any]:
    halves = [integer + 0.5 for integer in INTEGERS]
    mixed = [integer + number for integer, number in zip(INTEGERS, FLOATS, strict=True)]
    return [halves, mixed, 300 % 256], None
