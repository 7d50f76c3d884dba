"""Losses as modules."""

from __future__ import annotations

from mt_nn import functional
from mt_nn.functional.losses import Reduction
from mt_nn.module import Module
from mt_tensor import Tensor


class CrossEntropyLoss(Module):
    """See `mt_nn.functional.cross_entropy`."""

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (batch, classes, ...) for classes (batch, ...)."""
        return functional.cross_entropy(input, target, self.reduction)


class MSELoss(Module):
    """See `mt_nn.functional.mse_loss`."""

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the squared difference of two tensors of one shape."""
        return functional.mse_loss(input, target, self.reduction)
