"""Scans: cumulative sums, products, maxima and minima along a dimension.

Forward passes are named operations, which run on the host unless a backend has a kernel. Gradients
are composed of tensor operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_floating
from mt_tensor.core.dtypes import Array, DType, as_dtype, bool_, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.named import fused
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError
from mt_tensor.indexing.selection import ValuesAndIndices, selected
from mt_tensor.movement.joining import prepend, shifted
from mt_tensor.order.host import accumulator, on_host
from mt_tensor.recording.functions import Function

# --- Sums and products --------------------------------------------------------------------------


@fused("cumsum")
def _cumsum(x: Tensor, dim: int) -> Tensor:
    # Adding 0 turns a leading -0.0 into 0.0, as a sum that starts from 0 does.
    return on_host(lambda a: np.cumsum(a, dim, accumulator(x.dtype)) + 0, x, dtype=x.dtype)


@fused("cumprod")
def _cumprod(x: Tensor, dim: int) -> Tensor:
    return on_host(lambda a: np.cumprod(a, dim, accumulator(x.dtype)), x, dtype=x.dtype)


class CumulativeSum(Function):
    """Cumulative sums: `out[i] = x[0] + ... + x[i]`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        return _cumsum(x, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _reverse_cumsum(grad, ctx.dim), None


class CumulativeProduct(Function):
    """Cumulative products: `out[i] = x[0] * ... * x[i]`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return _cumprod(x, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        if (x == 0).any():
            return _product_gradient_with_zeros(x, ctx.dim, grad), None
        out = CumulativeProduct.apply(x, ctx.dim)
        return _reverse_cumsum(grad * out, ctx.dim) / x, None


def _reverse_cumsum(x: Tensor, dim: int) -> Tensor:
    if x.ndim == 0:
        return x
    return CumulativeSum.apply(x.flip(dim), dim).flip(dim)


def _product_gradient_with_zeros(x: Tensor, dim: int, grad: Tensor) -> Tensor:
    """Return for each k `sum over i >= k of grad[i] * (x[0] * ... * x[i], without x[k])`.

    Where x[k] is zero, the product cannot be divided by x[k]. Instead, row k of a matrix replaces
    x[k] by 1.
    """
    if x.ndim == 0:
        return grad
    x, grad = x.transpose(dim, -1), grad.transpose(dim, -1)
    size = x.shape[-1]
    diagonal = x._uploaded(np.eye(size, dtype=np.bool_))
    upper = x._uploaded(np.triu(np.ones((size, size), np.bool_)))
    without_k = elementwise("where", diagonal, 1.0, x.unsqueeze(-2))
    terms = CumulativeProduct.apply(without_k, x.ndim) * grad.unsqueeze(-2)
    return elementwise("where", upper, terms, 0.0).sum(-1).transpose(dim, -1)


def _dtype_of_scan(name: str, x: Tensor, dtype: Any) -> DType:
    if dtype is None:
        return x.dtype if x.dtype.is_floating_point else int64
    target = as_dtype(dtype)
    if target is bool_:
        raise DTypeError(f"{name}() does not support dtype=bool: omit dtype= for int64.")
    return target


@validate_call
def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return cumulative sums along `dim`, in the shape of `input`.

    Args:
        input: a tensor; integers and bools are summed as int64.
        dim: the dimension.
        dtype: the dtype to convert to first.

    Raises:
        IndexingError: `dim` is out of range.
        DTypeError: `dtype` is bool.
    """
    x = input.to(_dtype_of_scan("cumsum", input, dtype))
    return CumulativeSum.apply(x, normalize_dim(dim, x.ndim))


@validate_call
def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return cumulative products along `dim`, in the shape of `input`.

    The gradient takes linear time and memory; if an element is zero, both are multiplied by the
    size of `dim`.

    Args:
        input: a tensor; integers and bools are multiplied as int64.
        dim: the dimension.
        dtype: the dtype to convert to first.

    Raises:
        IndexingError: `dim` is out of range.
        DTypeError: `dtype` is bool.
    """
    x = input.to(_dtype_of_scan("cumprod", input, dtype))
    return CumulativeProduct.apply(x, normalize_dim(dim, x.ndim))


# --- Logarithms of sums of exponentials ---------------------------------------------------------


@fused("linear_scan")
def _recurrence(x: Tensor, decay: Tensor, dim: int) -> Tensor:
    def run(values: Array, decays: Array) -> Array:
        h = values.astype(np.float64)
        rows, factors = np.moveaxis(h, dim, 0), np.moveaxis(decays, dim, 0)
        for i in range(1, len(rows)):
            rows[i] += factors[i] * rows[i - 1]
        return h

    return on_host(run, x, decay, dtype=x.dtype)


@fused("logcumsumexp")
def _logcumsumexp(x: Tensor, dim: int) -> Tensor:
    return on_host(lambda a: np.logaddexp.accumulate(a.astype(np.float64), dim), x, dtype=x.dtype)


class LinearScan(Function):
    """The recurrence `h[i] = x[i] + decay[i] * h[i - 1]`, from `h[0] = x[0]`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, decay: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x, decay)
        return _recurrence(x, decay, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Run the recurrence backwards: the gradient of h[i] is passed to x[i] and h[i - 1]."""
        x, decay = ctx.saved_tensors
        dim = ctx.dim
        reversed_decay = shifted(decay.flip(dim), dim)
        grad_x = LinearScan.apply(grad.flip(dim), reversed_decay, dim).flip(dim)
        return grad_x, grad_x * shifted(LinearScan.apply(x, decay, dim), dim), None


class LogCumulativeSumExp(Function):
    """`out[i] = log(exp(x[0]) + ... + exp(x[i]))`, without overflow."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return _logcumsumexp(x, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the sum over i >= k of `grad[i] * exp(x[k] - out[i])`, for each k.

        With `h[i] = grad[i] + h[i + 1] * exp(out[i] - out[i + 1])` it is `h[k] * exp(x[k] -
        out[k])`. Since `out` does not decrease along `dim`, no exponential overflows.
        """
        (x,) = ctx.saved_tensors
        dim = ctx.dim
        if x.numel() == 0 or x.ndim == 0:
            return grad, None
        x, grad = x.flip(dim), grad.flip(dim)
        out = LogCumulativeSumExp.apply(x.flip(dim), dim).flip(dim)
        rest = x.shape[dim] - 1
        steps = out.narrow(dim, 1, rest) - out.narrow(dim, 0, rest)
        decay = prepend(steps.exp(), dim, 0.0)
        return (LinearScan.apply(grad, decay, dim) * (x - out).exp()).flip(dim), None


@validate_call
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Return the logarithms of cumulative sums of exponentials along `dim`, without overflow.

    Raises:
        IndexingError: `dim` is out of range.
        DTypeError: `input` is not floating-point.
    """
    check_floating("logcumsumexp", input)
    return LogCumulativeSumExp.apply(input, normalize_dim(dim, input.ndim))


# --- Maxima and minima --------------------------------------------------------------------------


def _last_extreme(ufunc: np.ufunc, x: Tensor, dim: int) -> Tensor:
    """Return the last index of each cumulative maximum or minimum; a nan counts as either."""

    def indices(values: Array) -> Array:
        is_extreme = (values == ufunc.accumulate(values, dim)) | (values != values)
        shape = [-1 if d == dim else 1 for d in range(values.ndim)]
        index = np.arange(values.shape[dim]).reshape(shape)
        return np.asarray(np.maximum.accumulate(np.where(is_extreme, index, 0), dim))

    return on_host(indices, x, dtype=int64)


@fused("cummax")
def _cummax_indices(x: Tensor, dim: int) -> Tensor:
    return _last_extreme(np.maximum, x, dim)


@fused("cummin")
def _cummin_indices(x: Tensor, dim: int) -> Tensor:
    return _last_extreme(np.minimum, x, dim)


@validate_call
def cummax(input: Tensor, dim: int) -> ValuesAndIndices:
    """Return the cumulative maxima along `dim`, and their int64 indices.

    Among equal elements, the last is selected and gets the gradient. A nan is the maximum.

    Returns:
        The named tuple `(values, indices)`.

    Raises:
        IndexingError: `dim` is out of range.
    """
    dim = normalize_dim(dim, input.ndim)
    return selected(input, dim, _cummax_indices(input.detach(), dim))


@validate_call
def cummin(input: Tensor, dim: int) -> ValuesAndIndices:
    """Return the cumulative minima along `dim`, and their int64 indices.

    Among equal elements, the last is selected and gets the gradient. A nan is the minimum.

    Returns:
        The named tuple `(values, indices)`.

    Raises:
        IndexingError: `dim` is out of range.
    """
    dim = normalize_dim(dim, input.ndim)
    return selected(input, dim, _cummin_indices(input.detach(), dim))
