"""Dropout: randomly zero activations during training, so that the network relies on no single one.

Stage 0's `Module.train` and `Module.eval` switch it on and off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mt_nn.core.arguments import checked
from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import extension
from mt_nn.core.module import Module
from mt_tensor import Tensor, fused, rand
from mt_tensor.core.arguments import check_floating
from mt_tensor.core.conversion import cast


@checked
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set each element to zero with probability `p`, and scale the rest by `1 / (1 - p)`.

    Args:
        input: a tensor of any shape.
        p: the probability.
        training: if False, return the input unchanged.
        inplace: whether to store the result in the input, which must not be a leaf that requires
            grad.

    Raises:
        SettingError: `p` is not between 0 and 1.
        DTypeError: the input is not floating-point.
    """
    if not is_active("dropout", input, p, training):
        return input
    if p == 1.0 or inplace:
        return extension("other dropout")(input, input.shape, p, inplace)  # type: ignore[no-any-return]
    return _dropout(input, rand(*input.shape, dtype="float32", backend=input.backend), float(p))


@fused("dropout")
def _dropout(input: Tensor, noise: Tensor, p: float) -> Tensor:
    """Zero the elements whose noise, float32 in [0, 1), is below `p`; scale the rest."""
    return input * (cast(noise >= p, input.dtype) * (1.0 / (1.0 - p)))


def is_active(name: str, input: Tensor, p: float, training: bool) -> bool:
    """Return whether dropout applies; check `p` and, if it applies, the dtype of the input."""
    check_probability(name, p)
    if not training or p == 0.0:
        return False
    check_floating(name, input)
    return True


def check_probability(name: str, p: Any) -> None:
    """Raise SettingError unless `p` is between 0 and 1."""
    if not (isinstance(p, int | float | np.floating) and 0.0 <= p <= 1.0):
        raise SettingError(f"{name}(): the dropout probability must be between 0 and 1; got {p}.")


class DropoutLayer(Module):
    """Base class of dropout layers."""

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(type(self).__name__, p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return self.function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(DropoutLayer):
    """Randomly zero elements during training, and scale the rest.

    Args:
        p: the probability of setting an element to zero.
        inplace: whether to store the result in the input.
    """

    function = staticmethod(dropout)
