"""Gradients and elements that users assign to a tensor: `x.grad = g` and `x.data = y`."""

from __future__ import annotations

from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError


def data(self: Tensor) -> Tensor:
    """A tensor with the same memory and no history; setting it exchanges the elements."""
    return self.detach()


def set_data(self: Tensor, data: Tensor) -> None:
    """Hold the elements of another tensor from now on, in the same place of the graph.

    Raises:
        DTypeError: they are of another type, or on another backend.
        TypeError: `data` is no tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"data is a tensor; {data!r} of type {type(data).__name__} was given.")
    if data.dtype is not self.dtype or data.backend is not self.backend:
        raise DTypeError(
            f"data is {data.dtype.name} on backend {data.backend.name!r}; it must be "
            f"{self.dtype.name} on {self.backend.name!r}, like the tensor."
        )
    self._requires_grad = self.requires_grad
    self._tensor, self._base = data._tensor, None
