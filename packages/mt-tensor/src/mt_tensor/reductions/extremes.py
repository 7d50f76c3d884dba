"""Maxima and minima, and their indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mt_autodiff.core.mode import recording
from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.dtypes import int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.graph import Node, record
from mt_tensor.core.named import fused
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.sums import Dims, fold, reduced_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import View, squeeze_dims
from mt_tensor.indexing.selection import ValuesAndIndices, selected
from mt_tensor.indexing.slices import along
from mt_tensor.pointwise.fusing import fuse
from mt_tensor.reductions.sums import check_not_empty


class MinMax(NamedTuple):
    """The result of `aminmax`."""

    min: Tensor
    max: Tensor


@fuse
def _equals(x: Tensor, value: Tensor) -> Tensor:
    """Return 1 where an element equals a value or is nan, 0 elsewhere."""
    return (x == value).logical_or(x != x).to(x.dtype)


class SharedByEqual:
    """The gradient rule of a value found in a tensor: all elements equal to it share its gradient.

    The gradient of a nan is shared by all nans.
    """

    @classmethod
    def record(cls, name: str, x: Tensor, value: Tensor, dims: tuple[int, ...]) -> Tensor:
        """Record a new tensor of values from dimensions of `x` if `x` requires grad; return it."""
        if recording.get() and x.requires_grad:  # for a view, updates `_node`
            ctx = x.detach(), value.detach(), dims
            record(value, cls, name.capitalize(), (x._node or x,), ctx, (x._tensor, value._tensor))
        return value

    @classmethod
    def vjp(cls, _: Node, __: Any, ctx: Any, grad: Tensor, ___: Any) -> Sequence[Tensor]:
        """Return the gradient with respect to `x`; see `Rule`."""
        return (cls.backward(grad, *ctx),)

    @staticmethod
    def backward(grad: Tensor, x: Tensor, value: Tensor, dims: tuple[int, ...]) -> Tensor:
        """Return the gradient with respect to `x`, which broadcasts with the values."""
        is_equal = _equals(x, value)
        # Counted in float32 at least: there may be more equal elements than float16 can count.
        count = is_equal.sum(dims, keepdim=True, dtype=grad.dtype.computed)
        return is_equal * (grad / count).to(grad.dtype)


def _extreme(name: str, operator: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """Reduce with `"maximum"` or `"minimum"`, which both propagate nan."""
    dims = reduced_dims(dim, x.ndim, keepdim)
    check_not_empty(name, x, dims)
    if not x.requires_grad:
        return fold(operator, x, dims, keepdim)
    keeps = keepdim or len(dims) < x.ndim  # so that the result broadcasts to `x`
    out = SharedByEqual.record(name, x, fold(operator, x, dims, keeps), dims)
    return out if keeps is keepdim else squeeze_dims(out, dims)


def _first_index(name: str, x: Tensor, dim: int) -> Tensor:
    """Return the first index of the maximum or minimum along `dim`; nan wins over numbers."""
    x = x.detach()
    is_equal = (x == fold(name, x, (dim,))).logical_or(x != x)
    index = along(x._uploaded(np.arange(x.shape[dim])), dim, x.shape)
    return fold("minimum", elementwise("where", is_equal, index, x.shape[dim]), (dim,))


@fused("argmax")
def _argmax(x: Tensor, dim: int) -> Tensor:
    return _first_index("maximum", x, dim)


@fused("argmin")
def _argmin(x: Tensor, dim: int) -> Tensor:
    return _first_index("minimum", x, dim)


def _arg_extreme(name: str, operator: str, x: Tensor, dim: int | None, keepdim: Any) -> Tensor:
    """Return the int64 index of the first maximum or minimum."""
    find = _argmax if operator == "maximum" else _argmin
    if dim is None:
        flat = x.reshape(-1)
        check_not_empty(name, flat, (0,))
        return View.apply(find(flat, 0), (1,) * x.ndim if keepdim else ())
    d = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        return x._full((), 0, int64)
    check_not_empty(name, x, (d,))
    index = find(x, d)
    return index if keepdim else squeeze_dims(index, (d,))


def _max_or_min(
    name: str, operator: str, x: Tensor, dim: Any, keepdim: bool, other: Tensor | None
) -> Any:
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if dim is None and keepdim is True:
        raise TypeError(f"{name}() takes keepdim only together with dim.")
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
    """Return the maximum of all elements, along a dimension, or of two tensors; nan is propagated.

    Args:
        input: a tensor.
        dim: the dimension; None for all elements; or a tensor, in place of `other`.
        keepdim: whether to keep `dim`, with size 1.
        other: a tensor for the elementwise maximum, broadcast with `input`.

    Returns:
        For all elements, a 0-D tensor, whose gradient is shared by equal elements. With `dim`, the
        named tuple `(values, indices)` with the int64 index of the first maximum, which gets the
        gradient. For two tensors, see `maximum`.

    Raises:
        IndexingError: there are no elements, `dim` is out of range, or the shapes do not broadcast.
        TypeError: `keepdim` was given without `dim`, or `dim` with `other`.
    """
    return _max_or_min("max", "maximum", input, dim, keepdim, other)


@validate_call
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None
) -> Any:
    """Return the minimum of all elements, along a dimension, or of two tensors; nan is propagated.

    Arguments, results and errors as for `max`.
    """
    return _max_or_min("min", "minimum", input, dim, keepdim, other)


@validate_call
def amax(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the maximum over dimensions; equal elements share the gradient.

    Raises:
        IndexingError: there are no elements, or a dimension is out of range or repeated.
    """
    return _extreme("amax", "maximum", input, dim, keepdim)


@validate_call
def amin(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the minimum over dimensions; equal elements share the gradient.

    Raises:
        IndexingError: there are no elements, or a dimension is out of range or repeated.
    """
    return _extreme("amin", "minimum", input, dim, keepdim)


@validate_call
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinMax:
    """Return the minimum and the maximum along a dimension, or of all elements.

    Returns:
        The named tuple `(min, max)`.

    Raises:
        IndexingError: there are no elements, or `dim` is out of range.
    """
    dims = None if dim is None else normalize_dim(dim, input.ndim)
    return MinMax(
        _extreme("aminmax", "minimum", input, dims, keepdim),
        _extreme("aminmax", "maximum", input, dims, keepdim),
    )


@validate_call
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the first maximum along `dim`, or in the flattened tensor.

    Raises:
        DTypeError: `input` is bool.
        IndexingError: there are no elements, or `dim` is out of range.
    """
    check_not_bool("argmax", input)
    return _arg_extreme("argmax", "maximum", input, dim, keepdim)


@validate_call
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the first minimum along `dim`, or in the flattened tensor.

    Raises:
        DTypeError: `input` is bool.
        IndexingError: there are no elements, or `dim` is out of range.
    """
    check_not_bool("argmin", input)
    return _arg_extreme("argmin", "minimum", input, dim, keepdim)
