"""Checks of the tensors and the settings of losses."""

from __future__ import annotations

from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor


def check_floating(name: str, *tensors: Tensor) -> None:
    """Raise InputError unless all tensors are floating-point."""
    for tensor in tensors:
        if not tensor.is_floating_point():
            raise InputError(
                f"{name}() takes floating-point tensors; {tensor.dtype.name} was given. Convert "
                "with x.float()."
            )


def check_one_shape(name: str, input: Tensor, target: Tensor) -> None:
    """Raise InputError unless the input is floating-point and the target has its shape.

    A shape that only broadcasts would compare each prediction with the targets of others.
    """
    check_floating(name, input)
    if input.shape != target.shape:
        raise InputError(
            f"{name}() takes two tensors of one shape; {input.shape} and {target.shape} were given."
        )


def check_at_least(name: str, value: float, least: float) -> None:
    """Raise SettingError unless a setting is a number from `least` on."""
    if not value >= least:
        raise SettingError(f"{name} must be at least {least}; got {value}.")


def check_positive(name: str, value: float) -> None:
    """Raise SettingError unless a setting is above 0."""
    if not value > 0:
        raise SettingError(f"{name} must be above 0; got {value}.")
