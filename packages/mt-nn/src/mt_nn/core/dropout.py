"""Dropout: elements that are set to zero at random while a network is trained.

With `inplace=True` the result is stored in the input, which is returned; a leaf that requires grad
cannot be changed so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.core.arguments import checked
from mt_nn.core.errors import SettingError
from mt_tensor import Tensor, fused, rand
from mt_tensor.extending import Shape, check_floating


def check_probability(p: Any) -> None:
    """Raise SettingError unless `p` can be the probability of dropout."""
    if not (isinstance(p, int | float | np.floating) and 0.0 <= p <= 1.0):
        raise SettingError(f"the dropout probability must be between 0 and 1; got {p}.")


def leaves_out(name: str, input: Tensor, p: float, training: bool) -> bool:
    """Return whether anything is left out; then the elements must be floating-point numbers."""
    check_probability(p)
    if not training or p == 0.0:
        return False
    check_floating(name, input)
    return True


@checked
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set each element to zero with probability `p`, and scale the rest by `1 / (1 - p)`.

    Args:
        input: any shape, which is also that of the result.
        p: how likely an element is set to zero.
        training: if False, the input is returned as it is.
        inplace: whether to store the result in the input.

    Raises:
        SettingError: `p` is no probability.
        DTypeError: something is left out of integers.
    """
    if not leaves_out("dropout", input, p, training):
        return input
    if p == 1.0 or inplace:
        return leave_out(input, input.shape, p, inplace)
    return _dropout(input, rand(*input.shape, dtype="float32", backend=input.backend), float(p))


@fused("dropout")
def _dropout(input: Tensor, noise: Tensor, p: float) -> Tensor:
    """Leave out the elements whose noise, of float32 between 0 and 1, is below `p`."""
    return input * ((noise >= p).to(input.dtype) * (1.0 / (1.0 - p)))


def leave_out(input: Tensor, shape: Shape, p: float, inplace: bool) -> Tensor:
    """Multiply by zeros with probability `p`, and else by `1 / (1 - p)`; nothing is drawn for 1.

    Args:
        input: what is multiplied.
        shape: that of the factors, which broadcasts to that of the input.
        p: how likely a factor is zero.
        inplace: whether to store the result in the input.
    """
    if p == 1.0:
        factors = input._full(shape, 0.0)
    else:
        drawn = rand(*shape, backend=input.backend) >= p
        factors = drawn.to(input.dtype) * (1.0 / (1.0 - p))
    return input.mul_(factors) if inplace else input * factors
