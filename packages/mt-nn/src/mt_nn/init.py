"""Initializers of parameters, with the names and formulas of torch.

Each initializer fills a tensor in place, without recording gradients, and returns it; see
`mt_nn.core.init`.
`xavier_*` are the initializations of Glorot, and `kaiming_*` those of He. If a function has a
`generator`, random numbers come from it, or by default from the one that `manual_seed` seeds.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from mt_nn.core.init import fan_in, init_like_torch, uniform_
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.utils.settings import check, choice
from mt_tensor import Generator, Tensor, eye, linalg, no_grad, rand, randn
from mt_tensor.extending import size_of

# fmt: off
__all__ = [
    "Nonlinearity", "calculate_gain", "constant_", "dirac_", "eye_", "fan_in", "fan_out",
    "init_like_torch", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]
# fmt: on


# --- Constants ------------------------------------------------------------------------------------


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with a constant.

    Args:
        tensor: any shape; it is changed and returned.
        val: the constant.
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones, and return the tensor."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros, and return the tensor."""
    return constant_(tensor, 0.0)


# --- Random numbers -------------------------------------------------------------------------------


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with random numbers from a normal distribution.

    Args:
        tensor: any shape; it is changed and returned.
        mean: the mean.
        std: the standard deviation.
        generator: the random generator, or None.
    """
    with no_grad():
        numbers = randn(*tensor.shape, generator=generator, backend=tensor.backend)
        return tensor.copy_(numbers * std + mean)


# --- Scaled to the layer --------------------------------------------------------------------------

# fmt: off
Nonlinearity = Literal[
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu",
]
"""The names of layers and activation functions that `calculate_gain` takes."""
# fmt: on

GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}


def calculate_gain(nonlinearity: Nonlinearity, param: float | None = None) -> float:
    """Return the recommended gain for an activation function.

    It is 1 for linear layers, convolutions and sigmoid, 5/3 for tanh, sqrt(2) for relu, 3/4 for
    selu, and `sqrt(2 / (1 + param**2))` for leaky relu with the slope `param`, 0.01 by default.

    Args:
        nonlinearity: the name of the function, or of the layer if none follows.
        param: the slope of leaky relu; ignored for other functions.

    Raises:
        SettingError: the function is unknown, or the slope is not a number.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise SettingError(
                f"calculate_gain('leaky_relu', param) takes a number as param; got {param!r}."
            )
        return math.sqrt(2 / (1 + slope * slope))
    choice("nonlinearity", nonlinearity, get_args(Nonlinearity))
    return GAINS.get(nonlinearity, 1.0)


