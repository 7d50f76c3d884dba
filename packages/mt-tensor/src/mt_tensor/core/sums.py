"""Reductions: sums and means over dimensions.

The forward pass of a sum is the contract's `reduce`. The backward pass repeats the gradient along
the reduced dimensions, as a view. Other reductions are in `reductions/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_operators import OPERATORS
from mt_tensor.core.arguments import as_integers, check_flags, check_floating, numpy_names
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import as_dtype, bool_, int64
from mt_tensor.core.elementwise import constant
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import LinearFunction, ViewFunction
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.plans import Plans
from mt_tensor.core.strides import Shape, normalize_dims, size_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.core.views import cache_layouts

Dims = int | Sequence[int] | None
_ADD = OPERATORS["add"]
_DIVIDE = Plans(OPERATORS["div"].value)


# --- Shared helpers -----------------------------------------------------------------------------


def fold(name: str, x: Tensor, dims: tuple[int, ...], keepdim: bool = True) -> Tensor:
    """Reduce `dims` of a tensor with the operator `name`, without recording."""
    return x._with(x.backend.reduce(OPERATORS[name], x._tensor, dims, keepdim))


def checked_dims(dim: Any, ndim: int, keepdim: Any) -> tuple[int, ...]:
    """Return normalized dimensions, all of them for None, and check `keepdim`.

    Raises:
        IndexingError: a dimension is out of range or repeated.
        TypeError: a dimension is not an integer, or `keepdim` is not a bool.
    """
    if keepdim.__class__ is not bool:  # avoid the call in the usual case
        check_flags(keepdim=keepdim)
    if isinstance(dim, (str, Tensor)):  # iterable, but not sequences of dimensions
        dim = (dim,)
    return normalize_dims(dim, ndim)


def reduced_dims(dim: Any, ndim: int, keepdim: bool) -> tuple[int, ...]:
    """Return the dimensions to reduce: like `checked_dims`, but all for `()` too, as in torch."""
    if dim is None and keepdim.__class__ is bool:
        return tuple(range(ndim))
    return checked_dims(dim, ndim, keepdim) or tuple(range(ndim))


def in_summed_dtype(x: Tensor, dtype: Any) -> Tensor:
    """Convert a tensor to the dtype of its sum: by default int64 for integers and bools."""
    if dtype is not None:
        return cast(x, as_dtype(dtype))
    return x if x._tensor.layout.dtype.is_floating_point else cast(x, int64)


# --- Sums and means -----------------------------------------------------------------------------


class Sum(LinearFunction):
    """Sum over dimensions, which are kept with size 1 or dropped."""

    @staticmethod
    def forward(x: Tensor, dims: tuple[int, ...], keepdim: bool) -> TensorData:
        return x.backend.reduce(_ADD, x._tensor, dims, keepdim)

    @staticmethod
    def backward(grad: Tensor, source: Any, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        return Repeat.apply(grad, source.shape, dims, keepdim)


class Mean(LinearFunction):
    """Sum over dimensions, divided by the number of summands."""

    @staticmethod
    def forward(x: Tensor, dims: tuple[int, ...], keepdim: bool) -> TensorData:
        backend, layout = x.backend, x._tensor.layout
        total = backend.reduce(_ADD, x._tensor, dims, keepdim)
        count = constant(backend, layout.dtype, _count(layout.shape, dims))._tensor
        return _DIVIDE[backend, total.layout, total.layout, count.layout](total, count)  # type: ignore[no-any-return]

    @staticmethod
    def backward(grad: Tensor, source: Any, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        shape = source.shape
        return Repeat.apply(grad / _count(shape, dims), shape, dims, keepdim)


@cache_layouts
def _count(shape: Shape, dims: tuple[int, ...]) -> int:
    """Return the number of summands of each sum."""
    return size_of([shape[d] for d in dims])


class Repeat(ViewFunction):
    """Repeat elements along dimensions that a sum has reduced; the adjoint of `Sum`."""

    @staticmethod
    @cache_layouts
    def layout(layout: Layout, shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Layout:
        if len(dims) == len(shape):  # the sum of everything
            return layout.like(shape, (0,) * len(shape), layout.offset)
        strides = list(layout.strides)
        for d in sorted(dims):
            if keepdim:
                strides[d] = 0
            else:
                strides.insert(d, 0)
        return layout.like(shape, tuple(strides), layout.offset)

    @staticmethod
    def backward(
        grad: Tensor, _: Any, shape: Shape, dims: tuple[int, ...], keepdim: bool
    ) -> Tensor:
        return Sum.apply(grad, dims, keepdim)


@numpy_names
def sum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over dimensions.

    Args:
        input: a tensor; integers and bools are summed as int64.
        dim: one dimension or several; None and () for all.
        keepdim: whether to keep the dimensions, with size 1.
        dtype: the dtype to convert to first.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    require_tensors("sum", input)
    dims = reduced_dims(dim, len(input._tensor.shape), keepdim)
    x = in_summed_dtype(input, dtype)
    if x._tensor.dtype is bool_:
        return fold("logical_or", x, dims, keepdim)
    return Sum.apply(x, dims, keepdim)


@numpy_names
def mean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean over dimensions; nan if they have no elements.

    The arguments are those of `sum`.

    Raises:
        DTypeError: the dtype of the result is not floating-point.
        IndexingError: a dimension is out of range or repeated.
    """
    require_tensors("mean", input)
    target = input.dtype if dtype is None else as_dtype(dtype)
    check_floating("mean", target)
    # float16 is summed in float32: the sum might overflow although the mean does not.
    x = cast(input, target.computed)
    return cast(Mean.apply(x, reduced_dims(dim, x.ndim, keepdim), keepdim), target)


def sum_to_size(self: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """Return a tensor of `shape`: the sum over the dimensions in which it broadcasts to this one.

    It is the adjoint of broadcasting: each element gets the gradients of all its repetitions.

    Raises:
        ShapeError: a tensor of `shape` does not broadcast to this one.
    """
    shape = as_integers(shape, size)
    current = self._tensor.layout.shape
    if shape == current:
        return self
    dims, keepdim = _broadcast_dims(shape, current)
    total = Sum.apply(in_summed_dtype(self, None), dims, keepdim)
    return total.view(*shape) if keepdim and len(shape) < len(current) else total


@cache_layouts
def _broadcast_dims(shape: Shape, repeated: Shape) -> tuple[tuple[int, ...], bool]:
    """Return the dimensions in which `shape` is repeated, and whether to keep them in a sum."""
    new = len(repeated) - len(shape)
    aligned = zip(shape, repeated[max(new, 0) :], strict=False)
    if new < 0 or any(size not in (1, other) for size, other in aligned):
        raise ShapeError(f"sum_to_size(): shape {shape} does not broadcast to {repeated}.")
    dims = tuple([d for d in range(len(repeated)) if d < new or shape[d - new] != repeated[d]])
    return dims, dims[-1] >= new  # only new dimensions are dropped
