"""Methods of modules for the gradients of all parameters."""

from __future__ import annotations

from typing import TypeVar

from mt_nn.core.module import Module
from mt_nn.core.optimizer import clear_gradients

M = TypeVar("M", bound=Module)


def requires_grad_(self: M, requires_grad: bool = True) -> M:
    """Set whether all parameters require gradients; return the module."""
    for parameter in self.parameters():
        parameter.value.requires_grad_(requires_grad)
    return self


def zero_grad(self: Module, set_to_none: bool = True) -> None:
    """Remove the gradients of all parameters, or set them to zero."""
    clear_gradients([parameter.value for parameter in self.parameters()], set_to_none)
