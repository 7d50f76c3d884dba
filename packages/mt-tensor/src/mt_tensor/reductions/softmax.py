"""Softmax, log-softmax and logsumexp, without overflow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_floating
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import get_default_dtype
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.named import fused
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.sums import Dims, Sum, fold, reduced_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import squeeze_dims
from mt_tensor.reductions.sums import wide


def _largest(x: Tensor, dim: int) -> Tensor:
    """Return the maximum along a dimension, with size 1."""
    return fold("maximum", x, _along(x, dim))


def _along(x: Tensor, dim: int) -> tuple[int, ...]:
    """Return the dimensions to reduce: none for a 0-D tensor."""
    return (dim,) if x.ndim else ()


# Compositions of named operations, for float32 and float64.


@fused("softmax")
def _softmax(x: Tensor, dim: int) -> Tensor:
    """Return the softmax along `dim`; subtracting the maximum first prevents overflow."""
    if x.numel() == 0:
        return x.clone()
    weights = (x - _largest(x, dim)).exp()
    return weights / Sum.apply(weights, _along(x, dim), True)


@fused("log_softmax")
def _log_softmax(x: Tensor, dim: int) -> Tensor:
    if x.numel() == 0:
        return x.clone()
    shifted = x - _largest(x, dim)
    return shifted - Sum.apply(shifted.exp(), _along(x, dim), True).log()


def _applied(
    function: Callable[[Tensor, int], Tensor], name: str, input: Tensor, dim: int, dtype: Any
) -> Tensor:
    """Apply a function of float32 or float64 along a dimension; the dtype is kept."""
    x = input if dtype is None else input.to(dtype)
    check_floating(name, x)
    return cast(function(wide(x), normalize_dim(dim, x.ndim)), x.dtype)


@validate_call
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return exponentials normalized to sum to 1 along `dim`.

    Args:
        input: a tensor that is floating-point after the conversion.
        dim: the dimension.
        dtype: the dtype to convert to first.

    Raises:
        DTypeError: `input` is not floating-point.
        IndexingError: `dim` is out of range.
    """
    return _applied(_softmax, "softmax", input, dim, dtype)


@validate_call
def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return `x - log(sum(exp(x)))` along `dim`: the logarithm of `softmax`, without overflow.

    Arguments and errors as for `softmax`.
    """
    return _applied(_log_softmax, "log_softmax", input, dim, dtype)


@validate_call
def softmin(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return the softmax of `-input`; see `softmax`."""
    return _applied(lambda x, dim: _softmax(-x, dim), "softmin", input, dim, dtype)


@validate_call
def logsumexp(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Return `log(sum(exp(x)))` over dimensions, without overflow.

    Args:
        input: a tensor; integers are converted to the default dtype.
        dim: one dimension or several; () for all.
        keepdim: whether to keep the reduced dimensions, with size 1.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    target = input.dtype if input.dtype.is_floating_point else get_default_dtype()
    x = wide(input.to(target))
    dims = reduced_dims(dim, x.ndim, keepdim)
    shift: Any = 0.0
    if x.numel():
        largest = fold("maximum", x.detach(), dims)
        shift = elementwise("where", largest.abs() < math.inf, largest, 0.0)
    out = Sum.apply((x - shift).exp(), dims, True).log() + shift
    return (out if keepdim else squeeze_dims(out, dims)).to(target)
