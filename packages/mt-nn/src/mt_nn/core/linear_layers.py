"""Fully connected layers, and what lies between them and convolutions.

A layer with parameters makes them, gives them their first values, and passes them to its function.
"""

from __future__ import annotations

from typing import Any

from mt_nn.core.init import init_like_torch
from mt_nn.core.linear import linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_tensor import Tensor, flatten, zeros


class Linear(Module):
    """`input @ weight.T + bias`.

    Args:
        in_features: extent of the last dimension of the input.
        out_features: extent of the last dimension of the output.
        bias: whether to add a bias.
        dtype: the element type of the parameters, float32 if None.

    Attributes:
        weight: shape (out_features, in_features).
        bias: shape (out_features,), or None.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features = integer("in_features", in_features, 1)
        self.out_features = out_features = integer("out_features", out_features, 1)
        self.weight = Parameter(zeros(out_features, in_features, dtype=dtype))
        self.bias = Parameter(zeros(out_features, dtype=dtype)) if bias else None
        init_like_torch(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (*batch, out_features) from shape (*batch, in_features)."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Flatten(Module):
    """All dimensions from `start_dim` to `end_dim` merged into one; the batch is kept."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, the rest merged)."""
        return flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
