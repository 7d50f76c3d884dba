"""What settings of optimizers are, and what they must be.

With a network, a loss and its gradients, parameters can follow these: that is what optimizers do,
in this file and the next ones. Their settings may differ from group to group of parameters, and so
are checked group by group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from mt_nn.core.errors import SettingError
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


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_pair(value: Any) -> bool:
    """Whether a setting is two numbers."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and _is_number(value[0]) and _is_number(value[1])


Kind = tuple[Callable[[Any], bool], str]
"""What a setting must be: a test of it, and how a message says it."""

NUMBER: Kind = _is_number, "a number"
NOT_NEGATIVE: Kind = lambda value: _is_number(value) and value >= 0, "at least 0"
FRACTION: Kind = lambda value: _is_number(value) and 0 <= value <= 1, "from 0 to 1"
SWITCH: Kind = lambda value: isinstance(value, bool), "True or False"
BETAS: Kind = (
    lambda value: is_pair(value) and all(0 <= beta < 1 for beta in value),
    "from 0 up to, but not, 1, both of them",
)

USUAL: dict[str, Kind] = {
    "betas": BETAS,
    **dict.fromkeys(("eps", "weight_decay", "momentum"), NOT_NEGATIVE),
    **dict.fromkeys(
        ("amsgrad", "centered", "decoupled_weight_decay", "maximize", "nesterov"), SWITCH
    ),
}
"""What settings are that mean the same in all optimizers that have them."""


def check(settings: Mapping[str, Any], **kinds: Kind) -> None:
    """Raise SettingError unless settings are of these kinds."""
    for name, (holds, what) in kinds.items():
        if not holds(settings[name]):
            raise SettingError(f"{name} must be {what}; got {settings[name]!r}.")


def check_usual(settings: Mapping[str, Any], **kinds: Kind) -> None:
    """Raise SettingError unless the rate and the usual settings make sense, and those of `kinds`.

    Args:
        settings: those of a group.
        kinds: what settings are that no other optimizer has, or that are different here.
    """
    check_rate(settings)
    usual = {name: kind for name, kind in USUAL.items() if name in settings}
    check(settings, **{**usual, **kinds})


def check_rate(settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless `lr` is a number from 0 on, or a tensor that holds one."""
    rate = settings["lr"]
    if isinstance(rate, Tensor):
        if rate.numel() != 1:
            raise SettingError(f"lr must be a number, or a tensor of one element; got {rate!r}.")
        rate = rate.item()
    check({"lr": rate}, lr=NOT_NEGATIVE)


def check_how(settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless this is how steps can be made.

    `foreach` and `fused` choose between torch's ways to the same result; here there is one. What
    only torch can do is refused.
    """
    for name in ("foreach", "fused"):
        if settings.get(name) not in (None, True, False):
            raise SettingError(f"{name} must be None, True or False; got {settings[name]!r}.")
    if settings.get("foreach") and settings.get("fused"):
        raise SettingError("foreach and fused cannot be True together: leave one of them out.")
    for name, why in (
        ("capturable", "nothing here records steps to run them again, as CUDA graphs do"),
        ("differentiable", "steps are not recorded, so that no gradient leads through them"),
    ):
        if settings.get(name):
            raise SettingError(f"{name}=True is not possible: {why}. Leave it out.")
