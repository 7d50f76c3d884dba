"""Modules converted to another dtype, or moved to another backend."""

from __future__ import annotations

from typing import Any

from mt_nn.core.extensions import extends
from mt_nn.core.module import Module
from mt_tensor import Tensor


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
