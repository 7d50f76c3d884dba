"""What the tensors and the settings of losses must be."""

from __future__ import annotations

from mt_nn.errors import SettingError


def check_at_least(name: str, value: float, least: float) -> None:
    """Raise SettingError unless a setting is a number from `least` on."""
    if not value >= least:
        raise SettingError(f"{name} must be at least {least}; got {value}.")


def check_positive(name: str, value: float) -> None:
    """Raise SettingError unless a setting is above 0."""
    if not value > 0:
        raise SettingError(f"{name} must be above 0; got {value}.")
