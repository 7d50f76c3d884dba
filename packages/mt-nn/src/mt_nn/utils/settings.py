"""More settings of layers and functions: flags and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.core.errors import SettingTypeError


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
