"""Activation functions, element by element, with torch's settings.

Those without settings are rows of the operator table and need no code here: `relu`, `sigmoid`,
`silu`, `mish`, `selu`, `hardswish`, ... (see `mt_tensor`). What is put together of several
is fused into one pass. All take a tensor of any shape and return one of that shape; integers become
float32 unless something else is said.
"""

from __future__ import annotations

import math

from mt_operators import OPERATORS
from mt_tensor.checks import check_choice, check_same_dtype, validate_call
from mt_tensor.core.dtypes import Number, as_number
from mt_tensor.core.elementwise import check_on_bool, elementwise
from mt_tensor.core.named import fused
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.rows import FUNCTIONS
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, ShapeError
from mt_tensor.pointwise.fusing import fuse


@validate_call
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return `input` times the share of the normal distribution below it.

    Args:
        input: any shape.
        approximate: "none", or "tanh" for the approximation by tanh.

    Raises:
        DomainError: `approximate` is neither.
    """
    check_choice("approximate", approximate, ("none", "tanh"))
    return FUNCTIONS["gelu" if approximate == "none" else "gelu_tanh"](input)


@validate_call
def softplus(input: Tensor, beta: Number = 1.0, threshold: Number = 20.0) -> Tensor:
    """Return `log(1 + exp(beta input)) / beta`, and `input` itself where it hardly differs.

    Args:
        input: any shape.
        beta: how sharp the bend is.
        threshold: the `beta input` above which the function is `input`. With infinity the row
            `softplus` of the operator table decides everywhere.
    """
    return _softplus(input, as_number("beta", beta), as_number("threshold", threshold))


@fuse
def _softplus(x: Tensor, beta: Number, threshold: Number) -> Tensor:
    scaled = x * beta
    return elementwise("where", scaled > threshold, x, elementwise("softplus", scaled) / beta)


@validate_call
def leaky_relu(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """Return `input` where it is positive, and `negative_slope` times it elsewhere."""
    return FUNCTIONS["leaky_relu"](input, negative_slope)


@validate_call
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return `input` where it is positive, and its channel's `weight` times it elsewhere.

    Args:
        input: shape (batch, channels, *rest), or any other for a single weight.
        weight: shape (channels,), (1,) or ().

    Raises:
        ShapeError: there is neither one weight nor one for each channel.
        DTypeError: the dtypes differ.
    """
    check_same_dtype("prelu", input, weight)
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.ndim > 1 or weight.numel() not in (1, channels):
        raise ShapeError(
            f"prelu() takes one weight, or one for each of {channels} channel(s), in a row; shape "
            f"{weight.shape} was given."
        )
    return elementwise(
        "leaky_relu",
        input,
        weight.reshape(-1, *(1,) * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(()),
    )


@validate_call
def elu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """Return `input` where it is positive, and `alpha (exp(input) - 1)` elsewhere."""
    return FUNCTIONS["elu"](input, alpha)


@validate_call
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """Return `input` where it is positive, and `alpha (exp(input / alpha) - 1)` elsewhere.

    Raises:
        DomainError: `alpha` is 0.
    """
    alpha = as_number("alpha", alpha)
    if alpha == 0:
        raise DomainError("the alpha of celu() must not be 0, which its argument is divided by.")
    return elementwise("celu", input, alpha)


@validate_call
def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """Return `input` between two bounds, at which its derivative is 0; see also `clamp`.

    Args:
        input: any shape. Integers stay integers, and the bounds lose their fractions.
        min_val: the lower bound.
        max_val: the upper bound.

    Raises:
        DomainError: the bounds are in the wrong order.
        DTypeError: `input` is bool, or cannot hold the bounds.
    """
    check_on_bool(OPERATORS["hardtanh"], input.dtype)
    min_val, max_val = as_number("min_val", min_val), as_number("max_val", max_val)
    if min_val > max_val:
        raise DomainError(
            f"min_val is at most max_val; {min_val!r} and {max_val!r} were given to hardtanh()."
        )
    if input.dtype.kind == "integer":
        min_val, max_val = (
            input.dtype.checked(int(bound) if math.isfinite(bound) else bound)
            for bound in (min_val, max_val)
        )
    return elementwise("hardtanh", input, min_val, max_val)


@validate_call
def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """Return `input` where it is above the threshold, and `value` elsewhere; nan stays.

    The dtype stays too.
    """
    threshold = as_number("threshold", threshold)
    return input.masked_fill(input <= threshold, value)


@validate_call
def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """Return `input`, and 0 where it lies between `-lambd` and `lambd`; nan stays."""
    lambd = as_number("lambd", lambd)
    return input.masked_fill((input >= -lambd) & (input <= lambd), 0)


@validate_call
def softshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """Return `input` moved towards 0 by `lambd`, and 0 where it is nearer.

    Raises:
        DomainError: `lambd` is negative.
    """
    lambd = as_number("lambd", lambd)
    if not lambd >= 0:
        raise DomainError(f"the lambd of softshrink() is at least 0; {lambd!r} was given.")
    return _softshrink(input, lambd)


@fuse
def _softshrink(x: Tensor, lambd: Number) -> Tensor:
    return x - elementwise("clamp", x, -lambd, lambd)


@validate_call
def tanhshrink(input: Tensor) -> Tensor:
    """Return `input - tanh(input)`."""
    return _tanhshrink(input)


@fuse
def _tanhshrink(x: Tensor) -> Tensor:
    return x - elementwise("tanh", x)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half of a dimension times the sigmoid of the second half.

    Args:
        input: any shape in which `dim` has an even size.
        dim: the dimension, which has half the size in the result.

    Raises:
        ShapeError: the size is odd, or `input` is 0-D.
        IndexingError: there is no such dimension.
    """
    require_tensors("glu", input)
    place = normalize_dim(dim, input.ndim) if input.ndim else 0
    size = input.shape[place] if input.ndim else 1
    if size % 2:
        raise ShapeError(
            f"glu() halves a dimension of even size; dimension {dim} of a tensor of shape "
            f"{input.shape} was given."
        )
    return _glu(input, place)


@fused("glu")
def _glu(input: Tensor, dim: int) -> Tensor:
    first, second = input.tensor_split(2, dim)
    return _gated(first, second)


@fuse
def _gated(x: Tensor, gate: Tensor) -> Tensor:
    return x * elementwise("sigmoid", gate)
