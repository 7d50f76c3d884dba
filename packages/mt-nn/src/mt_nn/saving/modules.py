"""Parts of saving and loading modules: extra states, and assignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mt_operators
from mt_nn.core.extensions import extends
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_operators.core.parameter import Holder
from mt_tensor import Tensor


@extends("assignment of a state dictionary")
def assign(module: Module, state_dict: Mapping[str, Any]) -> None:
    """Make the tensors of a state dictionary the parameters and buffers of a module."""
    for name, member in module._saved_holders():
        value = state_dict.get(name)
        if isinstance(member, Parameter) and isinstance(value, Tensor):
            requires_grad = member.requires_grad
            member._become(value.detach())
            member.requires_grad_(requires_grad)
        elif isinstance(member, mt_operators.Buffer) and isinstance(value, Tensor):
            member.update(value.detach())


# --- Extra states ---------------------------------------------------------------------------------

_NOT_DEFINED = (
    "{} defines no {}(); define both get_extra_state() and set_extra_state() in a module that has "
    "a state of its own."
)


def get_extra_state(self: Module) -> Any:
    """Return a state to save in addition to parameters and buffers, named `_extra_state`.

    Define it, and `set_extra_state`, in modules with such a state: a tensor, or any value that
    `mt_nn.save` supports.
    """
    raise TypeError(_NOT_DEFINED.format(type(self).__name__, "get_extra_state"))


def set_extra_state(self: Module, state: Any) -> None:  # noqa: ARG001 - used by overrides
    """Load the result of `get_extra_state`."""
    raise TypeError(_NOT_DEFINED.format(type(self).__name__, "set_extra_state"))


@extends("extra state")
def add_extra_state(module: Module, saved: dict[str, Holder]) -> None:
    """Add the extra state of a module, if it has one, to its saved state."""
    if type(module).get_extra_state is not get_extra_state:
        saved["_extra_state"] = ExtraState(module)


class ExtraState(Holder):
    """The extra state of a module, saved like a parameter."""

    def __init__(self, module: Module) -> None:
        self._module = module
        super().__init__(None)

    def state(self) -> Any:
        """Return the state to save."""
        return self._module.get_extra_state()

    def checked_copy(self, saved: Any) -> Any:
        """Return a saved state; only the module can check it."""
        return saved

    def load(self, value: Any) -> None:
        """Pass a saved state to the module."""
        self._module.set_extra_state(value)
