"""Operations that fold dimensions: sums, products, extremes, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mt_operators import OPERATORS
from mt_tensor.dtypes import bool_, float16, int64
from mt_tensor.elementwise import elementwise
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.function import Function
from mt_tensor.fused import fused
from mt_tensor.movement import squeeze_dims
from mt_tensor.strides import Shape, normalize_dims, size_of
from mt_tensor.tensor_base import TensorBase, unpack

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor

Dims = int | Sequence[int] | None


def _fold(name: str, x: TensorBase, dims: tuple[int, ...]) -> Tensor:
    """Fold `dims` of a tensor with the operator called `name`; the dimensions stay, as 1."""
    shape = tuple(1 if d in dims else extent for d, extent in enumerate(x.shape))
    out = x.backend.allocate(shape, x.dtype)
    x.backend.reduce(OPERATORS[name], x._tensor, out, dims)
    return x._with(out)


def _check_not_empty(name: str, x: TensorBase, dims: tuple[int, ...]) -> None:
    if any(x.shape[d] == 0 for d in dims):
        raise ShapeError(
            f"{name}() of no elements is undefined: shape {x.shape} is empty in dimension(s) "
            f"{tuple(d for d in dims if x.shape[d] == 0)}."
        )


class Sum(Function):
    """Sum over dimensions, which stay with extent 1."""

    @staticmethod
    def forward(ctx: Any, x: TensorBase, dims: tuple[int, ...]) -> Tensor:
        ctx.shape = x.shape
        return _fold("add", x, dims)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad.expand(ctx.shape), None


class Extreme(Function):
    """Largest or smallest element over dimensions; equal ones share the gradient."""

    @staticmethod
    def forward(ctx: Any, x: TensorBase, name: str, dims: tuple[int, ...]) -> Tensor:
        out = _fold(name, x, dims)
        ctx.dims = dims
        ctx.save_for_backward(x, out.detach())
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, out = ctx.saved_tensors
        chosen = (x == out).to(x.dtype)
        return grad * chosen / chosen.sum(ctx.dims, keepdim=True), None, None


def sum(x: TensorBase, dim: Dims, keepdim: bool) -> Tensor:
    """Sum over dimensions; integers and bools are added up as int64."""
    if not x.dtype.is_floating_point:
        x = x.to(int64)
    dims = normalize_dims(dim, x.ndim)
    out = Sum.apply(x, dims)
    return out if keepdim else squeeze_dims(out, dims)


def extreme(name: str, x: TensorBase, dim: Dims, keepdim: bool) -> Tensor:
    """Largest (`"maximum"`) or smallest (`"minimum"`) element over dimensions; nan wins."""
    dims = normalize_dims(dim, x.ndim)
    _check_not_empty({"maximum": "amax", "minimum": "amin"}[name], x, dims)
    out = Extreme.apply(x, name, dims)
    return out if keepdim else squeeze_dims(out, dims)


def logical(name: str, x: TensorBase, dim: Dims, keepdim: bool) -> Tensor:
    """Whether all (`"logical_and"`) or any (`"logical_or"`) elements are non-zero."""
    dims = normalize_dims(dim, x.ndim)
    out = _fold(name, x if x.dtype is bool_ else elementwise("ne", x, 0), dims)
    return out if keepdim else squeeze_dims(out, dims)


def arg_extreme(name: str, x: TensorBase, dim: int | None, keepdim: bool) -> Tensor:
    """Index of the first largest or smallest element along a dimension, as int64.

    Composed: among the positions that hold the extreme, the smallest is taken. A nan counts as
    extreme, as in torch.
    """
    x = x.detach()
    if dim is None:
        flat = arg_extreme(name, x.reshape(-1), 0, False)
        return flat.view(*(1,) * x.ndim) if keepdim else flat
    (d,) = normalize_dims(dim, max(x.ndim, 1))
    if x.ndim == 0:
        return x._with(x.backend.full((), int64, 0))
    _check_not_empty({"maximum": "argmax", "minimum": "argmin"}[name], x, (d,))
    chosen = (x == extreme(name, x, d, True)).logical_or(x != x)
    shape = tuple(-1 if i == d else 1 for i in range(x.ndim))
    positions = x._with(x.backend.upload(np.arange(x.shape[d]))).view(*shape)
    return elementwise("where", chosen, positions, x.shape[d]).amin(d, keepdim=keepdim)


# --- Composed -----------------------------------------------------------------------------------


def _count(x: TensorBase, dims: tuple[int, ...]) -> int:
    return size_of(x.shape[d] for d in dims)


def _check_floating(name: str, x: TensorBase) -> None:
    if not x.dtype.is_floating_point:
        raise DTypeError(
            f"{name}() needs floating-point elements; {x.dtype.name} was given. Convert with "
            "x.float()."
        )


def mean(x: TensorBase, dim: Dims, keepdim: bool) -> Tensor:
    """Sum over dimensions divided by the number of elements; nan of none."""
    _check_floating("mean", x)
    count = _count(x, normalize_dims(dim, x.ndim))
    wide = x.float() if x.dtype is float16 else x  # whose sum float16 often cannot hold
    return (sum(wide, dim, keepdim) * (1.0 / count if count else math.nan)).to(x.dtype)


def var(x: TensorBase, dim: Dims, correction: int, keepdim: bool) -> Tensor:
    """Mean squared deviation from the mean, with `n - correction` in place of `n`."""
    _check_floating("var", x)
    freedom = _count(x, normalize_dims(dim, x.ndim)) - correction
    deviation = x - mean(x, dim, True)
    return sum(deviation.square(), dim, keepdim) / max(freedom, 0)


def sum_to_size(x: TensorBase, shape: Shape) -> Tensor:
    """Sum over what broadcasting has stretched, so that the result has `shape`."""
    if x.shape == shape:
        return x._itself()
    new = x.ndim - len(shape)
    stretched = tuple(
        d for d in range(max(new, 0), x.ndim) if shape[d - new] == 1 and x.shape[d] != 1
    )
    reduced = tuple(1 if d in stretched else x.shape[d] for d in range(max(new, 0), x.ndim))
    if new < 0 or reduced != shape:
        raise ShapeError(f"shape {shape} does not broadcast to {x.shape}, so no sum leads back.")
    return sum(x, (*range(new), *stretched), True).view(*shape)


@fused("softmax")
def softmax(x: TensorBase, dim: int) -> Tensor:
    """Exponentials along `dim`, scaled to add up to 1.

    The largest element is subtracted first, which changes nothing but keeps exp from overflowing.
    """
    _check_floating("softmax", x)
    if x.numel() == 0:
        return x.clone()
    weights = (x - x.detach().amax(dim, keepdim=True)).exp()
    return weights / weights.sum(dim, keepdim=True)


@fused("log_softmax")
def log_softmax(x: TensorBase, dim: int) -> Tensor:
    """`x - log(sum(exp(x)))` along `dim`, with the largest element subtracted first."""
    _check_floating("log_softmax", x)
    if x.numel() == 0:
        return x.clone()
    shifted = x - x.detach().amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


class ReductionMethods(TensorBase):
    """The methods of `Tensor` that fold dimensions."""

    __slots__ = ()

    def sum(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """Return the sum over dimensions, all of them if none is named."""
        return sum(self, dim, keepdim)

    def mean(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """Return the mean over dimensions, all of them if none is named.

        Raises:
            DTypeError: the elements are no floating-point numbers.
        """
        return mean(self, dim, keepdim)

    def var(self, dim: Dims = None, correction: int = 1, keepdim: bool = False) -> Tensor:
        """Return the variance over dimensions: squared deviations over `n - correction`."""
        return var(self, dim, correction, keepdim)

    def std(self, dim: Dims = None, correction: int = 1, keepdim: bool = False) -> Tensor:
        """Return the standard deviation over dimensions."""
        return self.var(dim, correction, keepdim).sqrt()

    def amax(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """Return the largest element over dimensions; equal ones share the gradient."""
        return extreme("maximum", self, dim, keepdim)

    def amin(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """Return the smallest element over dimensions; equal ones share the gradient."""
        return extreme("minimum", self, dim, keepdim)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the first largest element, as int64."""
        return arg_extreme("maximum", self, dim, keepdim)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the first smallest element, as int64."""
        return arg_extreme("minimum", self, dim, keepdim)

    def all(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """Return whether all elements are non-zero."""
        return logical("logical_and", self, dim, keepdim)

    def any(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """Return whether any element is non-zero."""
        return logical("logical_or", self, dim, keepdim)

    def sum_to_size(self, *shape: Any) -> Tensor:
        """Sum over the dimensions along which a tensor of `shape` would be broadcast to this.

        Raises:
            ShapeError: a tensor of `shape` does not broadcast to this one.
        """
        return sum_to_size(self, tuple(unpack(shape)))

    def softmax(self, dim: int) -> Tensor:
        """Return exponentials along `dim`, scaled to add up to 1."""
        return softmax(self, dim)

    def log_softmax(self, dim: int) -> Tensor:
        """Return the logarithm of `softmax`, without overflow."""
        return log_softmax(self, dim)
