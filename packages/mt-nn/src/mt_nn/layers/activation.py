"""Activations: element-wise functions between layers."""

from __future__ import annotations

from mt_nn.module import Module
from mt_tensor import Tensor


class ReLU(Module):
    """The positive part, `max(input, 0)`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return input.relu()


class Sigmoid(Module):
    """`1 / (1 + exp(-input))`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return input.sigmoid()


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return input.tanh()
