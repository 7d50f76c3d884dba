"""Conversion of modules to another dtype, backend or device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mt_nn.core.module import Module
from mt_nn.errors import SettingError
from mt_tensor import DType, Tensor
from mt_tensor.extending import Backend, Device

M = TypeVar("M", bound=Module)


def to(
    self: M,
    target: Any = None,
    dtype: Any = None,
    non_blocking: bool = False,
    *,
    backend: Backend = None,
    device: Device = None,
    memory_format: Any = None,
) -> M:
    """Convert all parameters, gradients and buffers in place, and return the module.

    The arguments are those of `mt_tensor.Tensor.to`. Integer tensors keep their dtype. The memory
    format applies only to tensors of four or five dimensions. States of optimizers are not
    converted.

    Raises:
        ShapeError: a tensor of four or five dimensions cannot have the memory format; tensors
            before it have been converted.
    """

    def converted(value: Tensor) -> Tensor:
        order = memory_format if value.ndim in (4, 5) else None
        value = value.detach()
        moved = value.to(
            target,
            dtype,
            backend=backend,
            device=device,
            non_blocking=non_blocking,
            memory_format=order,
        )
        if value.is_floating_point():
            return moved
        return value.to(backend=moved.backend, memory_format=order)

    for each in self.modules():
        for name, buffer in each._buffers.items():
            if isinstance(buffer.value, Tensor):
                setattr(each, name, converted(buffer.value))
    for parameter in self.parameters():
        tensor = parameter.value
        grad, requires_grad = tensor.grad, tensor.requires_grad
        tensor._become(converted(tensor))
        tensor.requires_grad_(requires_grad)
        if grad is not None:
            tensor.grad = converted(grad)
    return self


def to_empty(self: M, *, device: Device, recurse: bool = True) -> M:
    """Move all parameters and buffers to a device.

    Their values are kept, which torch does not promise. Submodules are moved, too, so that
    `recurse` must be True.
    """
    if recurse is not True:
        raise SettingError("to_empty() moves submodules, too: leave recurse=True.")
    return self.to(device=device)


def share_memory(self: M) -> M:
    """Return the module unchanged: workers are threads, which share all memory."""
    return self


def conversion(name: str, dtype: DType) -> Callable[[M], M]:
    """Return a method with this name that converts a module to a dtype."""

    def convert(self: M) -> M:
        return self.to(dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"""Convert all floating-point parameters and buffers to {dtype.name}."""
    return convert


def cpu(self: M) -> M:
    """Move all parameters and buffers to the CPU."""
    return self.to(device="cpu")


def cuda(self: M, device: Device = None) -> M:
    """Move all parameters and buffers to the GPU."""
    return self.to(device="cuda" if device is None else device)
