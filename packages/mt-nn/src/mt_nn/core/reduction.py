"""What all losses share: how they are put together, and what their tensors must be.

A loss ends the functions of a network: one number, which `backward()` starts from. There is one for
each element or sample at first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mt_nn.core.errors import InputError, SettingError
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
