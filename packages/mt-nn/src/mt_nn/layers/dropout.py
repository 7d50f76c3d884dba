"""Dropout of channels and of samples, and alpha dropout, for networks with selu.

With `inplace=True` a function stores the result in the input, which must not be a leaf that
requires grad, and returns the input.
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
    """Set channels of signals, images or volumes to zero with probability `p`; scale the rest.

    Neighboring elements of a channel are correlated, so that zeroing single ones has little effect
    (Tompson et al. 2015, "Efficient Object Localization Using Convolutional Networks").

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape ([batch,] channels, *sizes). As in torch, `dropout2d` also takes signals, shape
            (batch, channels, length).
        p: the probability; the other channels are scaled by `1 / (1 - p)`.
        training: if False, return the input unchanged.
        inplace: whether to store the result in the input.

    Raises:
        InputError: the number of dimensions is invalid.
        SettingError: `p` is not between 0 and 1.
        DTypeError: the input is not floating-point.
    """
    name = f"dropout{dims}d"
    if input.ndim not in (dims + 1, dims + 2):
        raise InputError(
            f"{name}() takes a tensor with {dims + 1} or {dims + 2} dimensions, {dims} of them "
            f"within a channel; shape {input.shape} was given."
        )
    if not is_active(name, input, p, training):
        return input
    has_batch = input.ndim == dims + 2 or dims == 2
    return drop(input, _mask_shape(input, 2 if has_batch else 1), p, inplace)


dropout1d, dropout2d, dropout3d = over_dimensions(dropout)


def _mask_shape(input: Tensor, dims: int) -> Shape:
    """Return the shape of a mask that differs only along the first `dims` dimensions."""
    return (*input.shape[:dims], *(1,) * (input.ndim - dims))


# --- For selu -----------------------------------------------------------------------------------

LOWEST = -1.7580993408473766
"""The limit of `selu` at -infinity, `-scale * alpha`, which replaces zero."""


@checked
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set random elements to the lowest value of selu, and restore mean 0 and variance 1.

    See Klambauer et al. 2017, "Self-Normalizing Neural Networks".

    Args:
        input: any shape; the elements should have mean 0 and variance 1, like the results of
            `selu`.
        p: the probability of dropping an element.
        training: if False, return the input unchanged.
        inplace: whether to store the result in the input.

    Raises:
        SettingError: `p` is not between 0 and 1.
        DTypeError: the input is not floating-point.
    """
    if not is_active("alpha_dropout", input, p, training):
        return input
    return _alpha(input, input.shape, p, inplace)


@checked
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Apply `alpha_dropout` to entire channels.

    Args:
        input: shape (batch, channels, *rest).
        p: the probability of dropping a channel.
        training: if False, return the input unchanged.
        inplace: whether to store the result in the input.

    Raises:
        InputError: the input has fewer than two dimensions.
        SettingError: `p` is not between 0 and 1.
        DTypeError: the input is not floating-point.
    """
    if input.ndim < 2:
        raise InputError(
            "feature_alpha_dropout() takes a tensor of shape (batch, channels, ...); shape "
            f"{input.shape} was given."
        )
    if not is_active("feature_alpha_dropout", input, p, training):
        return input
    return _alpha(input, _mask_shape(input, 2), p, inplace)


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
    """Multiply by random factors: 0 with probability `p`, and otherwise `1 / (1 - p)`.

    Args:
        input: any shape.
        shape: the shape of the factors, which broadcasts to that of the input.
        p: the probability; no random numbers are drawn if it is 1.
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
    """Dropout for networks with `SELU`; see `mt_nn.functional.alpha_dropout`."""

    function = staticmethod(alpha_dropout)


class Dropout1d(DropoutLayer):
    """Randomly zero channels of signals during training, and scale the rest.

    Args:
        p: the probability of zeroing a channel.
        inplace: whether to store the result in the input.
    """

    function = staticmethod(dropout1d)


class Dropout2d(DropoutLayer):
    """Randomly zero channels of images during training, and scale the rest.

    Args:
        p: the probability of zeroing a channel.
        inplace: whether to store the result in the input.
    """

    function = staticmethod(dropout2d)


class Dropout3d(DropoutLayer):
    """Randomly zero channels of volumes during training, and scale the rest.

    Args:
        p: the probability of zeroing a channel.
        inplace: whether to store the result in the input.
    """

    function = staticmethod(dropout3d)


class FeatureAlphaDropout(DropoutLayer):
    """`AlphaDropout` of channels; see `mt_nn.functional.feature_alpha_dropout`."""

    function = staticmethod(feature_alpha_dropout)
