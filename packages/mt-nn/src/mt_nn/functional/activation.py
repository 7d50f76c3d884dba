"""Activations that mt-tensor does not have as they are needed here.

With `inplace=True` the result is stored in the input, which is returned; a leaf that requires grad
cannot be changed so. All others are mt-tensor's own.
"""

from __future__ import annotations

import math

import mt_tensor as mt
from mt_nn.core.arguments import checked
from mt_nn.core.extensions import extends
from mt_nn.errors import SettingError
from mt_nn.utils.settings import number
from mt_tensor import Tensor, elementwise, finfo, rand_like, zeros_like
from mt_tensor.extending import check_floating


@extends("relu in place")
def relu_in_place(input: Tensor) -> Tensor:
    """Replace negative elements by 0, and return the input."""
    return input.relu_()


@checked
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return `input` where it is positive, and `alpha (exp(input / alpha) - 1)` elsewhere.

    Raises:
        DomainError: `alpha` is 0.
    """
    return input._computed("celu", alpha) if inplace else mt.celu(input, alpha)


@checked
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return `input` where it is positive, and `alpha (exp(input) - 1)` elsewhere."""
    return input._computed("elu", alpha) if inplace else mt.elu(input, alpha)


@checked
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input / 6 + 1 / 2` between 0 and 1."""
    return input._computed("hardsigmoid") if inplace else mt.hardsigmoid(input)


@checked
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input hardsigmoid(input)`."""
    return input._computed("hardswish") if inplace else mt.hardswish(input)


@checked
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Return `input` between two bounds.

    Raises:
        DomainError: the bounds are in the wrong order.
    """
    if inplace:
        return input._computed("hardtanh", min_val, max_val)
    return mt.hardtanh(input, min_val, max_val)


@checked
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return `input` where it is positive, and `negative_slope` times it elsewhere."""
    if inplace:
        return input._computed("leaky_relu", negative_slope)
    return mt.leaky_relu(input, negative_slope)


@checked
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input tanh(log(1 + exp(input)))`."""
    return input._computed("mish") if inplace else mt.mish(input)


@checked
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input` between 0 and 6."""
    return input._computed("relu6") if inplace else mt.relu6(input)


@checked
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return elu, scaled so that mean 0 and variance 1 stay."""
    return input._computed("selu") if inplace else mt.selu(input)


@checked
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `input / (1 + exp(-input))`."""
    return input._computed("silu") if inplace else mt.silu(input)


@checked
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return `input` where it is above the threshold, and `value` elsewhere."""
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
    """Return `input` where it is positive, and a slope times it elsewhere.

    After Xu et al., Empirical Evaluation of Rectified Activations in Convolutional Network, 2015.

    Args:
        input: any shape, of floating-point numbers.
        lower: the smallest slope.
        upper: the largest slope.
        training: whether each element has a random slope between these; otherwise all have their
            mean.
        inplace: whether to store the result in the input.

    Raises:
        SettingError: `lower` is above `upper`, or one of them is not finite.
    """
    check_slopes(lower, upper)
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = rand_like(input) * (upper - lower) + lower
    if inplace:
        return input._computed("leaky_relu", slopes)
    return elementwise("leaky_relu", input, slopes)


def check_slopes(lower: float, upper: float) -> None:
    """Raise SettingError unless these can be the bounds of the slopes of `rrelu`."""
    if not -math.inf < number("lower", lower) <= number("upper", upper) < math.inf:
        raise SettingError(
            f"lower must be at most upper, and both finite; got {lower} and {upper}."
        )


@checked
def gumbel_softmax(
    logits: Tensor,
    tau: float = 1.0,
    hard: bool = False,
    eps: float = 1e-10,  # noqa: ARG001 - torch's place for it
    dim: int = -1,
) -> Tensor:
    """Draw from classes in a way that can be differentiated.

    It is `softmax((logits + noise) / tau)` with noise of the Gumbel distribution, `-log(-log(u))`
    for even u (Jang, Gu and Poole, Categorical Reparameterization with Gumbel-Softmax, 2017).

    Args:
        logits: logarithms of what the probabilities are in proportion to, of any shape.
        tau: the temperature: the lower, the closer to a choice of one class.
        hard: whether to return that choice, ones and zeros, with the gradient of the soft one.
        eps: without effect, as in torch.
        dim: the dimension of the classes.

    Returns:
        The shape of `logits`; along `dim` it adds up to 1.

    Raises:
        SettingError: `tau` is not positive.
        DTypeError: the logits are no floating-point numbers.
        IndexingError: there is no such dimension.
    """
    if not tau > 0:
        raise SettingError(f"tau must be positive; got {tau}.")
    check_floating("gumbel_softmax", logits)
    spacing = finfo(logits.dtype).eps / 2  # of even numbers from 0 to 1
    even = rand_like(logits).clamp_min(spacing / 2)  # of 0 there is no logarithm
    soft: Tensor = ((logits - (-even.log()).log()) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, keepdim=True)
    choice: Tensor = zeros_like(soft).scatter(dim, chosen, 1.0)
    return choice + (soft - soft.detach())
