"""Shapes and rows of numbers that users type."""

from __future__ import annotations

import math
import re

from mt_tensor.extending import Shape, size_of

LONGEST = 200
"""The maximum number of characters of an input."""

MOST_DIMENSIONS = 6

LARGEST = 1e9
"""The maximum absolute value of a number."""


class InputError(ValueError):
    """Invalid or too large an input; the message says what to type."""


def as_shape(text: str, what: str, most: int) -> Shape:
    """Parse a shape such as `2, 3`; an empty text has no dimensions.

    Args:
        text: the input.
        what: its meaning, for messages.
        most: the maximum number of elements.

    Raises:
        InputError: it is invalid, or has too many elements.
    """
    parts = text.strip().strip("()[]").rstrip(", ").split(",") if text.strip("()[] ,") else []
    if len(text) > LONGEST or len(parts) > MOST_DIMENSIONS:
        raise InputError(f"{what} may have at most {MOST_DIMENSIONS} numbers, not {len(parts)}.")
    for part in parts:
        if not re.fullmatch(r"[0-9]{1,15}", part.strip()):
            raise InputError(
                f"{what} must be integers of 0 or more, separated by commas, such as 2, 3; found "
                f"{part.strip()!r}."
            )
    shape = tuple(int(part) for part in parts)
    if size_of(shape) > most:
        raise InputError(f"the limit is {most:,} elements; shape {shape} has {size_of(shape):,}.")
    return shape


def numbers(text: str, most: int) -> list[float]:
    """Parse a list of numbers, separated by spaces or commas.

    Raises:
        InputError: there are none, or too many, or one is invalid.
    """
    if len(text) > LONGEST:
        raise InputError(f"the list may have at most {LONGEST} characters, not {len(text)}.")
    words = text.replace(",", " ").split()
    if not 1 <= len(words) <= most:
        raise InputError(f"write 1 to {most} numbers, such as `3 1 4`, not {len(words)}.")
    return [_number(word) for word in words]


def _number(text: str) -> float:
    """Parse a number; infinity and nan are allowed."""
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{text!r} is not a number: write one such as 0.5.") from None
    if math.isfinite(value) and abs(value) > LARGEST:
        raise InputError(f"a number may be at most {LARGEST:g}, not {value:g}.")
    return value
