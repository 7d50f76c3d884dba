"""Activation functions that take settings, as in torch.

Activations without settings (`relu`, `sigmoid`, `silu`, `mish`, `selu`, `hardswish`, ...) are rows
of the operator table and need no code here. Compositions of several operators are fused into one
pass. All take a tensor of any shape and return one of that shape; integers are converted to the
default dtype unless the docstring says otherwise.
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
    """Return `input * Phi(input)`, where Phi is the standard normal distribution function.

    Args:
        input: any shape.
        approximate: "none", or "tanh" for an approximation in terms of tanh.

    Raises:
        DomainError: `approximate` has another value.
    """
    check_choice("gelu", "approximate", approximate, ("none", "tanh"))
    return FUNCTIONS["gelu" if approximate == "none" else "gelu_tanh"](input)


@validate_call
def softplus(input: Tensor, beta: Number = 1.0, threshold: Number = 20.0) -> Tensor:
    """Return `log(1 + exp(beta * input)) / beta`, or `input` where the two are nearly equal.

    Args:
        input: any shape.
        beta: the sharpness of the bend.
        threshold: return `input` where `beta * input` is greater. With infinity, the formula
            is used everywhere.
    """
    beta = as_number("softplus(): beta", beta)
    return _softplus(input, beta, as_number("softplus(): threshold", threshold))


@fuse
def _softplus(x: Tensor, beta: Number, threshold: Number) -> Tensor:
    scaled = x * beta
    return elementwise("where", scaled > threshold, x, elementwise("softplus", scaled) / beta)


@validate_call
def leaky_relu(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """Return `input` where it is positive, and `negative_slope * input` elsewhere."""
    return FUNCTIONS["leaky_relu"](input, negative_slope)


@validate_call
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return `input` where it is positive, and `weight * input` elsewhere.

    Args:
        input: shape (batch, channels, *rest), or any shape for a single weight.
        weight: one weight per channel, shape (channels,); or a single one, shape (1,) or ().

    Raises:
        ShapeError: `weight` has another shape.
        DTypeError: the dtypes differ.
    """
    check_same_dtype("prelu", input, weight)
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.ndim > 1 or weight.numel() not in (1, channels):
        raise ShapeError(
            f"prelu() takes a single weight, or a 1-D tensor of one weight for each of {channels} "
            f"channel(s); shape {weight.shape} was given."
        )
    return elementwise(
        "leaky_relu",
        input,
        weight.reshape(-1, *(1,) * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(()),
    )


@validate_call
def elu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """Return `input` where it is positive, and `alpha * (exp(input) - 1)` elsewhere.

    Raises:
        TypeError: `alpha` is not a number.
    """
    return FUNCTIONS["elu"](input, as_number("elu(): alpha", alpha))


@validate_call
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """Return `input` where it is positive, and `alpha * (exp(input / alpha) - 1)` elsewhere.

    Raises:
        DomainError: `alpha` is 0.
    """
    alpha = as_number("celu(): alpha", alpha)
    if alpha == 0:
        raise DomainError("the alpha of celu() must not be 0: celu() divides by it.")
    return elementwise("celu", input, alpha)


@validate_call
def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """Return `input` clamped to two bounds, at which the gradient is 0, unlike that of `clamp`.

    Args:
        input: any shape. Integers keep their dtype, and the bounds are truncated to integers.
        min_val: the lower bound.
        max_val: the upper bound.

    Raises:
        DomainError: `min_val` is greater than `max_val`.
        DTypeError: `input` is bool, or a bound is out of the range of its dtype.
    """
    check_on_bool(OPERATORS["hardtanh"], input.dtype)
    min_val = as_number("hardtanh(): min_val", min_val)
    max_val = as_number("hardtanh(): max_val", max_val)
    if min_val > max_val:
        raise DomainError(
            f"the min_val of hardtanh() must be at most max_val; {min_val!r} and {max_val!r} were "
            "given."
        )
    if input.dtype.kind == "integer":
        min_val, max_val = (
            input.dtype.checked(int(bound) if math.isfinite(bound) else bound)
            for bound in (min_val, max_val)
        )
    return elementwise("hardtanh", input, min_val, max_val)


@validate_call
def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """Return `input` where it is above the threshold or nan, and `value` elsewhere.

    The result has the dtype of `input`.
    """
    threshold = as_number("threshold(): threshold", threshold)
    return input.masked_fill(input <= threshold, value)


@validate_call
def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """Return `input`, but 0 between `-lambd` and `lambd`; nan is kept.

    The result has the dtype of `input`.
    """
    lambd = as_number("hardshrink(): lambd", lambd)
    return input.masked_fill((input >= -lambd) & (input <= lambd), 0)


@validate_call
def softshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """Return `input` moved towards 0 by `lambd`, but 0 between `-lambd` and `lambd`.

    Args:
        input: any shape.
        lambd: the largest shift, not negative.

    Raises:
        DomainError: `lambd` is negative.
    """
    lambd = as_number("softshrink(): lambd", lambd)
    if not lambd >= 0:
        raise DomainError(f"the lambd of softshrink() must not be negative; {lambd!r} was given.")
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
        dim: the dimension, whose size is halved in the result.

    Raises:
        ShapeError: the size is odd, or `input` is 0-D.
        IndexingError: `dim` is out of range.
    """
    require_tensors("glu", input)
    axis = normalize_dim(dim, input.ndim) if input.ndim else 0
    if not input.ndim or input.shape[axis] % 2:
        raise ShapeError(
            f"glu() needs a dimension of even size; dimension {dim} of a tensor of shape "
            f"{input.shape} was given."
        )
    return _glu(input, axis)


@fused("glu")
def _glu(input: Tensor, dim: int) -> Tensor:
    return _times_sigmoid(*input.tensor_split(2, dim))


@fuse
def _times_sigmoid(x: Tensor, gate: Tensor) -> Tensor:
    return x * elementwise("sigmoid", gate)
