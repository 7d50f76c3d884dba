"""Write by index along a dimension: scatter, its reductions, and operations composed from them.

Each returns a copy, except `index_add_`. If an index is repeated, reductions combine all source
elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_autodiff import GradientError, is_grad_enabled
from mt_operators import OPERATORS, Operator
from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.dtypes import DType, Number, bool_, int64, uint8
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.gathering import ADD, Gather, checked_index
from mt_tensor.core.operands import common_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.indexing.slices import along, checked_1d_index, lowest_and_highest
from mt_tensor.movement.copying import copy_if_aliased
from mt_tensor.pointwise.functions import checked_factor
from mt_tensor.recording.functions import Function


class ScatterAdd(Function):
    """Add elements to a copy of a tensor at indices along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        return _combined(ADD, x, dim, index, source)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return grad, None, None, Gather.apply(grad, index, ctx.dim)


class Scatter(Function):
    """Replace elements of a copy of a tensor at indices along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        return _combined(None, x, dim, index, source)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        zeros = filled_like(index, grad.dtype, 0)
        kept = Scatter.apply(grad, ctx.dim, index, zeros)
        return kept, None, None, Gather.apply(grad, index, ctx.dim)


class ScatterExtreme(Function):
    """Take the maximum or minimum with elements at indices; equal ones share the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, source: Tensor, name: str) -> Tensor:
        ctx.dim = dim
        out = _combined(OPERATORS[name], x, dim, index, source)
        ctx.save_for_backward(x, index, source, out.detach())
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, index, source, out = ctx.saved_tensors
        dim = ctx.dim
        from_x = (x == out).to(grad.dtype)
        from_source = (source == Gather.apply(out, index, dim)).to(grad.dtype)
        share = grad / ScatterAdd.apply(from_x, dim, index, from_source)
        return from_x * share, None, None, from_source * Gather.apply(share, index, dim), None


class ScatterProduct(Function):
    """Multiply elements of a copy by elements at indices along a dimension.

    The derivative with respect to a factor is the product of the others. It is computed from the
    product of all nonzero factors and the number of zeros.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x, index, source)
        return _combined(OPERATORS["mul"], x, dim, index, source)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, index, source = ctx.saved_tensors
        dim = ctx.dim
        x_zero, source_zero = x == 0, source == 0
        zeros = ScatterAdd.apply(x_zero.long(), dim, index, source_zero.long())
        if is_grad_enabled() and bool((zeros > 0).any()):
            raise GradientError(
                "the second derivative of scatter_reduce() with 'prod' is not supported where a "
                "factor is zero: call backward() without create_graph."
            )
        x, source = x.masked_fill(x_zero, 1), source.masked_fill(source_zero, 1)
        product = grad * ScatterProduct.apply(x, dim, index, source)

        def others(factor: Tensor, zero: Tensor, zeros: Tensor, product: Tensor) -> Tensor:
            return (product / factor).masked_fill(zeros != zero.long(), 0)

        of_source = others(
            source, source_zero, Gather.apply(zeros, index, dim), Gather.apply(product, index, dim)
        )
        return others(x, x_zero, zeros, product), None, None, of_source


def _combined(
    operator: Operator | None, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """Return a copy of `x` with the source combined by an operator, or stored."""
    out = x.clone()
    x.backend.scatter(source._tensor, dim, index._tensor, out._tensor, operator)
    return out


def filled_like(like: Tensor, dtype: DType, value: Number) -> Tensor:
    """Return a tensor of the shape of `like` in which every element is `value`."""
    return like._full((), value, dtype).expand(like.shape)


def check_source(name: str, input: Tensor, index: Tensor, source: Tensor) -> Tensor:
    """Check the source of a scatter, and return its part with the shape of the index.

    Raises:
        DTypeError: the dtype is not that of `input`.
        ShapeError: the source is smaller than the index.
    """
    if source.backend is not input.backend:
        common_backend(input, source)
    if source.dtype is not input.dtype:
        raise DTypeError(
            f"{name}() needs a source of dtype {input.dtype.name}, like the tensor; "
            f"{source.dtype.name} was given."
        )
    if source._tensor.layout.shape == index._tensor.layout.shape:
        return source
    if source.ndim != index.ndim or any(
        i > s for i, s in zip(index.shape, source.shape, strict=True)
    ):
        raise ShapeError(
            f"{name}() needs a source at least as large as its index; shapes {source.shape} "
            f"and {index.shape} were given."
        )
    return source[tuple(slice(size) for size in index.shape)]


@validate_call
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy of `input` with elements of `src` added at indices along `dim`.

    For three dimensions and `dim=1`, `src[i][j][k]` is added at `[i][index[i][j][k]][k]`. The
    arguments are those of `scatter_reduce`.

    Raises:
        DTypeError: `index` is neither int64 nor int32, or the dtype of `src` differs.
        ShapeError: `index` does not fit `input`, or is larger than `src`.
        IndexingError: `dim` or an index is out of range, or `input` is 0-D.
    """
    dim, index = checked_index("scatter_add", input, dim, index)
    return ScatterAdd.apply(input, dim, index, check_source("scatter_add", input, index, src))


