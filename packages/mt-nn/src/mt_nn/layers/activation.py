"""Activation functions with the settings of torch, and their layers.

The formulas, and the functions that are missing here, are in mt-tensor. Unless stated otherwise, a
function returns a tensor of the shape of the input. With `inplace=True` it stores the result in the
input, which must not be a leaf that requires grad, and returns the input.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import mt_tensor as mt
from mt_nn.core.arguments import checked
from mt_nn.core.extensions import extends
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.function import FunctionLayer
from mt_nn.utils.factory import DeclaredLayer
from mt_nn.utils.settings import check, number
from mt_tensor import Tensor
from mt_tensor.extending import check_floating, require_tensors


@extends("relu in place")
def relu_in_place(input: Tensor) -> Tensor:
    """Replace negative elements by 0, and return the input."""
    return input.relu_()


@checked
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return `input` where it is positive, and `alpha * (exp(input / alpha) - 1)` elsewhere.

    Args:
        input: a floating-point tensor of any shape.
        alpha: the scale of negative elements, not 0.
        inplace: whether to store the result in the input.

    Raises:
        DomainError: `alpha` is 0.
    """
    return input._computed("celu", alpha) if inplace else mt.celu(input, alpha)


@checked
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return `input` where it is positive, and `alpha * (exp(input) - 1)` elsewhere.

    Args:
        input: a floating-point tensor of any shape.
        alpha: the scale of negative elements.
        inplace: whether to store the result in the input.
    """
    return input._computed("elu", alpha) if inplace else mt.elu(input, alpha)


@checked
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input / 6 + 1 / 2`, clamped to [0, 1].

    Args:
        input: a floating-point tensor of any shape.
        inplace: whether to store the result in the input.
    """
    return input._computed("hardsigmoid") if inplace else mt.hardsigmoid(input)


@checked
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input * hardsigmoid(input)`.

    Args:
        input: a floating-point tensor of any shape.
        inplace: whether to store the result in the input.
    """
    return input._computed("hardswish") if inplace else mt.hardswish(input)


@checked
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp `input` to [`min_val`, `max_val`].

    Args:
        input: a floating-point tensor of any shape.
        min_val: the lower bound.
        max_val: the upper bound.
        inplace: whether to store the result in the input.

    Raises:
        DomainError: `min_val` is above `max_val`.
    """
    bounds = (min_val, max_val)
    return input._computed("hardtanh", *bounds) if inplace else mt.hardtanh(input, *bounds)


@checked
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return `input` where it is positive, and `negative_slope * input` elsewhere.

    Args:
        input: a floating-point tensor of any shape.
        negative_slope: the factor of negative elements.
        inplace: whether to store the result in the input.
    """
    slope = negative_slope
    return input._computed("leaky_relu", slope) if inplace else mt.leaky_relu(input, slope)


@checked
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input * tanh(log(1 + exp(input)))`.

    Args:
        input: a floating-point tensor of any shape.
        inplace: whether to store the result in the input.
    """
    return input._computed("mish") if inplace else mt.mish(input)


@checked
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Clamp `input` to [0, 6].

    Args:
        input: a floating-point tensor of any shape.
        inplace: whether to store the result in the input.
    """
    return input._computed("relu6") if inplace else mt.relu6(input)


@checked
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return a scaled `elu` of the input, which preserves mean 0 and variance 1.

    Args:
        input: a floating-point tensor of any shape.
        inplace: whether to store the result in the input.
    """
    return input._computed("selu") if inplace else mt.selu(input)


@checked
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input / (1 + exp(-input))`.

    Args:
        input: a floating-point tensor of any shape.
        inplace: whether to store the result in the input.
    """
    return input._computed("silu") if inplace else mt.silu(input)


@checked
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return `input` where it is above the threshold, and `value` elsewhere.

    Args:
        input: a floating-point tensor of any shape.
        threshold: the threshold.
        value: the value of elements that are not above it.
        inplace: whether to store the result in the input.
    """
    if inplace:
        return input._computed("threshold", threshold, value)
    return mt.threshold(input, threshold, value)


# --- With random numbers ------------------------------------------------------------------------


@checked
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return `input` where it is positive, and `slope * input` elsewhere, with random slopes.

    See Xu et al. 2015, "Empirical Evaluation of Rectified Activations in Convolutional Network".

    Args:
        input: a floating-point tensor of any shape.
        lower: the smallest slope.
        upper: the largest slope.
        training: whether to draw a slope for each element; otherwise, the slope is the mean of
            `lower` and `upper`.
        inplace: whether to store the result in the input.

    Raises:
        SettingError: `lower` is above `upper`, or one of them is not finite.
    """
    if not -math.inf < lower <= upper < math.inf:
        raise SettingError(
            f"rrelu() takes finite bounds with lower <= upper; got {lower} and {upper}."
        )
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = mt.rand_like(input) * (upper - lower) + lower
    if inplace:
        return input._computed("leaky_relu", slopes)
    return mt.elementwise("leaky_relu", input, slopes)