def fan_out(tensor: Tensor) -> int:
    """Return the number of outputs per input of a weight; see `fan_in`."""
    fan_in(tensor)
    return tensor.shape[0] * size_of(tensor.shape[2:])


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill uniformly between -b and b, with `b = gain * sqrt(6 / (fan_in + fan_out))`.

    See Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural
    networks", equation 16.

    Args:
        tensor: a weight of shape (outputs, inputs, ...); it is changed and returned.
        gain: the factor for the activation function that follows; see `calculate_gain`.
        generator: the random generator, or None.

    Raises:
        SettingError: the tensor has fewer than two dimensions.
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill from a normal distribution with `std = gain * sqrt(2 / (fan_in + fan_out))`.

    The arguments and errors are those of `xavier_uniform_`.
    """
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
    """Fill uniformly between -b and b, with `b = gain * sqrt(3 / fan)`.

    A layer that is followed by relu then preserves the variance of its inputs in the forward pass,
    or that of gradients in the backward pass (He et al. 2015, "Delving Deep into Rectifiers",
    equations 10 and 14).

    Args:
        tensor: shape (outputs, inputs, *kernel).
        a: the negative slope, for leaky relu.
        mode: "fan_in" to preserve the variance in the forward pass, "fan_out" in the backward pass.
        nonlinearity: the activation function; see `calculate_gain`.
        generator: the random generator, or None.

    Raises:
        SettingError: the tensor has fewer than two dimensions, or the mode or function is invalid.
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
    """Fill from a normal distribution with `std = gain / sqrt(fan)`; see `kaiming_uniform_`."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: Nonlinearity) -> float:
    choice("mode", mode, ("fan_in", "fan_out"))
    fan = fan_in(tensor) if mode == "fan_in" else fan_out(tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fan, 1))


# --- With a special structure ---------------------------------------------------------------------


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity, so that a linear layer preserves its inputs.

    Raises:
        SettingError: the tensor is not a matrix.
    """
    _check_dimensions("eye_", tensor, 2, 2)
    with no_grad():
        return tensor.copy_(eye(tensor.shape[0], tensor.shape[1], backend=tensor.backend))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the kernels of a convolution so that it preserves its input channels.

    Args:
        tensor: shape (outputs, inputs / groups, *kernel), of three to five dimensions.
        groups: number of independent groups of channels.

    Raises:
        SettingError: the number of dimensions is invalid, or `groups` does not divide the number
            of outputs.
    """
    _check_dimensions("dirac_", tensor, 3, 5)
    groups = integer("groups", groups, 1)
    outputs, inputs, *kernel = tensor.shape
    if outputs % groups:
        raise SettingError(
            f"dirac_() with groups={groups} takes a multiple of {groups} outputs; got {outputs}."
        )
    middle = tuple(length // 2 for length in kernel)
    per_group = outputs // groups
    with no_grad():
        tensor.zero_()
        for output in range(outputs):
            if output % per_group < inputs:
                tensor[(output, output % per_group, *middle)] = 1.0
    return tensor


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill from a normal distribution, truncated to numbers from `a` to `b`.

    The inverse of the distribution function is applied to uniform numbers.

    Args:
        tensor: any shape; it is changed and returned.
        mean: the mean before truncation.
        std: the standard deviation before truncation, positive.
        a: the smallest number; it is not relative to `mean` and `std`.
        b: the largest number.
        generator: the random generator, or None.

    Raises:
        SettingError: `std` is not positive, or `a` is not below `b`.
    """
    if not std > 0 or not a < b:
        raise SettingError(
            f"trunc_normal_() takes a positive std, and a below b; got std={std}, a={a}, b={b}."
        )
    low, high = (math.erf((end - mean) / (std * math.sqrt(2))) for end in (a, b))
    with no_grad():
        numbers = rand(*tensor.shape, generator=generator, dtype="float64", backend=tensor.backend)
        drawn = (numbers * (high - low) + low).erfinv() * (std * math.sqrt(2)) + mean
        return tensor.copy_(drawn.clamp(a, b))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill a matrix from a normal distribution with mean 0, and a fraction of each column with 0.

    See Martens 2010, "Deep Learning via Hessian-free Optimization".

    Args:
        tensor: a matrix.
        sparsity: the fraction of zeros in a column, whose number is rounded up.
        std: the standard deviation of the other elements.
        generator: the random generator, or None.

    Raises:
        SettingError: the tensor is not a matrix, or `sparsity` is not from 0 to 1.
    """
    _check_dimensions("sparse_", tensor, 2, 2)
    check("sparsity", sparsity, 0 <= sparsity <= 1, "from 0 to 1")
    normal_(tensor, 0.0, std, generator)
    zeros = math.ceil(sparsity * tensor.shape[0])
    with no_grad():
        numbers = rand(*tensor.shape, generator=generator, backend=tensor.backend)
        return tensor.masked_fill_(numbers.argsort(0).argsort(0) < zeros, 0.0)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with an orthogonal matrix, times `gain` (Saxe et al. 2014, "Exact solutions").

    Its rows, or its columns if there are more rows than columns, are orthogonal and have the norm
    `gain`. All such matrices are equally likely.

    Args:
        tensor: at least two dimensions; all but the first are flattened to columns.
        gain: the factor.
        generator: the random generator, or None.

    Raises:
        SettingError: the tensor has fewer than two dimensions.
    """
    _check_dimensions("orthogonal_", tensor, 2, None)
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with no_grad():
        shape = (max(rows, columns), min(rows, columns))
        numbers = randn(*shape, generator=generator, dtype="float64", backend=tensor.backend)
        q, r = linalg.qr(numbers)
        q = q * r.diagonal().sign()  # makes the distribution uniform (Mezzadri 2007)
        q = q if rows >= columns else q.T
        return tensor.copy_(q.reshape(*tensor.shape) * gain)


def _check_dimensions(name: str, tensor: Tensor, least: int, most: int | None) -> None:
    if tensor.ndim < least or (most is not None and tensor.ndim > most):
        expected = f"{least} or more" if most is None else f"{least} to {most}"
        expected = f"{least}" if most == least else expected
        raise SettingError(
            f"{name}() takes a tensor of {expected} dimensions; shape {tensor.shape} was given."
        )