@validate_call
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
) -> Tensor:
    """Return a copy of `input` with elements of `src` stored at indices along `dim`.

    For three dimensions and `dim=1`, `src[i][j][k]` is stored at `[i][index[i][j][k]][k]`. For
    repeated indices, it is undefined which source element is stored.

    Args:
        input: at least as long as `index` in every dimension but `dim`.
        dim: the dimension to index.
        index: int64 or int32, with as many dimensions as `input`.
        src: a tensor of the dtype of `input`, at least as large as `index`; or a number.
        value: another name for `src` if it is a number.
        reduce: "add" or "multiply" to combine all source elements with the elements of `input`;
            None to replace them. `scatter_reduce` supports more reductions.

    Raises:
        DTypeError: `index` is neither int64 nor int32, the dtype of `src` differs, or a number is
            out of the range of the dtype.
        ShapeError: `index` does not fit `input`, or is larger than `src`.
        IndexingError: `dim` or an index is out of range, or `input` is 0-D.
        DomainError: `reduce` has another value.
        TypeError: both `src` and `value` were given, or neither.
    """
    if reduce is not None:
        check_choice("scatter", "reduce", reduce, _OLD_NAMES)
    if (src is None) == (value is None):
        raise TypeError("scatter() takes either src, a tensor or number, or value, a number.")
    dim, index = checked_index("scatter", input, dim, index)
    given = value if src is None else src
    if isinstance(given, Tensor):
        source = check_source("scatter", input, index, given)
    else:
        source = filled_like(index, input.dtype, input.dtype.checked(given))
    if reduce is not None:
        return _reduced(input, dim, index, source, _OLD_NAMES[reduce])
    return Scatter.apply(input, dim, index, source)


# --- Reductions ---------------------------------------------------------------------------------

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")

_OLD_NAMES = {"add": "sum", "multiply": "prod"}
"""The names of reductions in `scatter`, mapped to those in `scatter_reduce`."""