@checked
def gumbel_softmax(
    logits: Tensor,
    tau: float = 1.0,
    hard: bool = False,
    eps: float = 1e-10,  # noqa: ARG001 - as in torch
    dim: int = -1,
) -> Tensor:
    """Draw a differentiable, approximately one-hot sample of classes.

    This is `softmax((logits + noise) / tau)` with Gumbel noise, `-log(-log(u))` for uniform u
    (Jang, Gu and Poole 2017, "Categorical Reparameterization with Gumbel-Softmax").

    Args:
        logits: unnormalized log-probabilities, of any shape.
        tau: the temperature; the lower, the closer to one-hot.
        hard: whether to return a one-hot sample, with the gradient of the soft one.
        eps: ignored, as in torch.
        dim: the dimension of the classes.

    Returns:
        A tensor of the shape of `logits`, whose sums along `dim` are 1.

    Raises:
        SettingError: `tau` is not positive.
        DTypeError: the logits are not floating-point.
        IndexingError: `dim` is out of range.
    """
    check("tau", tau, tau > 0, "positive")
    check_floating("gumbel_softmax", logits)
    spacing = mt.finfo(logits.dtype).eps / 2  # of uniform random numbers
    uniform = mt.rand_like(logits).clamp_min(spacing / 2)  # log(0) is not finite
    soft: Tensor = ((logits - (-uniform.log()).log()) / tau).softmax(dim)
    if not hard:
        return soft
    largest = soft.detach().argmax(dim, keepdim=True)
    one_hot: Tensor = mt.zeros_like(soft).scatter(dim, largest, 1.0)
    return one_hot + (soft - soft.detach())


# --- Layers ---------------------------------------------------------------------------------------


class _InPlace(FunctionLayer):
    """Base class of activation layers with no setting but `inplace`."""

    inplace: bool = False


# --- Without other settings ---------------------------------------------------------------------


class Hardsigmoid(_InPlace, function=hardsigmoid):
    """Compute `input / 6 + 1 / 2`, clamped to [0, 1], elementwise.

    Args:
        inplace: whether to store the result in the input.
    """


class Hardswish(_InPlace, function=hardswish):
    """Compute `input * hardsigmoid(input)` elementwise.

    Args:
        inplace: whether to store the result in the input.
    """


class Mish(_InPlace, function=mish):
    """Compute `input * tanh(log(1 + exp(input)))` elementwise.

    Args:
        inplace: whether to store the result in the input.
    """


class ReLU6(_InPlace, function=relu6):
    """Clamp the input to [0, 6].

    Args:
        inplace: whether to store the result in the input.
    """


class SELU(_InPlace, function=selu):
    """Compute a scaled `ELU`, which preserves mean 0 and variance 1.

    Args:
        inplace: whether to store the result in the input.
    """


class SiLU(_InPlace, function=silu):
    """Compute `input / (1 + exp(-input))`, also called swish, elementwise.

    Args:
        inplace: whether to store the result in the input.
    """


class LogSigmoid(FunctionLayer, function=mt.logsigmoid):
    """Compute `log(sigmoid(input))` elementwise, without underflow of the sigmoid."""


class Sigmoid(FunctionLayer, function=mt.sigmoid):
    """Compute `1 / (1 + exp(-input))` elementwise."""


class Softsign(FunctionLayer, function=mt.softsign):
    """Compute `input / (1 + abs(input))` elementwise."""


class Tanh(FunctionLayer, function=mt.tanh):
    """Compute the hyperbolic tangent elementwise."""


class Tanhshrink(FunctionLayer, function=mt.tanhshrink):
    """Compute `input - tanh(input)` elementwise."""


# --- With settings ------------------------------------------------------------------------------


class CELU(FunctionLayer, function=celu):
    """Replace negative elements by `alpha * (exp(input / alpha) - 1)`.

    Args:
        alpha: the scale of negative elements, not 0.
        inplace: whether to store the result in the input.
    """

    alpha: float = 1.0
    inplace: bool = False


class ELU(FunctionLayer, function=elu):
    """Replace negative elements by `alpha * (exp(input) - 1)`.

    Args:
        alpha: the scale of negative elements.
        inplace: whether to store the result in the input.
    """

    alpha: float = 1.0
    inplace: bool = False


class GELU(FunctionLayer, function=mt.gelu):
    """Compute `input * Phi(input)`, with the standard normal distribution function `Phi`.

    Args:
        approximate: `"none"`, or `"tanh"` for a faster approximation.
    """

    approximate: str = "none"


