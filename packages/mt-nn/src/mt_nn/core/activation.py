"""The activation function of LeNet; `mt_nn.functional` and `mt_nn` have many more."""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.extensions import extension
from mt_nn.core.module import Module
from mt_tensor import Tensor


@checked
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `max(input, 0)`, elementwise.

    Args:
        input: any shape.
        inplace: whether to store the result in the input.
    """
    return extension("relu in place")(input) if inplace else input.relu()


class ReLU(Module):
    """Apply `max(input, 0)` elementwise.

    Args:
        inplace: whether to store the result in the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return `inplace=True` if it is set, as torch does."""
        return "inplace=True" if self.inplace else ""
