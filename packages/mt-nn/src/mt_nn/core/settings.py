"""Checks of integer settings, given once or once per dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_nn.core.errors import SettingError, SettingTypeError
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.errors import DomainError

Sizes = int | Sequence[int]
"""An integer for all dimensions, or one for each."""


def integer(name: str, value: Any, least: int) -> int:
    """Convert an integer of Python or NumPy to `int`; raise SettingError if below `least`."""
    if value.__class__ is int and value >= least:
        return value
    try:
        return as_integer(name, value, least)
    except DomainError as error:
        raise SettingError(str(error)) from None
    except TypeError as error:
        raise SettingTypeError(str(error)) from None


def integers(name: str, value: Any, count: int, least: int) -> tuple[int, ...]:
    """Return `count` integers, given as one for all dimensions or as one for each.

    Raise SettingError for another number of integers, or for one below `least`.
    """
    if value.__class__ is int and value >= least:
        return (value,) * count
    if value.__class__ is tuple and len(value) == count:
        for number in value:
            if number.__class__ is not int or number < least:
                break
        else:  # already normalized, as the settings of layers are
            return value
    values = value if isinstance(value, tuple | list) else (value,)
    if len(values) == 1:
        values = (values[0],) * count
    try:
        numbers = tuple([integer(name, number, least) for number in values])
    except SettingError as error:
        raise type(error)(_expected(name, value, count, least)) from None
    if len(numbers) != count:
        raise SettingError(_expected(name, value, count, least))
    return numbers


def _expected(name: str, value: Any, count: int, least: int) -> str:
    kind = "positive" if least else "non-negative"
    several = f"one or {('two', 'three')[count - 2]} {kind} integers"
    expected = f"a {kind} integer" if count == 1 else several
    return f"{name} must be {expected}; got {value!r}."
