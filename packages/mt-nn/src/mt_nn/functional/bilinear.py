"""Bilinear maps."""

from __future__ import annotations

from mt_nn.core.arguments import check_alike, checked
from mt_nn.errors import InputError
from mt_tensor import Tensor


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
    check_alike("bilinear", input1, input2, weight, bias)
    outputs, first, second = weight.shape
    matrices = input1 @ weight.permute(1, 0, 2).reshape(first, outputs * second)
    mapped = matrices.unflatten(-1, (outputs, second)) @ input2.unsqueeze(-1)
    out = mapped.squeeze(-1)
    return out if bias is None else out + bias
