"""Activations: element-wise functions between layers."""

from __future__ import annotations

from mt_operators import Module
from mt_tensor import Tensor


class ReLU(Module):
    """The positive part, `max(x, 0)`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return x.relu()


class Sigmoid(Module):
    """`1 / (1 + exp(-x))`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return x.sigmoid()


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return x.tanh()
