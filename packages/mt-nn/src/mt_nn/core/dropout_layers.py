"""Dropout: what is left out at random in training mode, so that none is relied upon too much.

Whether a module is in training mode stage 0 says, by `train()` and `eval()`; here it first matters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mt_nn.core.dropout import check_probability, dropout
from mt_nn.core.module import Module
from mt_tensor import Tensor


class DropoutLayer(Module):
    """What layers of dropout share: their settings, and a function.

    Args:
        p: how likely something is left out.
        inplace: whether the result is stored in the input.
    """

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return self.function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(DropoutLayer):
    """Elements set to zero, and the rest scaled."""

    function = staticmethod(dropout)
