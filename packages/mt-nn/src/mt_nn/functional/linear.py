"""Linear maps."""

from __future__ import annotations

from mt_nn.errors import InputError
from mt_tensor import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input @ weight.T + bias`.

    Args:
        input: shape (*batch, inputs).
        weight: shape (outputs, inputs).
        bias: shape (outputs,), or None.

    Returns:
        Shape (*batch, outputs).

    Raises:
        InputError: `input` has another last extent than the weight.
    """
    if input.ndim == 0 or input.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"linear() expects {weight.shape[-1]} inputs in the last dimension; a tensor of shape "
            f"{input.shape} was given."
        )
    out = input @ weight.T
    return out if bias is None else out + bias
