"""Modules: evaluation for a while, conversion, and members by their dotted names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mt_nn.core.extensions import extends
from mt_operators import Module
from mt_operators.core.errors import no_attribute
from mt_tensor import Tensor, no_grad


@contextmanager
def evaluation(model: Module) -> Iterator[None]:
    """Put a model into evaluation mode inside a `with` block, in which nothing is recorded.

    Every module has its own mode again afterwards, also when the block raises.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


@extends("conversion of modules")
def convert(module: Module, *target: Any, **options: Any) -> Module:
    """Convert all parameters, gradients and buffers in place; see `Module.to`."""

    def converted(value: Tensor) -> Tensor:
        moved = value.detach().to(*target, **options)
        return moved if value.is_floating_point() else value.detach().to(backend=moved.backend)

    for each in module.modules():
        for name, buffer in each._buffers.items():
            if isinstance(buffer.value, Tensor):
                setattr(each, name, converted(buffer.value))
    for holder in module.parameters():
        parameter = holder.value
        grad, requires_grad = parameter.grad, parameter.requires_grad
        parameter._become(converted(parameter))
        parameter.requires_grad_(requires_grad)
        if grad is not None:
            parameter.grad = converted(grad)
    return module


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
