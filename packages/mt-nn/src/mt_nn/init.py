"""Initial values of parameters, under torch's names and by its formulas.

Each function fills a tensor in place, without recording, and returns it; see `mt_nn.core.init`.
`xavier_*` are Glorot's, and `kaiming_*` are He's initializations, each by the first name.
"""

from __future__ import annotations

import math
from typing import Literal

from mt_nn.core.init import fan_in, init_like_torch, uniform_
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.utils.settings import check
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


# --- Of special structure -------------------------------------------------------------------------


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal, and zeros: a linear layer so keeps its inputs.

    Raises:
        SettingError: the tensor is no matrix.
    """
    _check_dimensions("eye_", tensor, 2, 2)
    with no_grad():
        return tensor.copy_(eye(tensor.shape[0], tensor.shape[1], backend=tensor.backend))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the kernels of a convolution so that it keeps its input channels.

    Args:
        tensor: shape (outputs, inputs / groups, *kernel), of three to five dimensions.
        groups: into how many independent parts the channels are split; each keeps its own.

    Raises:
        SettingError: the tensor has other dimensions, or outputs are no multiple of the groups.
    """
    _check_dimensions("dirac_", tensor, 3, 5)
    groups = integer("groups", groups, 1)
    outputs, inputs, *kernel = tensor.shape
    if outputs % groups:
        raise SettingError(f"dirac_() takes a multiple of {groups} groups; got {outputs} outputs.")
    middle = tuple(length // 2 for length in kernel)
    share = outputs // groups
    with no_grad():
        tensor.zero_()
        for output in range(outputs):
            if output % share < inputs:
                tensor[(output, output % share, *middle)] = 1.0
    return tensor


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with numbers from a normal distribution of which only those from `a` to `b` are taken.

    Even numbers between the probabilities of both ends go through the inverse of the distribution
    function.

    Raises:
        SettingError: the deviation is not above 0, or the ends are in the wrong order.
    """
    if not std > 0 or not a < b:
        raise SettingError(
            f"trunc_normal_() takes a deviation above 0, and a below b; got std={std}, a={a}, "
            f"b={b}."
        )
    low, high = (math.erf((end - mean) / (std * math.sqrt(2))) for end in (a, b))
    with no_grad():
        numbers = rand(*tensor.shape, generator=generator, dtype="float64", backend=tensor.backend)
        drawn = (numbers * (high - low) + low).erfinv() * (std * math.sqrt(2)) + mean
        return tensor.copy_(drawn.clamp(a, b))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill a matrix with normal numbers of mean 0, but a share of each column with zeros.

    Martens 2010, "Deep Learning via Hessian-free Optimization".

    Args:
        tensor: a matrix.
        sparsity: the share of zeros, from 0 to 1, rounded up to an integer number of elements.
        std: the deviation of the others.
        generator: where the numbers come from.

    Raises:
        SettingError: the tensor is no matrix, or the share is not from 0 to 1.
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

    Its rows, or if there are more rows than columns these, are of length `gain` and orthogonal.
    All such matrices are equally likely.

    Args:
        tensor: at least two dimensions; all but the first count as columns.
        gain: what the matrix is multiplied by.
        generator: where the numbers come from.

    Raises:
        SettingError: the tensor has fewer than two dimensions.
    """
    _check_dimensions("orthogonal_", tensor, 2, None)
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with no_grad():
        numbers = randn(
            *(max(rows, columns), min(rows, columns)),
            generator=generator,
            dtype="float64",
            backend=tensor.backend,
        )
        q, r = linalg.qr(numbers)
        q = q * r.diagonal().sign()  # which makes them equally likely (Mezzadri 2007)
        q = q if rows >= columns else q.T
        return tensor.copy_(q.reshape(*tensor.shape) * gain)


def _check_dimensions(name: str, tensor: Tensor, least: int, most: int | None) -> None:
    if tensor.ndim < least or (most is not None and tensor.ndim > most):
        wanted = f"{least} or more" if most is None else f"{least} to {most}"
        wanted = f"{least}" if most == least else wanted
        raise SettingError(
            f"{name}() takes a tensor of {wanted} dimensions; shape {tensor.shape} was given."
        )
