"""Members of modules by their dotted names."""

from __future__ import annotations

from typing import Any

from mt_nn.core.extensions import extends
from mt_operators import Module
from mt_operators.core.errors import no_attribute


@extends("modules by name")
def submodule(module: Module, target: str) -> Module:
    """Return the module with a dotted name.

    Raises:
        AttributeError: there is none; the message suggests the nearest.
    """
    for name in target.split(".") if target else []:
        if name not in module._modules:
            raise no_attribute(module, name)
        module = module._modules[name]
    return module


@extends("replacement by name")
def set_submodule(owner: Module, target: str, module: Module, strict: bool) -> None:
    """Replace the module with a dotted name, or add it.

    Raises:
        AttributeError: the parent does not exist, or `strict` and the module does not.
    """
    path, _, name = target.rpartition(".")
    if strict:
        submodule(owner, target)
    submodule(owner, path).add_module(name, module)


@extends("members by name")
def member(module: Module, target: str, store: str) -> Any:
    """Return a parameter or the holder of a buffer by its dotted name; see `submodule`."""
    path, _, name = target.rpartition(".")
    owner = submodule(module, path)
    members = getattr(owner, store)
    if name not in members:
        raise no_attribute(owner, name)
    return members[name]
