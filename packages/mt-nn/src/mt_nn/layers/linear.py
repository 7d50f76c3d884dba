"""Bilinear maps, `Unflatten`, and layers for similarities and distances of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mt_nn import init
from mt_nn.core.arguments import check_compatible, checked
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingTypeError
from mt_nn.layers.function import FunctionLayer
from mt_nn.utils.factory import DeclaredLayer
from mt_tensor import Tensor, cosine_similarity, pairwise_distance, unflatten, zeros


@checked
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input1 @ weight @ input2 + bias`, with a matrix for each output.

    Args:
        input1: shape (*batch, first inputs).
        input2: shape (*batch, second inputs).
        weight: shape (outputs, first inputs, second inputs).
        bias: shape (outputs,), or None.

    Returns:
        Shape (*batch, outputs).

    Raises:
        InputError: the shapes do not match.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    shapes = (input1.shape, input2.shape, weight.shape, None if bias is None else bias.shape)
    match = (
        weight.ndim == 3
        and input1.shape[-1:] == weight.shape[1:2]
        and input2.shape[-1:] == weight.shape[2:]
        and input1.shape[:-1] == input2.shape[:-1]
        and (bias is None or bias.shape == weight.shape[:1])
    )
    if not match:
        raise InputError(
            "bilinear() takes inputs of shapes (*batch, first) and (*batch, second), a weight of "
            f"shape (outputs, first, second) and a bias of shape (outputs,); {shapes} were given."
        )
    check_compatible("bilinear", input1, input2, weight, bias)
    outputs, first, second = weight.shape
    matrices = input1 @ weight.permute(1, 0, 2).reshape(first, outputs * second)
    mapped = matrices.unflatten(-1, (outputs, second)) @ input2.unsqueeze(-1)
    out = mapped.squeeze(-1)
    return out if bias is None else out + bias


class Bilinear(DeclaredLayer):
    """Compute `input1 @ weight @ input2 + bias`, with a matrix for each output.

    Args:
        in1_features: size of the last dimension of the first input.
        in2_features: size of the last dimension of the second input.
        out_features: size of the last dimension of the output.
        bias: whether to add a bias.
        device, dtype: those of the parameters.

    Attributes:
        weight: shape (out_features, in1_features, in2_features).
        bias: shape (out_features,), or None.
    """

    in1_features: int
    in2_features: int
    out_features: int
    bias: Any = True

    def _check(self) -> None:
        self.in1_features = first = integer("in1_features", self.in1_features, 1)
        self.in2_features = second = integer("in2_features", self.in2_features, 1)
        self.out_features = outputs = integer("out_features", self.out_features, 1)
        self.weight = Parameter(zeros(outputs, first, second, dtype=self.dtype))
        self.bias = Parameter(zeros(outputs, dtype=self.dtype)) if self.bias else None
        bound = 1.0 / math.sqrt(first)  # as in torch, from the size of the first input only
        for parameter in self.parameters():
            init.uniform_(parameter.value, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return the outputs, shape (*batch, out_features), for inputs of equal batch shape."""
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Unflatten(FunctionLayer):
    """Split a dimension into several.

    Args:
        dim: the dimension.
        unflattened_size: the new sizes; one of them may be -1, and is inferred.
    """

    dim: int
    unflattened_size: Sequence[int]

    def _check(self) -> None:
        sizes = self.unflattened_size
        if not isinstance(sizes, tuple | list):
            raise SettingTypeError(
                f"Unflatten: unflattened_size must be a tuple of integers; got {sizes!r}."
            )
        name = "a size in unflattened_size"
        self.unflattened_size = tuple(integer(name, length, -1) for length in sizes)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor with the dimension split."""
        return unflatten(input, self.dim, self.unflattened_size)


# --- Similarities and distances -------------------------------------------------------------------


class CosineSimilarity(FunctionLayer, function=cosine_similarity):
    """Cosine similarity of vectors; see `mt_nn.functional.cosine_similarity`."""

    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(Module):
    """p-norm of the differences of vectors; see `mt_nn.functional.pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances, of the shape of the broadcast inputs without the last dimension."""
        return pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
