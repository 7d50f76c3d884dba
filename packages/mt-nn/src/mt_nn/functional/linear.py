"""Linear maps."""

from __future__ import annotations

from mt_nn.errors import InputError
from mt_nn.functional.arguments import check_one_dtype, checked
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


@fused("linear")
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Map; the arguments are those of `linear`, checked."""
    out = input @ weight.T
    return out if bias is None else out + bias


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
        InputError: the shapes do not fit.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    shapes = (input1.shape, input2.shape, weight.shape, None if bias is None else bias.shape)
    fits = (
        weight.ndim == 3
        and input1.shape[-1:] == weight.shape[1:2]
        and input2.shape[-1:] == weight.shape[2:]
        and input1.shape[:-1] == input2.shape[:-1]
        and (bias is None or bias.shape == weight.shape[:1])
    )
    if not fits:
        raise InputError(
            "bilinear() takes inputs of shapes (*batch, first) and (*batch, second), a weight of "
            f"shape (outputs, first, second) and a bias of shape (outputs,); {shapes} were given."
        )
    check_one_dtype("bilinear", input1, input2, weight, bias)
    common_backend(input1, input2, weight, bias)
    outputs, first, second = weight.shape
    matrices = input1 @ weight.permute(1, 0, 2).reshape(first, outputs * second)
    mapped = matrices.unflatten(-1, (outputs, second)) @ input2.unsqueeze(-1)
    out = mapped.squeeze(-1)
    return out if bias is None else out + bias
