"""Normalization: elements shifted and scaled to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence

from mt_nn import functional
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_nn.settings import integer
from mt_tensor import Tensor, ones, zeros


class LayerNorm(Module):
    """The last dimensions of each sample normalized, scaled and shifted; see `layer_norm`.

    Args:
        normalized_shape: the extents of the dimensions that are normalized together.
        eps: keeps the division finite.
        elementwise_affine: whether to scale, by a weight for each element.
        bias: whether to shift, too.

    Attributes:
        weight: shape `normalized_shape`, or None.
        bias: shape `normalized_shape`, or None.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        extents = normalized_shape if isinstance(normalized_shape, Sequence) else [normalized_shape]
        self.normalized_shape = tuple(integer("normalized_shape", n, 1) for n in extents)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        self.weight = Parameter(ones(*shape)) if elementwise_affine else None
        self.bias = Parameter(zeros(*shape)) if elementwise_affine and bias else None

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (*batch, *normalized_shape)."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )
