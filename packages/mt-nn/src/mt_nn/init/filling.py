"""Initial values of parameters, under torch's names and by its formulas.

Each function fills a tensor in place, without recording, and returns it; see `mt_nn.core.init`.
`xavier_*` are Glorot's, and `kaiming_*` are He's initializations, each by the first name.
"""

from __future__ import annotations

import math
from typing import Literal

from mt_nn.core.errors import SettingError
from mt_nn.core.init import fan_in, uniform_
from mt_tensor import Generator, Tensor, no_grad, randn
from mt_tensor.extending import size_of

# --- Constants ------------------------------------------------------------------------------------


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    with no_grad():
        return tensor.zero_()


# --- Random numbers -------------------------------------------------------------------------------


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a normal distribution."""
    with no_grad():
        numbers = randn(*tensor.shape, generator=generator, backend=tensor.backend)
        return tensor.copy_(numbers * std + mean)


# --- Scaled to the layer --------------------------------------------------------------------------

Nonlinearity = Literal[
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
    "tanh",
    "relu",
    "leaky_relu",
    "selu",
]

GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}


def calculate_gain(nonlinearity: Nonlinearity, param: float | None = None) -> float:
    """Return what a layer's weights are multiplied by for the function that follows.

    It is 1 for linear layers, convolutions and the sigmoid, 5/3 for tanh, sqrt(2) for relu, 3/4 for
    selu, and `sqrt(2 / (1 + param^2))` for a leaky relu, whose slope is 0.01 by default.

    Raises:
        SettingError: there is no such function, or the slope is no number.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise SettingError(f"the slope of a leaky relu is a number; got {param!r}.")
        return math.sqrt(2 / (1 + slope * slope))
    known = Nonlinearity.__args__  # type: ignore[attr-defined]
    if nonlinearity not in known:
        raise SettingError(f"nonlinearity is one of {', '.join(known)}; got {nonlinearity!r}.")
    return GAINS.get(nonlinearity, 1.0)


def fan_out(tensor: Tensor) -> int:
    """Return how many outputs each input of a weight reaches; see `fan_in`."""
    fan_in(tensor)
    return tensor.shape[0] * size_of(tensor.shape[2:])


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with even numbers up to `gain * sqrt(6 / (fan_in + fan_out))` in size.

    Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural
    networks", equation 16.
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers of deviation `gain * sqrt(2 / (fan_in + fan_out))`."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / max(fan_in(tensor) + fan_out(tensor), 1))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    nonlinearity: Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with even numbers up to `gain * sqrt(3 / fan)` in size.

    The outputs of a layer followed by relu so keep the variance of its inputs, or its gradients
    that of the outputs' (He et al. 2015, "Delving Deep into Rectifiers", equations 10 and 14).

    Args:
        tensor: shape (outputs, inputs, *kernel).
        a: the negative slope, if a leaky relu follows.
        mode: which variance is kept, that of inputs (`"fan_in"`) or of gradients (`"fan_out"`).
        nonlinearity: which function follows; see `calculate_gain`.
        generator: where the numbers come from.

    Raises:
        SettingError: the tensor has fewer than two dimensions, or there is no such mode or
            function.
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    nonlinearity: Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal numbers of deviation `gain / sqrt(fan)`; see `kaiming_uniform_`."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: Nonlinearity) -> float:
    fans = {"fan_in": fan_in, "fan_out": fan_out}
    if mode not in fans:
        raise SettingError(f"mode is 'fan_in' or 'fan_out'; got {mode!r}.")
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fans[mode](tensor), 1))
