"""Operations that fold dimensions: sums, products, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_operators import OPERATORS
from mt_tensor.arguments import as_integers, check_flags, check_floating
from mt_tensor.dtypes import DType, as_dtype, bool_, float16, float32, int64
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.movement.joining import shifted
from mt_tensor.movement.views import squeeze_dims
from mt_tensor.pointwise.elementwise import elementwise
from mt_tensor.public import method, operation
from mt_tensor.recording.function import Function, require_tensors
from mt_tensor.recording.linear import LinearFunction, ViewFunction
from mt_tensor.strides import Shape, normalize_dim, normalize_dims, size_of
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

Dims = int | Sequence[int] | None
_ADD = OPERATORS["add"]


# --- What reductions have in common -------------------------------------------------------------


def fold(name: str, x: Tensor, dims: tuple[int, ...], keepdim: bool = True) -> Tensor:
    """Fold `dims` of a tensor with the operator called `name`; nothing is recorded."""
    return x._with(x.backend.reduce(OPERATORS[name], x._tensor, dims, keepdim))


def named_dims(dim: Any, ndim: int, keepdim: Any) -> tuple[int, ...]:
    """Return the dimensions meant, counted from the front: all of them for None.

    Raises:
        IndexingError: a dimension does not exist, is named twice or is no integer.
        TypeError: `keepdim`, which every reduction takes beside them, is no bool.
    """
    if keepdim.__class__ is not bool:  # asked here, for a call would cost more
        check_flags(keepdim=keepdim)
    if isinstance(dim, (str, Tensor)):  # both can be iterated over; neither is a sequence here
        dim = (dim,)
    return normalize_dims(dim, ndim)


def reduced_dims(dim: Any, ndim: int, keepdim: bool) -> tuple[int, ...]:
    """Return the dimensions to fold: as `named_dims`, but all of them for (), as in torch."""
    if dim is None and keepdim.__class__ is bool:
        return tuple(range(ndim))
    return named_dims(dim, ndim, keepdim) or tuple(range(ndim))


def check_not_empty(name: str, x: Tensor, dims: tuple[int, ...]) -> None:
    """Raise IndexingError if there is nothing to fold along one of the dimensions."""
    if 0 in x.shape and any(x.shape[d] == 0 for d in dims):
        raise IndexingError(
            f"{name}() of no elements is undefined: shape {x.shape} is empty in dimension(s) "
            f"{tuple(d for d in dims if x.shape[d] == 0)}."
        )


def _in_dtype(x: Tensor, dtype: Any) -> Tensor:
    """Return the tensor as what it is summed in: integers and bools as int64, if not told."""
    wanted: DType = x.dtype if dtype is None else as_dtype(dtype)
    if dtype is None and not wanted.is_floating_point:
        wanted = int64
    return x if wanted is x.dtype else x.to(wanted)


def wide(x: Tensor) -> Tensor:
    """Return float16 as float32: it often cannot hold the sums and products on the way."""
    return x.float() if x.dtype is float16 else x


# --- Sums and means -----------------------------------------------------------------------------


class Sum(LinearFunction):
    """Sum over dimensions, which stay with extent 1 or are left out."""

    @staticmethod
    def computed(x: Tensor, dims: tuple[int, ...], keepdim: bool) -> TensorData:
        return x.backend.reduce(_ADD, x._tensor, dims, keepdim)

    @staticmethod
    def undone(grad: Tensor, shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        return Repeat.apply(grad, shape, dims, keepdim)


class Mean(LinearFunction):
    """Sum over dimensions, divided by how many elements were added up."""

    @staticmethod
    def computed(x: Tensor, dims: tuple[int, ...], keepdim: bool) -> TensorData:
        total = x._with(x.backend.reduce(_ADD, x._tensor, dims, keepdim))
        return (total / _count(x.shape, dims))._tensor

    @staticmethod
    def undone(grad: Tensor, shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        return Repeat.apply(grad / _count(shape, dims), shape, dims, keepdim)


def _count(shape: Shape, dims: tuple[int, ...]) -> int:
    """Return how many elements are folded into one."""
    return size_of([shape[d] for d in dims])


class Repeat(ViewFunction):
    """The same elements over again along dimensions that a sum has folded; undoes `Sum`."""

    @staticmethod
    def moved(data: TensorData, shape: Shape, dims: tuple[int, ...], keepdim: bool) -> TensorData:
        if len(dims) == len(shape):  # the sum of everything
            return data.like(shape, (0,) * len(shape), data.offset)
        strides = list(data.strides)
        for d in sorted(dims):
            if keepdim:
                strides[d] = 0
            else:
                strides.insert(d, 0)
        return data.like(shape, tuple(strides), data.offset)

    @staticmethod
    def undone(
        grad: Tensor, shape: Shape, _: Shape, dims: tuple[int, ...], keepdim: bool
    ) -> Tensor:
        return Sum.apply(grad, dims, keepdim)


@operation
def sum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over dimensions.

    Args:
        input: a tensor; integers and bools are added up as int64.
        dim: one dimension or several; None and () for all.
        keepdim: whether they stay, with extent 1.
        dtype: the element type to convert to before.

    Raises:
        IndexingError: a dimension does not exist or is named twice.
    """
    require_tensors("sum", input)
    dims = reduced_dims(dim, len(input._tensor.shape), keepdim)
    x = input if dtype is None and input.is_floating_point() else _in_dtype(input, dtype)
    if x._tensor.dtype is bool_:
        return fold("logical_or", x, dims, keepdim)
    return Sum.apply(x, dims, keepdim)


