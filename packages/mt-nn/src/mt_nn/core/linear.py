"""The linear function and layer, in the pattern of all files that follow.

A public function checks and normalizes its arguments. A private function, composed from tensor
operations, computes the result; stage 2's decorator `@fused` replaces it with a backend's kernel of
that name, if there is one. A layer creates and initializes the parameters, and calls the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_nn.core.arguments import check_compatible, checked
from mt_nn.core.errors import InputError
from mt_nn.core.init import init_like_torch
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_tensor import Tensor, fused, zeros
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.registry import Device
from mt_tensor.core.strides import normalize_dim, size_of


@checked
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input @ weight.T + bias`.

    Args:
        input: shape (*batch, inputs).
        weight: shape (outputs, inputs).
        bias: shape (outputs,), or None.

    Returns:
        Shape (*batch, outputs).

    Raises:
        InputError: the shapes do not match.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    inputs, weights = input._tensor.layout.shape, weight._tensor.layout.shape
    if len(weights) != 2 or (bias is not None and bias._tensor.layout.shape != weights[:1]):
        raise InputError(
            "linear() takes a weight of shape (outputs, inputs) and a bias of shape (outputs,); "
            f"shapes {weights}{'' if bias is None else f' and {bias.shape}'} were given."
        )
    if not inputs or inputs[-1] != weights[-1]:
        raise InputError(
            f"linear() expects {weights[-1]} inputs in the last dimension; a tensor of shape "
            f"{input.shape} was given."
        )
    check_compatible("linear", input, weight, bias)
    return _linear(input, weight, bias)


def _linear_gradients(
    grad: Tensor, needs: Sequence[bool], input: Tensor, weight: Tensor, _: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Return the gradients of input, weight and bias that are needed.

    Higher derivatives use them instead of computing `_linear` again.
    """
    grad_weight = grad_bias = None
    if needs[1] or needs[2]:
        rows, inputs = grad.reshape(-1, weight.shape[0]), input.reshape(-1, input.shape[-1])
        grad_weight = rows.T @ inputs if needs[1] else None
        grad_bias = rows.sum(0) if needs[2] else None
    return grad @ weight if needs[0] else None, grad_weight, grad_bias


@fused("linear", gradient=_linear_gradients)
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `linear`; the arguments have been checked."""
    out = input @ weight.T
    return out if bias is None else out + bias


class Linear(Module):
    """A fully connected layer: `input @ weight.T + bias`.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        bias: whether to add a bias.
        device, dtype: those of the parameters.

    Attributes:
        weight: shape (out_features, in_features).
        bias: shape (out_features,), or None.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features = integer("in_features", in_features, 1)
        self.out_features = out_features = integer("out_features", out_features, 1)
        self.weight = Parameter(zeros(out_features, in_features, device=device, dtype=dtype))
        self.bias = Parameter(zeros(out_features, device=device, dtype=dtype)) if bias else None
        init_like_torch(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the outputs, shape (*batch, out_features), for inputs (*batch, in_features)."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Flatten(Module):
    """Merge the dimensions from `start_dim` to `end_dim` into one, by default all but the batch."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Merge the dimensions; by default, return a matrix of shape (batch, features)."""
        require_tensors("Flatten", input)
        first, last = (normalize_dim(d, input.ndim) for d in (self.start_dim, self.end_dim))
        if first > last:
            raise ShapeError(
                f"Flatten: start_dim {self.start_dim} comes after end_dim {self.end_dim}."
            )
        sizes = input.shape
        features = size_of(sizes[first : last + 1])
        return input.reshape(*sizes[:first], features, *sizes[last + 1 :])

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
