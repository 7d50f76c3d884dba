"""Settings of layers and functions that are integers, or pairs of them."""

from __future__ import annotations

from typing import Any

from mt_nn.errors import SettingError
from mt_tensor.arguments import as_integer
from mt_tensor.errors import DomainError

Pair = int | tuple[int, int]


def integer(name: str, value: Any, least: int) -> int:
    """Return a setting that is an integer, Python's or NumPy's, as Python's.

    Raises:
        SettingError: it is something else, or below `least`.
    """
    try:
        return as_integer(name, value, least)
    except (TypeError, DomainError) as error:
        raise SettingError(str(error)) from None


def pair(name: str, value: Any, least: int) -> tuple[int, int]:
    """Return a setting given as one number or two, for height and width.

    Raises:
        SettingError: it is no integer or pair of integers, or below `least`.
    """
    given = value if isinstance(value, tuple | list) else (value, value)
    if len(given) == 2 and given[0].__class__ is int and given[1].__class__ is int:
        first, second = given
        if first >= least and second >= least:  # as a layer's always are
            return first, second
    try:
        first, second = (integer(name, number, least) for number in given)
    except ValueError:
        raise SettingError(
            f"{name} must be one or two integers from {least} on; got {value!r}."
        ) from None
    return first, second
