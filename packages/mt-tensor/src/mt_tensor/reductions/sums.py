"""Products over dimensions, and sums and means that ignore nan."""

from __future__ import annotations

from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_floating
from mt_tensor.core.dtypes import bool_
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.sums import Dims, fold, in_summed_dtype, reduced_dims, sum
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import squeeze_dims
from mt_tensor.errors import IndexingError
from mt_tensor.movement.joining import shifted
from mt_tensor.recording.functions import Function


def wide(x: Tensor) -> Tensor:
    """Convert 16-bit floats to float32, since intermediate results often exceed their range."""
    return x.float() if x.dtype.is_narrow else x


def check_not_empty(name: str, x: Tensor, dims: tuple[int, ...], setting: str = "") -> None:
    """Raise IndexingError if one of the dimensions to reduce has size 0."""
    if 0 in x.shape and any(x.shape[d] == 0 for d in dims):
        raise IndexingError(
            f"{name}(){setting} needs at least one element: shape {x.shape} has size 0 in "
            f"dimension(s) {tuple(d for d in dims if x.shape[d] == 0)}."
        )


@validate_call
def nansum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over dimensions, ignoring nan; arguments as for `sum`."""
    return sum(elementwise("where", input != input, 0, input), dim, keepdim, dtype=dtype)


@validate_call
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean over dimensions, ignoring nan; nan if all elements are nan.

    Arguments and errors as for `mean`.
    """
    x = input if dtype is None else input.to(dtype)
    check_floating("nanmean", x)
    return (nansum(wide(x), dim, keepdim) / sum(x == x, dim, keepdim)).to(x.dtype)


class Product(Function):
    """Product over one dimension, which is kept with size 1."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return fold("mul", x, (dim,))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Multiply by the product of the other elements: by division, or by scans for zeros."""
        (x,) = ctx.saved_tensors
        dim = ctx.dim
        if not (x == 0).any():
            return grad * (Product.apply(x, dim) / x), None
        before = shifted(x.cumprod(dim), dim, 1.0)
        after = shifted(x.flip(dim).cumprod(dim), dim, 1.0).flip(dim)
        return grad * before * after, None


@validate_call
def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the product over one dimension, or of all elements.

    Args:
        input: a tensor; integers and bools are multiplied as int64.
        dim: the dimension; None for all elements.
        keepdim: whether to keep the reduced dimension, with size 1.
        dtype: the dtype to convert to first.

    Raises:
        IndexingError: `dim` is out of range.
    """
    x = in_summed_dtype(input, dtype)
    dims = reduced_dims(None if dim is None else normalize_dim(dim, x.ndim), x.ndim, keepdim)
    if x.dtype is bool_:
        return fold("logical_and", x, dims, keepdim)
    if not x.requires_grad:
        return fold("mul", wide(x), dims, keepdim).to(x.dtype)
    if len(dims) == 1:
        out = Product.apply(wide(x), dims[0])
    else:
        out = Product.apply(wide(x).reshape(-1), 0).view(*(1,) * x.ndim)
    return out.to(x.dtype) if keepdim else squeeze_dims(out.to(x.dtype), dims)
