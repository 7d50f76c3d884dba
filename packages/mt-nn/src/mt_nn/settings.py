"""Settings of layers and functions: integers, one for each dimension, flags, numbers and names.

Whoever makes a layer passes settings, and whoever calls a function does, too. What they must be is
said here, with the errors above, before there is anything to set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mt_nn.errors import SettingError, SettingTypeError
from mt_operators.core.errors import nearest
from mt_tensor.errors import DomainError
from mt_tensor.extending import as_integer

Sizes = int | Sequence[int]
"""One number for all dimensions, or one for each."""


def integer(name: str, value: Any, least: int) -> int:
    """Return a setting that is an integer, Python's or NumPy's, as Python's.

    Raises:
        SettingTypeError: it is something else.
        SettingError: it is below `least`.
    """
    if value.__class__ is int and value >= least:
        return value
    try:
        return as_integer(name, value, least)
    except DomainError as error:
        raise SettingError(str(error)) from None
    except TypeError as error:
        raise SettingTypeError(str(error)) from None


def integers(name: str, value: Any, count: int, least: int) -> tuple[int, ...]:
    """Return a setting given as one number for all of `count` dimensions, or as one for each.

    Raises:
        SettingTypeError: it is something else, or holds what is no integer.
        SettingError: it holds another count of them, or one is below `least`.
    """
    if value.__class__ is int:
        if value >= least:
            return (value,) * count
    elif value.__class__ is tuple and len(value) == count:
        for number in value:
            if number.__class__ is not int or number < least:
                break
        else:  # as a layer's always are
            return value
    values = value if isinstance(value, tuple | list) else (value,)
    if len(values) == 1:
        values = (values[0],) * count
    try:
        numbers = tuple([integer(name, number, least) for number in values])
    except SettingError as error:
        raise type(error)(_wanted(name, value, count, least)) from None
    if len(numbers) != count:
        raise SettingError(_wanted(name, value, count, least))
    return numbers


def _wanted(name: str, value: Any, count: int, least: int) -> str:
    many = "an integer" if count == 1 else f"one or {_NUMERALS[count]} integers"
    return f"{name} must be {many} from {least} on; got {value!r}."


_NUMERALS = {2: "two", 3: "three"}


def check_flags(**flags: Any) -> None:
    """Raise SettingTypeError unless all of these settings are True or False."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise SettingTypeError(f"{name} must be True or False; got {value!r}.")


def number(name: str, value: Any) -> Any:
    """Return a setting that is a number.

    Raises:
        SettingTypeError: it is something else.
    """
    if not isinstance(value, int | float | np.number):
        raise SettingTypeError(f"{name} must be a number; got {value!r}.")
    return value


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return a setting that is one of some names.

    Raises:
        SettingTypeError: it is no string.
        SettingError: it is none of them.
    """
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        hint = nearest(value, options)
        message = f"{name} must be one of {', '.join(options)}; got {value!r}.{hint}"
        raise SettingError(message) if isinstance(value, str) else SettingTypeError(message)
    return value
