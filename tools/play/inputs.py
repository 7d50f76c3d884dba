"""What users type, and the error of invalid input."""

from __future__ import annotations

import math

LONGEST = 200
"""The maximum number of characters of an input."""

LARGEST = 1e9
"""The maximum absolute value of a number."""


class InputError(ValueError):
    """An input is invalid or too large; the message says what to do."""


def numbers(text: str, most: int) -> list[float]:
    """Parse a list of numbers, separated by spaces or commas; infinity and nan are allowed.

    Raises:
        InputError: the list is empty or too long, or a number is invalid.
    """
    if len(text) > LONGEST:
        raise InputError(f"the list may have at most {LONGEST} characters, not {len(text)}.")
    words = text.replace(",", " ").split()
    if not 1 <= len(words) <= most:
        raise InputError(f"write 1 to {most} numbers, such as `3 1 4`, not {len(words)}.")
    try:
        values = [float(word) for word in words]
    except ValueError as error:
        raise InputError(f"write numbers such as 0.5: {error}.") from None
    if any(math.isfinite(value) and abs(value) > LARGEST for value in values):
        raise InputError(f"a number may be at most {LARGEST:g}.")
    return values
