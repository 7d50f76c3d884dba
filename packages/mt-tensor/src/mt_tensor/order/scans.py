"""Running folds along a dimension: each element joined with all that come before it.

The elements of each are found by a named operation, which is constant and runs on the host unless a
backend has a kernel for it; gradients are composed of operations.
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
from mt_tensor.movement.joining import preceded, shifted
from mt_tensor.order.host import accumulator, on_host
from mt_tensor.recording.functions import Function

# --- Sums and products --------------------------------------------------------------------------


@fused("cumsum")
def _running_sums(x: Tensor, dim: int) -> Tensor:
    # They begin with 0, to which -0.0 adds up as well.
    return on_host(lambda a: np.cumsum(a, dim, accumulator(x.dtype)) + 0, x, dtype=x.dtype)


@fused("cumprod")
def _running_products(x: Tensor, dim: int) -> Tensor:
    return on_host(lambda a: np.cumprod(a, dim, accumulator(x.dtype)), x, dtype=x.dtype)


class CumulativeSum(Function):
    """Running sums: `out[i] = x[0] + ... + x[i]`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        return _running_sums(x, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _sum_from_here_on(grad, ctx.dim), None


class CumulativeProduct(Function):
    """Running products: `out[i] = x[0] * ... * x[i]`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return _running_products(x, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        if (x == 0).any():
            return _product_gradient_with_zeros(x, ctx.dim, grad), None
        out = CumulativeProduct.apply(x, ctx.dim)
        return _sum_from_here_on(grad * out, ctx.dim) / x, None


def _sum_from_here_on(x: Tensor, dim: int) -> Tensor:
    if x.ndim == 0:
        return x
    return CumulativeSum.apply(x.flip(dim), dim).flip(dim)


def _product_gradient_with_zeros(x: Tensor, dim: int, grad: Tensor) -> Tensor:
    """Return `sum over i >= k of grad[i] * (x[0] * ... * x[i], without x[k])` at each k.

    Nothing can be divided by, so each k has a row of its own in which x[k] is replaced by 1.
    """
    if x.ndim == 0:
        return grad
    x, grad = x.transpose(dim, -1), grad.transpose(dim, -1)
    size = x.shape[-1]
    own = x._uploaded(np.eye(size, dtype=np.bool_))
    reached = x._uploaded(np.triu(np.ones((size, size), np.bool_)))
    without_own = elementwise("where", own, 1.0, x.unsqueeze(-2))
    terms = CumulativeProduct.apply(without_own, x.ndim) * grad.unsqueeze(-2)
    return elementwise("where", reached, terms, 0.0).sum(-1).transpose(dim, -1)


def _dtype_of_scan(name: str, x: Tensor, dtype: Any) -> DType:
    if dtype is None:
        return x.dtype if x.dtype.is_floating_point else int64
    wanted = as_dtype(dtype)
    if wanted is bool_:
        raise DTypeError(f"{name}() cannot be computed in bool: leave dtype= out to have int64.")
    return wanted


@validate_call
def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return running sums along `dim`, in the shape of the input.

    Args:
        input: a tensor; integers and bools are added up as int64.
        dim: the dimension to run along.
        dtype: the element type to convert to before.

    Raises:
        IndexingError: there is no such dimension.
        DTypeError: `dtype` is bool.
    """
    x = input.to(_dtype_of_scan("cumsum", input, dtype))
    return CumulativeSum.apply(x, normalize_dim(dim, x.ndim))


@validate_call
def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return running products along `dim`, in the shape of the input.

    The gradient takes time and memory in proportion to the size; with a zero among the elements,
    to the size times the size of `dim`.

    Args:
        input: a tensor; integers and bools are multiplied as int64.
        dim: the dimension to run along.
        dtype: the element type to convert to before.

    Raises:
        IndexingError: there is no such dimension.
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
def _running_logarithms(x: Tensor, dim: int) -> Tensor:
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
        """The same recurrence, backwards: what reaches h[i] goes on to x[i] and h[i - 1]."""
        x, decay = ctx.saved_tensors
        dim = ctx.dim
        following = shifted(decay.flip(dim), dim)
        by_x = LinearScan.apply(grad.flip(dim), following, dim).flip(dim)
        return by_x, by_x * shifted(LinearScan.apply(x, decay, dim), dim), None


class LogCumulativeSumExp(Function):
    """`out[i] = log(exp(x[0]) + ... + exp(x[i]))`, without overflow."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return _running_logarithms(x, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """The sum over i >= k of `grad[i] * exp(x[k] - out[i])`, for each k.

        With `h[i] = grad[i] + h[i + 1] * exp(out[i] - out[i + 1])` it is `h[k] * exp(x[k] -
        out[k])`. As `out` never falls along `dim`, no exponential overflows.
        """
        (x,) = ctx.saved_tensors
        dim = ctx.dim
        if x.numel() == 0 or x.ndim == 0:
            return grad, None
        x, grad = x.flip(dim), grad.flip(dim)
        out = LogCumulativeSumExp.apply(x.flip(dim), dim).flip(dim)
        rest = x.shape[dim] - 1
        steps = out.narrow(dim, 1, rest) - out.narrow(dim, 0, rest)
        decay = preceded(steps.exp(), dim, 0.0)
        return (LinearScan.apply(grad, decay, dim) * (x - out).exp()).flip(dim), None


@validate_call
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Return the logarithms of running sums of exponentials along `dim`, without overflow.

    Raises:
        IndexingError: there is no such dimension.
        DTypeError: the elements are no floating-point numbers.
    """
    check_floating("logcumsumexp", input)
    return LogCumulativeSumExp.apply(input, normalize_dim(dim, input.ndim))


# --- Extremes -----------------------------------------------------------------------------------


def _met_last(ufunc: np.ufunc, x: Tensor, dim: int) -> Tensor:
    """Return where running extremes were met last; nan is the extreme from then on."""

    def positions(values: Array) -> Array:
        met = (values == ufunc.accumulate(values, dim)) | (values != values)
        shape = [-1 if d == dim else 1 for d in range(values.ndim)]
        here = np.arange(values.shape[dim]).reshape(shape)
        return np.asarray(np.maximum.accumulate(np.where(met, here, 0), dim))

    return on_host(positions, x, dtype=int64)


@fused("cummax")
def _places_of_largest(x: Tensor, dim: int) -> Tensor:
    return _met_last(np.maximum, x, dim)


@fused("cummin")
def _places_of_smallest(x: Tensor, dim: int) -> Tensor:
    return _met_last(np.minimum, x, dim)


@validate_call
def cummax(input: Tensor, dim: int) -> ValuesAndIndices:
    """Return the largest elements so far along `dim`, and their indices as int64.

    Of equal elements the last is named, and receives the gradient. A nan counts as largest.

    Raises:
        IndexingError: there is no such dimension.
    """
    dim = normalize_dim(dim, input.ndim)
    return selected(input, dim, _places_of_largest(input.detach(), dim))


@validate_call
def cummin(input: Tensor, dim: int) -> ValuesAndIndices:
    """Return the smallest elements so far along `dim`, and their indices as int64.

    Of equal elements the last is named, and receives the gradient. A nan counts as smallest.

    Raises:
        IndexingError: there is no such dimension.
    """
    dim = normalize_dim(dim, input.ndim)
    return selected(input, dim, _places_of_smallest(input.detach(), dim))
