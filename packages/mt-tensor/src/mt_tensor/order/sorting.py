"""Order: sorting, the largest few, and the median.

The order is found as indices, by a named operation that runs on the host unless a backend has a
kernel for it. The values are then gathered, so that gradients go back to where each came from.
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
    """Return the indices that sort along `dim`; equal elements keep their order, nan is largest."""

    def ascending(values: Array) -> Array:
        rows = np.moveaxis(values, dim, -1)  # of more than 32 dimensions NumPy sorts no array
        shape = math.prod(rows.shape[:-1]), rows.shape[-1]
        order = np.argsort(rows.reshape(shape), -1, kind="stable")
        return np.moveaxis(order.reshape(rows.shape), -1, dim)

    def from_the_end(values: Array) -> Array:
        backwards = np.flip(ascending(np.flip(values, dim)), dim)
        return np.asarray(values.shape[dim] - 1 - backwards)

    return on_host(from_the_end if descending else ascending, x, dtype=int64)


@validate_call
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False
) -> ValuesAndIndices:
    """Return the elements in order along `dim`, and the int64 indices they come from.

    Args:
        input: a tensor of any element type; a nan counts as larger than every number.
        dim: the dimension to sort along.
        descending: whether the largest comes first.
        stable: whether equal elements must keep their order; here they always do.

    Raises:
        IndexingError: there is no such dimension.
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
        IndexingError: there is no such dimension.
    """
    return _order(input, normalize_dim(dim, input.ndim), descending)


@validate_call
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: ARG001 - they always are
) -> ValuesAndIndices:
    """Return the `k` largest elements along `dim`, and the int64 indices they come from.

    Args:
        input: a tensor; a nan counts as larger than every number.
        k: how many.
        dim: the dimension to look along, which then has size `k`.
        largest: whether the largest are wanted, or the smallest.
        sorted: whether they must come in order; here they always do.

    Raises:
        IndexingError: there is no such dimension.
        ShapeError: there are fewer than `k` elements along `dim`.
        TypeError: `k` is no integer.
    """
    dim = normalize_dim(dim, input.ndim)
    size = input.shape[dim] if input.ndim else 1
    k = as_integer("k", k)
    if not 0 <= k <= size:
        raise ShapeError(
            f"topk() was asked for {k} of the {size} element(s) along dimension {dim} of shape "
            f"{input.shape}: give k from 0 to {size}."
        )
    index = _order(input, dim, largest)
    if input.ndim:
        index = index.narrow(dim, 0, k).contiguous()
    return selected(input, dim, index)


@validate_call
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the element in the middle of the order; the lower one of two, and nan if there is one.

    Args:
        input: a tensor of numbers.
        dim: the dimension to look along; None for all elements.
        keepdim: whether `dim` stays, with size 1.

    Returns:
        The median of all elements, whose gradient is shared by equal elements; of no elements it
        is nan. With `dim`, the named tuple `(values, indices)`.

    Raises:
        IndexingError: there is no such dimension, or it has no elements.
        DTypeError: the elements are bool; or there are none and they are integers.
        TypeError: `keepdim` without `dim`.
    """
    return _median("median", False, input, dim, keepdim)


@validate_call
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the element in the middle of the order of all but nan; nan where there is none.

    Arguments, results and errors are those of `median`.
    """
    return _median("nanmedian", True, input, dim, keepdim)


def _median(name: str, skip_nan: bool, input: Tensor, dim: int | None, keepdim: bool) -> Any:
    check_not_bool(name, input)
    if dim is not None:
        return _median_along(name, skip_nan, input, normalize_dim(dim, input.ndim), keepdim)
    if keepdim:
        raise TypeError(f"{name}() takes keepdim together with dim only.")
    if input.numel() == 0:
        if not input.dtype.is_floating_point:
            raise DTypeError(
                f"{name}() of no elements is nan, which {input.dtype.name} cannot hold."
            )
        return input._full((), math.nan)
    value = _median_along(name, skip_nan, input.detach().reshape(-1), 0, False).values
    if skip_nan and input.dtype.is_floating_point:  # no nan has a part, unless all are
        away = -math.inf if value.item() == math.inf else math.inf
        input = input.masked_fill(input.isnan(), away) if value.item() == value.item() else input
    return SharedByEqual.apply(input, lambda _: value, tuple(range(input.ndim)))


def _median_along(
    name: str, skip_nan: bool, x: Tensor, dim: int, keepdim: bool
) -> ValuesAndIndices:
    if x.ndim == 0:
        return sort(x)
    check_not_empty(name, x, (dim,))
    order = _order(x, dim, False)  # nan is last, and counts as the median
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
    """Return the elements that occur most often along a dimension, and where they stand last.

    Args:
        input: a tensor; of elements that occur equally often the smallest counts, and every nan is
            one of its own.
        dim: the dimension to look along.
        keepdim: whether it stays, with size 1.

    Raises:
        IndexingError: there is no such dimension, or it has no elements.
    """
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return sort(input)
    check_not_empty("mode", input, (dim,))
    order = _order(input, dim, False)
    ordered = gather_unchecked(input.detach(), dim, order)

    def ends(values: Array) -> Array:
        """Count on from where the run of equal elements began: the longest ends highest."""
        shape = [-1 if d == dim else 1 for d in range(values.ndim)]
        here = np.arange(values.shape[dim]).reshape(shape)
        begins = values != np.roll(values, 1, dim)
        np.moveaxis(begins, dim, 0)[0] = True
        length = here - np.maximum.accumulate(np.where(begins, here, 0), dim)
        return np.broadcast_to(length.argmax(dim, keepdims=True), values.shape)

    index = gather_unchecked(order, dim, on_host(ends, ordered, dtype=int64).narrow(dim, 0, 1))
    return selected(input, dim, index, keepdim)
