"""Linear maps, the first function of a network, and the pattern of those that follow.

The public function checks its arguments. An inner one computes: it is composed of operations of
tensors, and marked `@fused`, so that a backend may have a kernel that is called in its stead.
"""

from __future__ import annotations

from collections.abc import Sequence

from mt_nn.core.arguments import check_one_dtype, checked
from mt_nn.core.errors import InputError
from mt_tensor import Tensor, fused
from mt_tensor.extending import common_backend


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
        InputError: `input` has another last extent than the weight, which has two dimensions, or
            the bias is not one for each output.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    if weight.ndim != 2 or (bias is not None and bias.shape != weight.shape[:1]):
        raise InputError(
            "linear() takes a weight of shape (outputs, inputs) and a bias of shape (outputs,); "
            f"shapes {weight.shape}{'' if bias is None else f' and {bias.shape}'} were given."
        )
    if input.ndim == 0 or input.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"linear() expects {weight.shape[-1]} inputs in the last dimension; a tensor of shape "
            f"{input.shape} was given."
        )
    check_one_dtype("linear", input, weight, bias)
    common_backend(input, weight, bias)
    return _linear(input, weight, bias)


def _gradient_of_linear(
    grad: Tensor, needs: Sequence[bool], input: Tensor, weight: Tensor, _: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Return the gradients of input, weight and bias, each if it is wanted."""
    of_weight = of_bias = None
    if needs[1] or needs[2]:
        rows, inputs = grad.reshape(-1, len(weight)), input.reshape(-1, input.shape[-1])
        of_weight = rows.T @ inputs if needs[1] else None
        of_bias = rows.sum(0) if needs[2] else None
    return grad @ weight if needs[0] else None, of_weight, of_bias


@fused("linear", gradient=_gradient_of_linear)
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Map; the arguments are those of `linear`, checked."""
    out = input @ weight.T
    return out if bias is None else out + bias
