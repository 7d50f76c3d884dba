"""The largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.dtypes import int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.named import fused
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.sums import Dims, fold, reduced_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import View, squeeze_dims
from mt_tensor.indexing.selection import ValuesAndIndices, selected
from mt_tensor.indexing.slices import along
from mt_tensor.pointwise.fusing import fuse
from mt_tensor.recording.functions import Function
from mt_tensor.reductions.sums import check_not_empty


class MinMax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


@fuse
def _is_chosen(x: Tensor, value: Tensor) -> Tensor:
    """Return 1 where an element equals a value or is nan, 0 elsewhere."""
    return (x == value).logical_or(x != x).to(x.dtype)


class SharedByEqual(Function):
    """A value found among the elements of a tensor; all equal to it share the gradient.

    A value of nan shares it among the nans.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, find: Callable[[Tensor], Tensor], dims: tuple[int, ...]
    ) -> Tensor:
        value = find(x)
        ctx.dims = dims
        ctx.save_for_backward(x, value)
        return value

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, value = ctx.saved_tensors
        chosen = _is_chosen(x, value)
        return chosen * (grad / chosen.sum(ctx.dims, keepdim=True)), None, None


def _extreme(name: str, operator: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """Fold with `"maximum"` or `"minimum"`, in both of which nan wins."""
    dims = reduced_dims(dim, x.ndim, keepdim)
    check_not_empty(name, x, dims)
    if not x.requires_grad:
        return fold(operator, x, dims, keepdim)
    out = SharedByEqual.apply(x, lambda x: fold(operator, x, dims), dims)
    return out if keepdim else squeeze_dims(out, dims)


def _composed_position(name: str, x: Tensor, dim: int) -> Tensor:
    """Among the positions that hold the extreme, the smallest is taken. A nan counts as extreme."""
    x = x.detach()
    chosen = (x == fold(name, x, (dim,))).logical_or(x != x)
    positions = along(x._uploaded(np.arange(x.shape[dim])), dim, x.shape)
    return fold("minimum", elementwise("where", chosen, positions, x.shape[dim]), (dim,))


@fused("argmax")
def _position_of_largest(x: Tensor, dim: int) -> Tensor:
    return _composed_position("maximum", x, dim)


@fused("argmin")
def _position_of_smallest(x: Tensor, dim: int) -> Tensor:
    return _composed_position("minimum", x, dim)


def _arg_extreme(name: str, operator: str, x: Tensor, dim: int | None, keepdim: Any) -> Tensor:
    """Index of the first element along a dimension that the operator chooses, as int64."""
    find = _position_of_largest if operator == "maximum" else _position_of_smallest
    if dim is None:
        flat = x.reshape(-1)
        check_not_empty(name, flat, (0,))
        return View.apply(find(flat, 0), (1,) * x.ndim if keepdim else ())
    d = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        return x._full((), 0, int64)
    check_not_empty(name, x, (d,))
    position = find(x, d)
    return position if keepdim else squeeze_dims(position, (d,))


def _max_or_min(
    name: str, operator: str, x: Tensor, dim: Any, keepdim: bool, other: Tensor | None
) -> Any:
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if dim is None and keepdim is True:
        raise TypeError(f"{name}() takes keepdim together with dim only.")
    if other is not None:
        require_tensors(name, other)
        if dim is not None:
            raise TypeError(f"{name}() takes either a dimension or another tensor, not both.")
        return elementwise(operator, x, other)
    if dim is None:
        return _extreme(name, operator, x, None, keepdim)
    index = _arg_extreme(name, operator, x, dim, True)
    d = normalize_dim(dim, x.ndim)
    if not x.ndim:
        return ValuesAndIndices(x.clone(), index)
    return selected(x, d, index, keepdim)


@validate_call
def max(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None
) -> Any:
    """Return the largest element, the largest along a dimension, or the larger of two tensors.

    A nan counts as largest.

    Args:
        input: a tensor.
        dim: the dimension to look along; None for all elements. Another tensor may stand here.
        keepdim: whether `dim` stays, with size 1.
        other: another tensor, to compare with element by element, broadcast together.

    Returns:
        Of all elements, a tensor of no dimensions whose gradient is shared by equal elements.
        With `dim`, the named tuple `(values, indices)`: the index, int64, is that of the first
        largest, which receives the gradient. With another tensor, see `maximum`.

    Raises:
        IndexingError: there are no elements to choose from.
        IndexingError: there is no such dimension, or two shapes do not broadcast.
        TypeError: `keepdim` without `dim`, or `dim` together with `other`.
    """
    return _max_or_min("max", "maximum", input, dim, keepdim, other)


@validate_call
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None
) -> Any:
    """Return the smallest element, the smallest along a dimension, or the smaller of two tensors.

    A nan counts as smallest. Arguments, results and errors are those of `max`.
    """
    return _max_or_min("min", "minimum", input, dim, keepdim, other)


@validate_call
def amax(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the largest element over dimensions; equal ones share the gradient.

    Raises:
        IndexingError: there are no elements to choose from.
        IndexingError: a dimension does not exist or is named twice.
    """
    return _extreme("amax", "maximum", input, dim, keepdim)


@validate_call
def amin(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the smallest element over dimensions; equal ones share the gradient.

    Raises:
        IndexingError: there are no elements to choose from.
        IndexingError: a dimension does not exist or is named twice.
    """
    return _extreme("amin", "minimum", input, dim, keepdim)


@validate_call
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinMax:
    """Return the smallest and the largest elements along a dimension, or of all.

    Raises:
        IndexingError: there are no elements to choose from.
        IndexingError: there is no such dimension.
    """
    dims = None if dim is None else normalize_dim(dim, input.ndim)
    return MinMax(
        _extreme("aminmax", "minimum", input, dims, keepdim),
        _extreme("aminmax", "maximum", input, dims, keepdim),
    )


@validate_call
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the first largest element, along `dim` or of all in a row.

    Raises:
        DTypeError: the elements are truth values.
        IndexingError: there are no elements to choose from.
        IndexingError: there is no such dimension.
    """
    check_not_bool("argmax", input)
    return _arg_extreme("argmax", "maximum", input, dim, keepdim)


@validate_call
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the first smallest element, along `dim` or of all in a row.

    Raises:
        DTypeError: the elements are truth values.
        IndexingError: there are no elements to choose from.
        IndexingError: there is no such dimension.
    """
    check_not_bool("argmin", input)
    return _arg_extreme("argmin", "minimum", input, dim, keepdim)
