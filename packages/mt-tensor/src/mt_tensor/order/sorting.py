"""Sorting, the k largest elements, medians and modes.

The order is computed as indices, by a named operation that runs on the host unless a backend has a
kernel. The values are then gathered, so that gradients reach the selected elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer, check_flags, check_not_bool
from mt_tensor.core.dtypes import Array, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.named import fused
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.indexing.selection import ValuesAndIndices, selected
from mt_tensor.indexing.slices import gather_unchecked
from mt_tensor.order.host import on_host
from mt_tensor.reductions.extremes import SharedByEqual
from mt_tensor.reductions.sums import check_not_empty


@fused("argsort")
def _order(x: Tensor, dim: int, descending: bool) -> Tensor:
    """Return the indices of a stable sort along `dim`; nan is the largest."""

    def ascending(values: Array) -> Array:
        rows = np.moveaxis(values, dim, -1)  # NumPy sorts arrays of at most 32 dimensions
        shape = math.prod(rows.shape[:-1]), rows.shape[-1]
        order = np.argsort(rows.reshape(shape), -1, kind="stable")
        return np.moveaxis(order.reshape(rows.shape), -1, dim)

    def reverse(values: Array) -> Array:
        order = np.flip(ascending(np.flip(values, dim)), dim)
        return np.asarray(values.shape[dim] - 1 - order)

    return on_host(reverse if descending else ascending, x, dtype=int64)


@validate_call
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False
) -> ValuesAndIndices:
    """Sort along `dim`; return the elements and their int64 indices.

    Args:
        input: a tensor; nan is greater than every number.
        dim: the dimension.
        descending: whether to sort in descending order.
        stable: accepted for compatibility with torch; the sort is always stable.

    Returns:
        The named tuple `(values, indices)`.

    Raises:
        IndexingError: `dim` is out of range.
    """
    check_flags(descending=descending, stable=stable is not None and stable)
    dim = normalize_dim(dim, input.ndim)
    return selected(input, dim, _order(input, dim, descending))


@validate_call
def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,  # noqa: ARG001 - all sorting here is stable
) -> Tensor:
    """Return the int64 indices that sort along `dim`; see `sort`.

    Raises:
        IndexingError: `dim` is out of range.
    """
    return _order(input, normalize_dim(dim, input.ndim), descending)


@validate_call
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: ARG001 - the result is always sorted
) -> ValuesAndIndices:
    """Return the `k` largest elements along `dim`, and their int64 indices.

    Args:
        input: a tensor; nan is greater than every number.
        k: the number of elements.
        dim: the dimension, which has size `k` in the result.
        largest: whether to return the largest elements or the smallest.
        sorted: accepted for compatibility with torch; the result is always sorted.

    Returns:
        The named tuple `(values, indices)`.

    Raises:
        IndexingError: `dim` is out of range.
        ShapeError: there are fewer than `k` elements along `dim`.
        TypeError: `k` is not an integer.
    """
    dim = normalize_dim(dim, input.ndim)
    size = input.shape[dim] if input.ndim else 1
    k = as_integer("topk(): k", k)
    if not 0 <= k <= size:
        raise ShapeError(
            f"topk() along dimension {dim} of shape {input.shape} needs k from 0 to {size}; {k} "
            "was given."
        )
    index = _order(input, dim, largest)
    if input.ndim:
        index = index.narrow(dim, 0, k).contiguous()
    return selected(input, dim, index)


@validate_call
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median: the lower one of two, and nan if an element is nan.

    Args:
        input: a tensor; bool is not supported.
        dim: the dimension; None for all elements.
        keepdim: whether to keep `dim`, with size 1.

    Returns:
        The median of all elements, nan if there are none; equal elements share its gradient. With
        `dim`, the named tuple `(values, indices)`.

    Raises:
        IndexingError: `dim` is out of range, or its size is 0.
        DTypeError: `input` is bool, or an empty integer tensor.
        TypeError: `keepdim` was given without `dim`.
    """
    return _median("median", False, input, dim, keepdim)


@validate_call
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of all elements that are not nan; nan if all are.

    Arguments, results and errors as for `median`.
    """
    return _median("nanmedian", True, input, dim, keepdim)


def _median(name: str, skip_nan: bool, input: Tensor, dim: int | None, keepdim: bool) -> Any:
    check_not_bool(name, input)
    if dim is not None:
        return _median_along(name, skip_nan, input, normalize_dim(dim, input.ndim), keepdim)
    if keepdim:
        raise TypeError(f"{name}() takes keepdim only together with dim.")
    if input.numel() == 0:
        if not input.dtype.is_floating_point:
            raise DTypeError(
                f"{name}() of an empty tensor is nan, which {input.dtype.name} cannot represent."
            )
        return input._full((), math.nan)
    value = _median_along(name, skip_nan, input.detach().reshape(-1), 0, False).values
    if skip_nan and input.dtype.is_floating_point:  # replace nans unless all elements are nan
        other = -math.inf if value.item() == math.inf else math.inf
        input = input.masked_fill(input.isnan(), other) if value.item() == value.item() else input
    return SharedByEqual.record(name, input, value, tuple(range(input.ndim)))


def _median_along(
    name: str, skip_nan: bool, x: Tensor, dim: int, keepdim: bool
) -> ValuesAndIndices:
    if x.ndim == 0:
        return sort(x)
    check_not_empty(name, x, (dim,))
    order = _order(x, dim, False)  # nan is last
    missing = elementwise("ne", x, x).sum(dim, keepdim=True)
    size = x.shape[dim]
    if skip_nan:
        middle = (size - 1 - missing).clamp_min(0) // 2
    else:
        middle = elementwise("where", missing > 0, size - 1, (size - 1) // 2)
    index = gather_unchecked(order, dim, middle)
    return selected(x, dim, index, keepdim)


@validate_call
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the most frequent elements along a dimension, and the last index of each.

    Args:
        input: a tensor; the smallest of equally frequent elements is returned, and nans are not
            equal to each other.
        dim: the dimension.
        keepdim: whether to keep the reduced dimension, with size 1.

    Returns:
        The named tuple `(values, indices)`.

    Raises:
        IndexingError: `dim` is out of range, or its size is 0.
    """
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return sort(input)
    check_not_empty("mode", input, (dim,))
    order = _order(input, dim, False)
    ordered = gather_unchecked(input.detach(), dim, order)

    def ends(values: Array) -> Array:
        """Return the end of the longest run: the maximum of the positions within runs."""
        shape = [-1 if d == dim else 1 for d in range(values.ndim)]
        index = np.arange(values.shape[dim]).reshape(shape)
        begins = values != np.roll(values, 1, dim)
        np.moveaxis(begins, dim, 0)[0] = True
        length = index - np.maximum.accumulate(np.where(begins, index, 0), dim)
        return np.broadcast_to(length.argmax(dim, keepdims=True), values.shape)

    index = gather_unchecked(order, dim, on_host(ends, ordered, dtype=int64).narrow(dim, 0, 1))
    return selected(input, dim, index, keepdim)
