"""Dropout: randomly zero activations during training, so that the network relies on no single one.

`train()` and `eval()` of stage 0's `Module` switch it on and off.
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
        input: any shape, which is also that of the result.
        p: the probability.
        training: if False, the input is returned as it is.
        inplace: whether to store the result in the input, which no leaf that requires grad allows.

    Raises:
        SettingError: `p` is no probability.
        DTypeError: integers would be dropped.
    """
    if not is_active("dropout", input, p, training):
        return input
    if p == 1.0 or inplace:
        return extension("other dropout")(input, input.shape, p, inplace)  # type: ignore[no-any-return]
    return _dropout(input, rand(*input.shape, dtype="float32", backend=input.backend), float(p))


@fused("dropout")
def _dropout(input: Tensor, noise: Tensor, p: float) -> Tensor:
    """Zero the elements whose noise, of float32 between 0 and 1, is below `p`; scale the rest."""
    return input * (cast(noise >= p, input.dtype) * (1.0 / (1.0 - p)))


def is_active(name: str, input: Tensor, p: float, training: bool) -> bool:
    """Return whether a function of dropout changes its input, which must be floating-point."""
    check_probability(p)
    if not training or p == 0.0:
        return False
    check_floating(name, input)
    return True


def check_probability(p: Any) -> None:
    """Raise SettingError unless `p` is a probability."""
    if not (isinstance(p, int | float | np.floating) and 0.0 <= p <= 1.0):
        raise SettingError(f"the dropout probability must be between 0 and 1; got {p}.")


class DropoutLayer(Module):
    """Base of the layers of dropout.

    Args:
        p: the probability that something is set to zero.
        inplace: whether the result is stored in the input.
    """

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return self.function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(DropoutLayer):
    """Set elements to zero at random in training, and scale the rest; see `dropout`."""

    function = staticmethod(dropout)