@operation
def mean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over dimensions divided by the number of elements; nan of none.

    Arguments are those of `sum`.

    Raises:
        DTypeError: the elements, once converted, are no floating-point numbers.
        IndexingError: a dimension does not exist or is named twice.
    """
    require_tensors("mean", input)
    target = input.dtype if dtype is None else as_dtype(dtype)
    check_floating("mean", target)
    # In float32 for float16, which might not hold the elements themselves.
    x = input.to(float32 if target is float16 else target)
    return Mean.apply(x, reduced_dims(dim, x.ndim, keepdim), keepdim).to(target)


@operation
def nansum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over dimensions of all elements but nan; arguments are those of `sum`."""
    require_tensors("nansum", input)
    return sum(elementwise("where", input != input, 0, input), dim, keepdim, dtype=dtype)


@operation
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean over dimensions of all elements but nan; nan where there is none.

    Arguments and errors are those of `mean`.
    """
    require_tensors("nanmean", input)
    x = input if dtype is None else input.to(dtype)
    check_floating("nanmean", x)
    return (nansum(wide(x), dim, keepdim) / sum(x == x, dim, keepdim)).to(x.dtype)


def sum_to_size(x: Tensor, shape: Shape) -> Tensor:
    """Sum over what broadcasting has stretched, so that the result has `shape`."""
    if x.shape == shape:
        return x
    new = x.ndim - len(shape)
    stretched = tuple(
        d for d in range(max(new, 0), x.ndim) if shape[d - new] == 1 and x.shape[d] != 1
    )
    reduced = tuple(1 if d in stretched else x.shape[d] for d in range(max(new, 0), x.ndim))
    if new < 0 or reduced != shape:
        raise ShapeError(f"shape {shape} does not broadcast to {x.shape}, so no sum leads back.")
    folded = (*range(new), *stretched)
    return (sum(x, folded, True) if folded else x).view(*shape)


# --- Products -----------------------------------------------------------------------------------


class Product(Function):
    """Product over one dimension, which stays with extent 1."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return fold("mul", x, (dim,))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """The product of all others: by division or, around a zero, of those on either side."""
        (x,) = ctx.saved_tensors
        dim = ctx.dim
        if not (x == 0).any():
            return grad * Product.apply(x, dim) / x, None
        before = shifted(x.cumprod(dim), dim, 1.0)
        after = shifted(x.flip(dim).cumprod(dim), dim, 1.0).flip(dim)
        return grad * before * after, None


@operation
def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the product over one dimension, or of all elements.

    Args:
        input: a tensor; integers and bools are multiplied as int64.
        dim: the dimension to fold; None for all elements.
        keepdim: whether it stays, with extent 1.
        dtype: the element type to convert to before.

    Raises:
        IndexingError: there is no such dimension.
    """
    require_tensors("prod", input)
    x = _in_dtype(input, dtype)
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


@method("sum_to_size")
def summed_to(self: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """Sum over the dimensions along which a tensor of `shape` would be broadcast to this.

    Raises:
        ShapeError: a tensor of `shape` does not broadcast to this one.
    """
    return sum_to_size(self, as_integers(shape, size))
