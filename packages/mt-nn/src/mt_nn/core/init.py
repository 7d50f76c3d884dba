"""Initializers of parameters, with torch's names and formulas.

Each function fills a tensor in place, without recording, and returns it. Random numbers come from
`generator`, by default the one that `mt_tensor.manual_seed` seeds, so that a seed gives the same
network on every backend. `mt_nn.init` has more initializers.
"""

from __future__ import annotations

import math

from mt_nn.core.errors import SettingError
from mt_tensor import Generator, Tensor, rand
from mt_tensor.core.in_place import overwrite
from mt_tensor.core.strides import size_of


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor with random numbers, uniformly distributed in [a, b).

    Args:
        tensor: any shape; it is changed and returned.
        a: the lower bound.
        b: the upper bound.
        generator: the random number generator; the default one if None.
    """
    numbers = rand(*tensor.shape, generator=generator, backend=tensor.backend)
    overwrite(tensor, numbers * (b - a) + a)
    return tensor


def fan_in(tensor: Tensor) -> int:
    """Return the number of inputs per output of a weight of shape (outputs, inputs, ...)."""
    if tensor.ndim < 2:
        raise SettingError(
            f"the fan of a tensor of shape {tensor.shape} is undefined: a weight needs at least "
            "two dimensions, (outputs, inputs, ...)."
        )
    return size_of(tensor.shape[1:])


def init_like_torch(weight: Tensor, bias: Tensor | None) -> None:
    """Fill weight and bias uniformly between `-1 / sqrt(fan_in)` and `1 / sqrt(fan_in)`."""
    bound = 1.0 / math.sqrt(max(fan_in(weight), 1))
    uniform_(weight, -bound, bound)
    if bias is not None:
        uniform_(bias, -bound, bound)
