"""Dropout: what is left out at random in training mode, so that none is relied upon too much.

The functions of these names, in `mt_nn.functional`, say what shapes they take and what they do.
"""

from __future__ import annotations

from mt_nn.functional.dropout import (
    alpha_dropout,
    check_probability,
    drop_path,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from mt_nn.module import Module
from mt_tensor import Tensor


class _Dropout(Module):
    """What layers of dropout share: their settings.

    Args:
        p: how likely something is left out.
        inplace: whether the result is stored in the input.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"p={self.p}, inplace={self.inplace}"


class AlphaDropout(_Dropout):
    """Elements of the output of `SELU` left out so that mean and variance stay."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return alpha_dropout(input, self.p, self.training, self.inplace)


class DropPath(_Dropout):
    """Whole samples set to zero, and the rest scaled."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return drop_path(input, self.p, self.training, self.inplace)


class Dropout(_Dropout):
    """Elements set to zero, and the rest scaled."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Channels of signals set to zero, and the rest scaled."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Channels of images set to zero, and the rest scaled."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Channels of volumes set to zero, and the rest scaled."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return dropout3d(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_Dropout):
    """Channels left out as `AlphaDropout` does elements."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return feature_alpha_dropout(input, self.p, self.training, self.inplace)
