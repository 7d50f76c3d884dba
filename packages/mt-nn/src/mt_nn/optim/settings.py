"""What settings of optimizers must be."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from mt_nn.errors import SettingError


def _check(name: str, value: Any, holds: bool, what: str) -> None:
    if not holds:
        raise SettingError(f"{name} must be {what}; got {value!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_not_negative(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are numbers from 0 on."""
    for name in names:
        value = settings[name]
        _check(name, value, _is_number(value) and value >= 0, "at least 0")


def check_fractions(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are numbers from 0 to 1."""
    for name in names:
        value = settings[name]
        _check(name, value, _is_number(value) and 0 <= value <= 1, "from 0 to 1")


def check_betas(settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless `betas` are two numbers from 0 up to, but not, 1."""
    betas = settings["betas"]
    holds = isinstance(betas, tuple | list) and len(betas) == 2
    for beta in betas if holds else ():
        holds = holds and _is_number(beta) and 0 <= beta < 1
    _check("betas", betas, holds, "from 0 up to, but not, 1, both of them")


def check_switches(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are True or False."""
    for name in names:
        _check(name, settings[name], isinstance(settings[name], bool), "True or False")
