"""What all losses share: how they are put together, and what their tensors must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor

Reduction = Literal["mean", "sum", "none"]

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda losses: losses.mean(),
    "sum": lambda losses: losses.sum(),
    "none": lambda losses: losses,
}


def check_reduction(reduction: Reduction) -> None:
    """Raise SettingError unless `reduction` is the name of one."""
    if reduction not in tuple(REDUCTIONS):
        raise SettingError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")


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

    A shape that merely broadcasts would compare each prediction with the targets of others.
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
