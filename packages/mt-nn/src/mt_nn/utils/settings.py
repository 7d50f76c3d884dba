"""Checks of settings: conditions, flags, numbers and names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mt_nn.core.errors import SettingError, SettingTypeError
from mt_operators.core.errors import nearest


def check(name: str, value: Any, is_valid: bool, expected: str) -> None:
    """Raise SettingError, saying that a setting must be `expected`, unless it is valid."""
    if not is_valid:
        raise SettingError(f"{name} must be {expected}; got {value!r}.")


def check_flags(**flags: Any) -> None:
    """Raise SettingTypeError unless all of these settings are True or False."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise SettingTypeError(f"{name} must be True or False; got {value!r}.")


def number(name: str, value: Any) -> Any:
    """Return a number; raise SettingTypeError for anything else."""
    if not isinstance(value, int | float | np.number):
        raise SettingTypeError(f"{name} must be a number; got {value!r}.")
    return value


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return a setting after checking that it is one of `options`.

    Raises:
        SettingTypeError: it is not a string.
        SettingError: it is not one of the options; the message suggests the nearest.
    """
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        hint = nearest(value, options)
        message = f"{name} must be one of {', '.join(options)}; got {value!r}.{hint}"
        raise SettingError(message) if isinstance(value, str) else SettingTypeError(message)
    return value
