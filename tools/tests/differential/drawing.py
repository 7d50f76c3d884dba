"""Random shapes, elements and settings for programs."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

import numpy as np

from differential.programs import Source
from mt_tensor.core.dtypes import Array

Option = TypeVar("Option")

FLOATS = ("float32", "float64", "float16")
INT_DTYPES = ("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
DTYPES = (*FLOATS, *INT_DTYPES, "bool")

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 1e-40, 65504.0, 0.5)
"""Floating-point numbers at which formulas often fail."""

INTEGERS = (0, 1, -1, 2, -2, 3, 4, 5, 7, -3, 11, -11)
FAR = (2**31, -(2**31) - 1, 2**63 - 1, -(2**63))
NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 1.5, 3.0, float("inf"), float("nan"), 1e-3, 1e6)
"""Replacements of numbers in settings."""

SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5)


class Draw(Random):
    """Random choices, determined by a seed and the number of a program."""

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.random() < probability

    def one_of(self, options: Sequence[Option]) -> Option:
        """Return a random element of a sequence."""
        return options[int(self.random() * len(options))]


def elements(draw: Draw, shape: tuple[int, ...], dtype: str, like: Array) -> Array:
    """Return elements of a dtype: like those of a sample, ordinary, or special ones."""
    size = int(np.prod(shape))
    rng = np.random.default_rng(draw.getrandbits(32))
    kind = draw.random()
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool).reshape(shape)
    if (like.size and kind < 0.4) or (like.dtype.kind != "f" and like.size and kind < 0.85):
        values = rng.choice(like.reshape(-1), size)
    elif dtype in INT_DTYPES:
        info = np.iinfo(dtype)
        values = (
            rng.integers(-3, 4, size)
            if kind < 0.85
            else rng.choice([info.min, info.max, 0, 1], size)
        )
    elif kind < 0.6:
        values = rng.integers(-12, 13, size) / 4.0
    elif kind < 0.85:
        values = rng.standard_normal(size)
    elif kind < 0.93:
        values = rng.choice(SPECIAL, size)
    else:
        values = np.where(
            rng.random(size) < 0.2, rng.choice(SPECIAL, size), rng.standard_normal(size)
        )
    with np.errstate(all="ignore"):
        if dtype in INT_DTYPES and values.dtype.kind == "f":
            values = np.nan_to_num(values, posinf=7, neginf=-7).clip(-100, 100)
        return np.asarray(values).astype(dtype).reshape(shape)


def another_shape(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that differs in one dimension."""
    kind = draw.randrange(4)
    where = draw.randrange(len(shape) + 1)
    if kind == 0 or not shape:
        return (*shape[:where], draw.one_of((1, 1, 2)), *shape[where:])
    where = min(where, len(shape) - 1)
    if kind == 1:
        return (*shape[:where], *shape[where + 1 :])
    return (*shape[:where], draw.one_of(SIZES), *shape[where + 1 :])


def changed(draw: Draw, value: Any, known: Sequence[Any]) -> Any:
    """Return a setting of the same type, a known value of this parameter, or an invalid one."""
    kind = draw.random()
    if kind < 0.35 and known:
        return draw.one_of(known)
    if kind > 0.97:
        return draw.one_of((None, True, 1, 0.5, "?", (), [1], -1))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return _number(draw, isinstance(value, int))
    if isinstance(value, slice):
        start, stop = draw.one_of((None, 0, 1, -1)), draw.one_of((None, 1, 2, -1, 5))
        return slice(start, stop, draw.one_of((None, 1, 2)))
    if isinstance(value, Source):
        return Source(f"torch.{draw.one_of(DTYPES)}")
    if isinstance(value, tuple | list) and value:
        return _sequence(draw, value)
    return draw.one_of(known) if known else value


def _number(draw: Draw, integer: bool) -> float:
    if integer:
        return int(draw.one_of(FAR if draw.chance(0.03) else INTEGERS))
    return float(draw.one_of(NUMBERS))


def _sequence(draw: Draw, value: Any) -> Any:
    """Return a tuple or list with one element removed or changed."""
    where = draw.randrange(len(value))
    part = [] if draw.chance(0.2) else [changed(draw, value[where], ())]
    return type(value)([*value[:where], *part, *value[where + 1 :]])
