"""Assignments to a tensor's attributes: `x.grad = g` and `x.data = y`."""

from __future__ import annotations

from typing import Any

from mt_autodiff import GradientError
from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import BackendMismatchError, DTypeError, ShapeError


def data(self: Tensor) -> Tensor:
    """A tensor with the same memory and no history; assigning to it replaces the elements.

    As in torch, changes through it are not detected by operations that have saved the tensor.
    """
    data = self._tensor.with_layout(self._tensor.layout)
    data._version = [0]  # its own, unlike that of `detach()`
    return self._with(data)


def set_data(self: Tensor, data: Tensor) -> None:
    """Replace the elements by those of another tensor, without changing the graph.

    Raises:
        DTypeError: the dtype or the backend differs.
        TypeError: `data` is not a tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"data must be a tensor; {data!r} of type {type(data).__name__} was given.")
    if data.dtype is not self.dtype or data.backend is not self.backend:
        raise DTypeError(
            f"data is {data.dtype.name} on backend {data.backend.name!r}; it must be "
            f"{self.dtype.name} on {self.backend.name!r}, like the tensor."
        )
    self._requires_grad = self.requires_grad
    self._tensor, self._base = data._tensor, None


@extends("check of a gradient")
def check_gradient(self: Tensor, grad: Any) -> None:
    """Check a tensor that is assigned to `grad`.

    Raises:
        TypeError: it is not a tensor.
        GradientError: it is the tensor itself.
        ShapeError: its shape differs from the tensor's.
        DTypeError: its dtype differs.
        BackendMismatchError: its backend differs.
    """
    if not isinstance(grad, Tensor):
        raise TypeError(
            f"grad must be a tensor or None; {grad!r} of type {type(grad).__name__} was given."
        )
    if grad is self:
        raise GradientError("a tensor cannot be its own gradient: clone() it first.")
    if grad.shape != self.shape:
        raise ShapeError(f"grad has shape {grad.shape}; it must have the tensor's, {self.shape}.")
    if grad.dtype is not self.dtype:
        raise DTypeError(
            f"grad is {grad.dtype.name}; it must be {self.dtype.name}, like the tensor. "
            "Convert it with grad.to(x.dtype)."
        )
    if grad.backend is not self.backend:
        raise BackendMismatchError(
            f"grad is on backend {grad.backend.name!r}; it must be on the tensor's backend, "
            f"{self.backend.name!r}. Move it with grad.to(x.backend)."
        )
