"""Members of modules by their dotted names, such as "encoder.0.weight"."""

from __future__ import annotations

from typing import Any

from mt_operators import Module
from mt_operators.core.errors import no_attribute


def get_submodule(self: Module, target: str) -> Module:
    """Return the submodule with a dotted name, such as "encoder.0"; for "", this module.

    Raises:
        AttributeError: no module has this name; the message suggests the nearest.
    """
    module = self
    for name in target.split(".") if target else []:
        if name not in module._modules:
            raise no_attribute(module, name)
        module = module._modules[name]
    return module


def set_submodule(self: Module, target: str, module: Module, strict: bool = False) -> None:
    """Replace the module with a dotted name; or add it, unless `strict`.

    Raises:
        AttributeError: the parent does not exist; or, with `strict`, the module does not.
    """
    path, _, name = target.rpartition(".")
    if strict:
        get_submodule(self, target)
    get_submodule(self, path).add_module(name, module)


def get_parameter(self: Module, target: str) -> Any:
    """Return the parameter with a dotted name, such as "encoder.0.weight"."""
    return _member(self, target, "_parameters")


def get_buffer(self: Module, target: str) -> Any:
    """Return the value of the buffer with a dotted name, such as "norm.running_mean"."""
    return _member(self, target, "_buffers").value


def _member(module: Module, target: str, store: str) -> Any:
    """Return a parameter or the holder of a buffer by its dotted name; see `get_submodule`."""
    path, _, name = target.rpartition(".")
    owner = get_submodule(module, path)
    members = getattr(owner, store)
    if name not in members:
        raise no_attribute(owner, name)
    return members[name]
