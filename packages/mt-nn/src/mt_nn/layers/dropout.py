"""Dropout beyond single elements: of channels, of samples, and that which belongs to selu.

With `inplace=True` the result is stored in the input, which is returned; a leaf that requires grad
cannot be changed so.
"""

from __future__ import annotations

import math

from mt_nn.core.arguments import checked
from mt_nn.core.dropout import DropoutLayer, is_active
from mt_nn.core.extensions import extends
from mt_nn.errors import InputError
from mt_nn.layers.dimensions import over_dimensions
from mt_tensor import Tensor, rand
from mt_tensor.extending import Shape


def dropout(
    dims: int, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set each channel to zero with probability `p`, and scale the rest.

    Neighbours within a channel are so alike that single elements would not be missed (Tompson et
    al., Efficient Object Localization Using Convolutional Networks, 2015).

    Args:
        dims: 1 in `dropout1d`, 2 in `dropout2d`, 3 in `dropout3d`: how many sizes there are.
        input: shape ([batch,] channels, *sizes), which is also that of the result. As in torch,
            three dimensions in `dropout2d` are (batch, channels, length).
        p: the probability that a channel is set to zero; the others are scaled by `1 / (1 - p)`.
        training: if False, the input is returned as it is.
        inplace: whether to store the result in the input.

    Raises:
        InputError: the input has another number of dimensions.
        SettingError: `p` is no probability.
        DTypeError: something is left out of integers.
    """
    name = f"dropout{dims}d"
    if input.ndim not in (dims + 1, dims + 2):
        raise InputError(
            f"{name}() takes {dims + 1} or {dims + 2} dimensions, of which {dims} are within a "
            f"channel; shape {input.shape} was given."
        )
    if not is_active(name, input, p, training):
        return input
    has_batch = input.ndim == dims + 2 or dims == 2
    return drop(input, _outer(input, 2 if has_batch else 1), p, inplace)


dropout1d, dropout2d, dropout3d = over_dimensions(dropout)


@checked
def drop_path(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set each sample to zero with probability `p`, and scale the rest by `1 / (1 - p)`.

    Of the branch of a residual block, a sample then goes around it only (Huang et al., Deep
    Networks with Stochastic Depth, 2016). torch does not have it.

    Args:
        input: shape (batch, *rest), which is also that of the result.
        p: the probability that a sample is set to zero.
        training: if False, the input is returned as it is.
        inplace: whether to store the result in the input.

    Raises:
        InputError: the input has no dimension.
        SettingError: `p` is no probability.
        DTypeError: something is left out of integers.
    """
    if input.ndim == 0:
        raise InputError("drop_path() takes samples of shape (batch, ...); a number was given.")
    if not is_active("drop_path", input, p, training):
        return input
    return drop(input, _outer(input, 1), p, inplace)


def _outer(input: Tensor, dims: int) -> Shape:
    """Return the shape of what is the same for all elements but the first dimensions."""
    return (*input.shape[:dims], *(1,) * (input.ndim - dims))


# --- For selu -----------------------------------------------------------------------------------

LOWEST = -1.7580993408473766
"""What `selu` tends to on the left, `-scale alpha`: left out there means this."""


@checked
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set elements to the lowest value of selu, and scale and shift all: mean and variance stay.

    After Klambauer et al., Self-Normalizing Neural Networks, 2017.

    Args:
        input: any shape, which is also that of the result; made for elements of mean 0 and
            variance 1, as `selu` gives them.
        p: the probability that an element is left out.
        training: if False, the input is returned as it is.
        inplace: whether to store the result in the input.

    Raises:
        SettingError: `p` is no probability.
        DTypeError: something is left out of integers.
    """
    if not is_active("alpha_dropout", input, p, training):
        return input
    return _alpha(input, input.shape, p, inplace)


@checked
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Leave out whole channels as `alpha_dropout` does elements.

    Args:
        input: shape (batch, channels, *rest), which is also that of the result.
        p: the probability that a channel is left out.
        training: if False, the input is returned as it is.
        inplace: whether to store the result in the input.

    Raises:
        InputError: the input has fewer than two dimensions.
        SettingError: `p` is no probability.
        DTypeError: something is left out of integers.
    """
    if input.ndim < 2:
        raise InputError(
            "feature_alpha_dropout() takes shape (batch, channels, ...); shape "
            f"{input.shape} was given."
        )
    if not is_active("feature_alpha_dropout", input, p, training):
        return input
    return _alpha(input, _outer(input, 2), p, inplace)


def _alpha(input: Tensor, shape: Shape, p: float, inplace: bool) -> Tensor:
    if p == 1.0:
        return drop(input, shape, p, inplace)
    scale = 1.0 / math.sqrt((1.0 - p) * (1.0 + p * LOWEST * LOWEST))
    kept = (rand(*shape, backend=input.backend) >= p).to(input.dtype)
    shifts = (1.0 - kept) * (LOWEST * scale) - p * LOWEST * scale
    factors = kept * scale
    return input.mul_(factors).add_(shifts) if inplace else input * factors + shifts


@extends("other dropout")
def drop(input: Tensor, shape: Shape, p: float, inplace: bool) -> Tensor:
    """Multiply by factors that are 0 with probability `p`, and else `1 / (1 - p)`.

    Args:
        input: what is multiplied.
        shape: that of the factors, which broadcasts to that of the input.
        p: the probability; for 1 no random numbers are drawn.
        inplace: whether to store the result in the input.
    """
    if p == 1.0:
        factors = input._full(shape, 0.0)
    else:
        kept = rand(*shape, backend=input.backend) >= p
        factors = kept.to(input.dtype) * (1.0 / (1.0 - p))
    return input.mul_(factors) if inplace else input * factors


# --- Layers ---------------------------------------------------------------------------------------


class AlphaDropout(DropoutLayer):
    """Elements of the output of `SELU` left out so that mean and variance stay."""

    function = staticmethod(alpha_dropout)


class DropPath(DropoutLayer):
    """Whole samples set to zero, and the rest scaled."""

    function = staticmethod(drop_path)


class Dropout1d(DropoutLayer):
    """Channels of signals set to zero, and the rest scaled."""

    function = staticmethod(dropout1d)


class Dropout2d(DropoutLayer):
    """Channels of images set to zero, and the rest scaled."""

    function = staticmethod(dropout2d)


class Dropout3d(DropoutLayer):
    """Channels of volumes set to zero, and the rest scaled."""

    function = staticmethod(dropout3d)


class FeatureAlphaDropout(DropoutLayer):
    """Channels left out as `AlphaDropout` does elements."""

    function = staticmethod(feature_alpha_dropout)