class Hardshrink(FunctionLayer, function=mt.hardshrink):
    """Replace elements from `-lambd` to `lambd` by 0.

    Args:
        lambd: the bound.
    """

    lambd: float = 0.5


class LeakyReLU(FunctionLayer, function=leaky_relu):
    """Multiply negative elements by `negative_slope`.

    Args:
        negative_slope: the factor of negative elements.
        inplace: whether to store the result in the input.
    """

    negative_slope: float = 0.01
    inplace: bool = False


class Softplus(FunctionLayer, function=mt.softplus):
    """Compute `log(1 + exp(beta * input)) / beta`; the input where `beta * input > threshold`.

    Args:
        beta: the scale of the input.
        threshold: the value of `beta * input` above which the input is returned.
    """

    beta: float = 1.0
    threshold: float = 20.0


class Softshrink(FunctionLayer, function=mt.softshrink):
    """Move elements towards 0 by at most `lambd`.

    Args:
        lambd: the largest shift.
    """

    lambd: float = 0.5


class Threshold(FunctionLayer, function=threshold):
    """Replace elements that are not greater than `threshold` by `value`.

    Args:
        threshold: the threshold.
        value: the new value.
        inplace: whether to store the result in the input.
    """

    threshold: float
    value: float
    inplace: bool = False


class Hardtanh(FunctionLayer, function=hardtanh):
    """Clamp the input to [`min_val`, `max_val`].

    Args:
        min_val: the lower bound.
        max_val: the upper bound.
        inplace: whether to store the result in the input.
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def _check(self) -> None:
        low, high = self.min_val, self.max_val
        if not number("min_val", low) < number("max_val", high):
            raise SettingError(f"Hardtanh: min_val must be below max_val; got {low} and {high}.")


class RReLU(FunctionLayer):
    """Multiply negative elements by a random slope.

    In training mode, the slope of each element is random, from `lower` to `upper`; in evaluation
    mode, all slopes are the mean of both bounds.

    Args:
        lower: the smallest slope.
        upper: the largest slope.
        inplace: whether to store the result in the input.
    """

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(DeclaredLayer):
    """Multiply negative elements by a learned slope.

    Args:
        num_parameters: 1, or the number of channels (dimension 1 of the input) for separate slopes.
        init: the initial slope.
        device, dtype: those of the slopes.

    Attributes:
        weight: the slopes, shape (num_parameters,).
    """

    num_parameters: int = 1
    init: float = 0.25

    def _check(self) -> None:
        self.num_parameters = count = integer("num_parameters", self.num_parameters, 1)
        slope = float(number("init", self.init))
        self.weight = Parameter(mt.full((count,), slope, dtype=self.dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return mt.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"num_parameters={self.num_parameters}"


# --- Over a dimension ---------------------------------------------------------------------------


class GLU(FunctionLayer, function=mt.glu):
    """Multiply the first half of a dimension by the sigmoid of the second half.

    Args:
        dim: the dimension, whose size must be even.
    """

    dim: int = -1


class _Normalized(FunctionLayer):
    """Base class of softmax layers."""

    dim: int | None = None

    def _along(self, input: Tensor) -> int:
        """Return the dimension."""
        if self.dim is not None:
            return self.dim
        dim = 0 if input.ndim in (0, 1, 3) else 1
        warnings.warn(
            f"{type(self).__name__} with dim=None uses dimension {dim} of an input of shape "
            f"{input.shape}: pass dim={dim} if this is intended.",
            stacklevel=4,
        )
        return dim

    def forward(self, input: Tensor) -> Any:
        """Return a tensor of the same shape."""
        return self.function(input, self._along(input))


class LogSoftmax(_Normalized, function=mt.log_softmax):
    """Compute the logarithm of `Softmax` without overflow.

    Args:
        dim: the dimension; see `Softmax` for None.
    """


class Softmax(_Normalized, function=mt.softmax):
    """Compute exponentials, scaled to a sum of 1 along `dim`.

    Args:
        dim: the dimension. For None, as in torch, it is 0 if the input has 0, 1 or 3 dimensions and
            otherwise 1, with a warning, since this is rarely intended.
    """


class Softmin(_Normalized, function=mt.softmin):
    """Compute the softmax of `-input` along `dim`.

    Args:
        dim: the dimension; see `Softmax` for None.
    """


class Softmax2d(Module):
    """Compute the softmax over the channels of each pixel."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, ([batch,] channels, height, width).

        Raises:
            InputError: the input has neither 3 nor 4 dimensions.
        """
        require_tensors("Softmax2d", input)
        if input.ndim not in (3, 4):
            raise InputError(
                "Softmax2d takes images of shape ([batch,] channels, height, width); shape "
                f"{input.shape} was given."
            )
        return mt.softmax(input, -3)