@validate_call
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return a copy of `input` with elements of `src` combined at indices along `dim`.

    Args:
        input: at least as long as `index` in every dimension but `dim`.
        dim: the dimension to index.
        index: int64 or int32, with as many dimensions as `input`.
        src: a tensor of the dtype of `input`, at least as large as `index`.
        reduce: "sum", "prod", "mean", "amax" or "amin". The mean of integers is rounded down.
        include_self: whether the reductions include the elements of `input`. Elements that are not
            indexed are kept in either case.

    Raises:
        DTypeError: `index` is neither int64 nor int32, the dtype of `src` differs, or the reduction
            is the mean of bool tensors.
        ShapeError: `index` does not fit `input`, or is larger than `src`.
        IndexingError: `dim` or an index is out of range, or `input` is 0-D.
        DomainError: `reduce` has another value.
    """
    check_choice("scatter_reduce", "reduce", reduce, REDUCTIONS)
    dim, index = checked_index("scatter_reduce", input, dim, index)
    source = check_source("scatter_reduce", input, index, src)
    return _reduced(input, dim, index, source, reduce, include_self)


def _reduced(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    """Compute `scatter_reduce` for checked arguments.

    Raises:
        DTypeError: the reduction is the mean of bool tensors.
    """
    if input.dtype is bool_:
        return _reduce_bool(input, dim, index, source, reduce, include_self)
    start = input
    if not include_self:
        neutral = filled_like(index, start.dtype, _identity(start.dtype, reduce))
        start = Scatter.apply(start, dim, index, neutral)
    if reduce == "prod":
        return ScatterProduct.apply(start, dim, index, source)
    if reduce in ("amax", "amin"):
        name = {"amax": "maximum", "amin": "minimum"}[reduce]
        return ScatterExtreme.apply(start, dim, index, source, name)
    total = ScatterAdd.apply(start, dim, index, source)
    return total if reduce == "sum" else _divided(total, dim, index, include_self)


def _identity(dtype: DType, reduce: str) -> Number:
    """Return the identity element of a reduction."""
    identities = {"prod": 1, "amax": dtype.lowest, "amin": dtype.highest}
    return identities.get(reduce, 0)  # type: ignore[no-any-return]


def _divided(total: Tensor, dim: int, index: Tensor, include_self: bool) -> Tensor:
    """Divide sums by the number of their summands."""
    count = filled_like(total, int64, 1)
    if not include_self:
        count = Scatter.apply(count, dim, index, filled_like(index, int64, 0))
    count = ScatterAdd.apply(count, dim, index, filled_like(index, int64, 1))
    if total.dtype.is_floating_point:
        return total / count.to(total.dtype)
    return (total // count).to(total.dtype)


def _reduce_bool(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool
) -> Tensor:
    """Reduce bools: "sum" and "amax" are `any`, "prod" and "amin" are `all`."""
    if reduce == "mean":
        raise DTypeError(
            "scatter_reduce() with 'mean' is not defined on bool: convert with x.float()."
        )
    name = "amax" if reduce in ("sum", "amax") else "amin"
    numbers = _reduced(x.to(uint8), dim, index, source.to(uint8), name, include_self)
    return numbers.to(bool_)


# --- Slices and one-hot encoding ----------------------------------------------------------------


def checked_slices(
    name: str, input: Tensor, dim: int, index: Tensor, source: Tensor
) -> tuple[int, Tensor]:
    """Check a 1-D index and the slices to store; return the normalized `dim` and index."""
    dim, index = checked_1d_index(name, input, dim, index)
    shape = input._tensor.layout.shape
    expected = (*shape[:dim], index.numel(), *shape[dim + 1 :])
    if source._tensor.layout.shape != expected:
        raise IndexingError(
            f"{name}() along dimension {dim} of shape {input.shape} with {index.numel()} "
            f"index(es) needs a source of shape {expected}; {source.shape} was given."
        )
    return dim, index


@validate_call
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """Return a copy of `input` with `alpha` times slice `i` of `source` added to slice `index[i]`.

    Args:
        input: any tensor with dimensions.
        dim: the dimension to index.
        index: 1-D, integers.
        source: a tensor of the dtype and shape of `input`, but as long as `index` along `dim`.
        alpha: a factor; for integer tensors an integer, or a float that is one, such as 2.0.

    Raises:
        DTypeError: `index` is not an integer tensor, the dtype of `source` differs, or the tensors
            are integers but `alpha` is not.
        IndexingError: `dim` or an index is out of range, `index` is not 1-D, `input` is 0-D, or
            `source` has another shape.
    """
    return ScatterAdd.apply(input, *_added_slices(input, dim, index, source, alpha))


@validate_call
def index_add_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """Add slices in place, and return self; see `index_add`."""
    added = _added_slices(self, dim, index, source, alpha)
    if self._check_in_place(source):
        return self._replace(ScatterAdd.apply(self._before_change(), *added))
    dim, full_index, slices = added
    if full_index.dtype is self.dtype:
        full_index = copy_if_aliased(full_index, self)
    read = copy_if_aliased(slices, self)._tensor, dim, full_index._tensor
    self.backend.scatter(*read, self._tensor, ADD)
    self._tensor.bump_version()
    return self


def _added_slices(
    input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number
) -> tuple[int, Tensor, Tensor]:
    """Check the arguments of `index_add`, and return those of a scatter: dim, index and source."""
    dim, index = checked_slices("index_add", input, dim, index, source)
    if not source.is_floating_point() and isinstance(alpha, float) and alpha.is_integer():
        alpha = int(alpha)
    alpha = checked_factor("index_add(): alpha", alpha, source.dtype)
    added = source if alpha == 1 else elementwise("mul", source, alpha).to(source.dtype)
    full_index = along(index, dim, input._tensor.layout.shape)
    return dim, full_index, check_source("index_add", input, full_index, added)


@validate_call
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Return a copy of `input` in which slice `i` of `source` is combined with slice `index[i]`.

    Args:
        input: any tensor with dimensions.
        dim: the dimension to index.
        index: 1-D, integers.
        source: a tensor of the dtype and shape of `input`, but as long as `index` along `dim`.
        reduce: "prod", "mean", "amax" or "amin", as in `scatter_reduce`.
        include_self: whether the reductions include the elements of `input`.

    Raises:
        DTypeError: `index` is not an integer tensor, the dtype of `source` differs, or the
            reduction is the mean of bool tensors.
        IndexingError: `dim` or an index is out of range, `index` is not 1-D, `input` is 0-D, or
            `source` has another shape.
        DomainError: `reduce` has another value.
    """
    # for sums there is index_add()
    check_choice("index_reduce", "reduce", reduce, REDUCTIONS[1:])
    dim, index = checked_slices("index_reduce", input, dim, index, source)
    full_index = along(index, dim, input.shape)
    source = check_source("index_reduce", input, full_index, source)
    return _reduced(input, dim, full_index, source, reduce, include_self)


@validate_call
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return the one-hot encoding of classes: int64 of shape (*input.shape, num_classes).

    Args:
        input: int64, class indices counted from 0.
        num_classes: the number of classes; -1 for one more than the largest in `input`.

    Raises:
        DTypeError: `input` is not int64.
        DomainError: `num_classes` is less than -1.
        ShapeError: `input` is empty and `num_classes` is not positive.
        TypeError: `num_classes` is not an integer.
        IndexingError: a class is negative or not less than `num_classes`.
    """
    if input.dtype is not int64:
        raise DTypeError(f"one_hot() takes classes of int64; {input.dtype.name} was given.")
    num_classes = as_integer("one_hot(): num_classes", num_classes, minimum=-1)
    if not input.numel() and num_classes < 1:
        raise ShapeError(
            f"one_hot() of an empty tensor needs a positive num_classes; {num_classes} was given."
        )
    low, high = lowest_and_highest(input)
    count = high + 1 if num_classes == -1 else num_classes
    if low < 0 or high >= count:
        raise IndexingError(
            f"one_hot(): class {low if low < 0 else high} is out of range for {max(count, 0)} "
            "classes."
        )
    return (input.unsqueeze(-1) == input._uploaded(np.arange(count))).long()
