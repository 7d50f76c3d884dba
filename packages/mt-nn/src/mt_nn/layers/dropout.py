"""Dropout: elements left out at random, so that none is relied upon too much."""

from __future__ import annotations

from mt_nn import functional
from mt_nn.functional.dropout import check_probability
from mt_nn.module import Module
from mt_tensor import Tensor


class Dropout(Module):
    """Each element is set to zero with probability `p` in training mode; see `dropout`."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        check_probability(p)
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"p={self.p}"
