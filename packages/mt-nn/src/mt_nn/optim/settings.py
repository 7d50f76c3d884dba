"""What settings of optimizers are, and what they must be."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from mt_nn.errors import SettingError
from mt_tensor import Tensor

HOW = ("foreach", "fused", "capturable", "differentiable")
"""Settings of torch's about how it computes, not what: see `check_how`."""


def settings_among(scope: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor that are settings, of its local variables.

    So each setting is written once, in the signature.
    """
    return {
        name: value for name, value in scope.items() if name not in ("self", "params", "__class__")
    }


def _check(name: str, value: Any, holds: bool, what: str) -> None:
    if not holds:
        raise SettingError(f"{name} must be {what}; got {value!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_rate(settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless `lr` is a number from 0 on, or a tensor that holds one."""
    rate = settings["lr"]
    if isinstance(rate, Tensor):
        _check("lr", rate, rate.numel() == 1, "a number, or a tensor of one element")
        rate = rate.item()
    _check("lr", rate, _is_number(rate) and rate >= 0, "at least 0")


def check_not_negative(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are numbers from 0 on."""
    for name in names:
        value = settings[name]
        _check(name, value, _is_number(value) and value >= 0, "at least 0")


def check_numbers(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are numbers."""
    for name in names:
        _check(name, settings[name], _is_number(settings[name]), "a number")


def check_fractions(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are numbers from 0 to 1."""
    for name in names:
        value = settings[name]
        _check(name, value, _is_number(value) and 0 <= value <= 1, "from 0 to 1")


def is_pair(value: Any) -> bool:
    """Whether a setting is two numbers."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and _is_number(value[0]) and _is_number(value[1])


def check_betas(settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless `betas` are two numbers from 0 up to, but not, 1."""
    betas = settings["betas"]
    holds = is_pair(betas) and all(0 <= beta < 1 for beta in betas)
    _check("betas", betas, holds, "from 0 up to, but not, 1, both of them")


def check_switches(settings: Mapping[str, Any], *names: str) -> None:
    """Raise SettingError unless all of these are True or False."""
    for name in names:
        _check(name, settings[name], isinstance(settings[name], bool), "True or False")


def check_how(settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless this is how steps can be made.

    `foreach` and `fused` choose between torch's ways to the same result; here there is one. What
    only torch can do is refused.
    """
    for name in ("foreach", "fused"):
        value = settings.get(name)
        _check(name, value, value in (None, True, False), "None, True or False")
    if settings.get("foreach") and settings.get("fused"):
        raise SettingError("foreach and fused cannot be True together: leave one of them out.")
    for name, why in (
        ("capturable", "nothing here records steps to run them again, as CUDA graphs do"),
        ("differentiable", "steps are not recorded, so that no gradient leads through them"),
    ):
        if settings.get(name):
            raise SettingError(f"{name}=True is not possible: {why}. Leave it out.")
