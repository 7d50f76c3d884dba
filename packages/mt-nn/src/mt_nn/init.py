"""First values of parameters. The names are torch's, and so are the formulas.

Each function fills a tensor in place, without recording, and returns it. The numbers come from the
generator that `mt_tensor.manual_seed` sets, so that a seed gives the same network on every backend.
"""

from __future__ import annotations

import math

from mt_nn.errors import SettingError
from mt_tensor import Tensor, no_grad, rand, randn
from mt_tensor.strides import size_of


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with numbers drawn evenly from `a` to `b`."""
    with no_grad():
        return tensor.copy_(rand(*tensor.shape, backend=tensor.backend) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with numbers from a normal distribution."""
    with no_grad():
        return tensor.copy_(randn(*tensor.shape, backend=tensor.backend) * std + mean)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    with no_grad():
        return tensor.zero_()


def fan_in(tensor: Tensor) -> int:
    """Return how many inputs each output of a weight depends on.

    Args:
        tensor: shape (outputs, inputs, *kernel).

    Raises:
        SettingError: the weight has fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise SettingError(
            f"the fan of a tensor of shape {tensor.shape} is undefined: it takes a weight of at "
            "least two dimensions, (outputs, inputs, ...)."
        )
    return size_of(tensor.shape[1:])


def kaiming_uniform_(tensor: Tensor, a: float = 0.0) -> Tensor:
    """Fill with even numbers up to `sqrt(6 / ((1 + a^2) fan_in))` in size.

    With `a = 0` the outputs of a layer followed by relu keep the variance of its inputs (He et al.
    2015, "Delving Deep into Rectifiers", equation 10); `a` is the negative slope of a leaky relu.
    """
    bound = math.sqrt(6.0 / ((1.0 + a * a) * fan_in(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with even numbers up to `gain * sqrt(6 / (fan_in + fan_out))` in size.

    Values and gradients keep their variance about equally well (Glorot and Bengio 2010,
    "Understanding the difficulty of training deep feedforward neural networks", equation 16).
    """
    bound = gain * math.sqrt(6.0 / _both_fans(tensor))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with normal numbers of deviation `gain * sqrt(2 / (fan_in + fan_out))`."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / _both_fans(tensor)))


def _both_fans(tensor: Tensor) -> int:
    """Return how many inputs an output of a weight depends on, plus how many depend on an input."""
    inputs = fan_in(tensor)
    return inputs + tensor.shape[0] * (inputs // max(tensor.shape[1], 1))


def init_like_torch(weight: Tensor, bias: Tensor | None) -> None:
    """Fill weight and bias with even numbers up to `1 / sqrt(fan_in)` in size, torch's default."""
    kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        bound = 1.0 / math.sqrt(max(fan_in(weight), 1))
        uniform_(bias, -bound, bound)
