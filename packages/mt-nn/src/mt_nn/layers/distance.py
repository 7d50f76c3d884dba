"""How alike vectors are, and how far apart."""

from __future__ import annotations

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor


class CosineSimilarity(FunctionLayer):
    """The cosine of the angle between vectors; see `mt_nn.functional.cosine_similarity`."""

    function = staticmethod(functional.cosine_similarity)
    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(Module):
    """The norm of the differences of vectors; see `mt_nn.functional.pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the shape of the inputs, broadcast, without the last dimension."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
