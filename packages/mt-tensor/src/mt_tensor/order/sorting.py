"""Order: sorting, the largest few, and the median.

The order is found on the host, as indices; the values are then gathered, so that gradients go back
to where each came from.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from mt_tensor.dtypes import bool_, int64
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.order.on_host import Array, on_host
from mt_tensor.order.selection import ValuesAndIndices, take_along
from mt_tensor.recording.function import require_tensors
from mt_tensor.reductions.extremes import SharedByEqual
from mt_tensor.reductions.sums import check_not_empty
from mt_tensor.strides import is_integer, normalize_dim
from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


def _order(x: TensorBase, dim: int, descending: bool) -> Tensor:
    """Return the indices that sort along `dim`; equal elements keep their order, nan is largest."""

    def ascending(values: Array) -> Array:
        return np.argsort(values, dim, kind="stable")

    def from_the_end(values: Array) -> Array:
        backwards = np.flip(ascending(np.flip(values, dim)), dim)
        return np.asarray(values.shape[dim] - 1 - backwards)

    return on_host(from_the_end if descending else ascending, x, dtype=int64)


def sort(
    input: TensorBase,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,  # noqa: ARG001 - as if always given
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
    require_tensors("sort", input)
    dim = normalize_dim(dim, input.ndim)
    index = _order(input, dim, descending)
    return ValuesAndIndices(take_along(input, dim, index), index)


def argsort(
    input: TensorBase,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,  # noqa: ARG001 - as if always given
) -> Tensor:
    """Return the int64 indices that sort along `dim`; see `sort`.

    Raises:
        IndexingError: there is no such dimension.
    """
    require_tensors("argsort", input)
    return _order(input, normalize_dim(dim, input.ndim), descending)


def topk(
    input: TensorBase,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: ARG001 - as if always given
) -> ValuesAndIndices:
    """Return the `k` largest elements along `dim`, and the int64 indices they come from.

    Args:
        input: a tensor; a nan counts as larger than every number.
        k: how many.
        dim: the dimension to look along, which then has extent `k`.
        largest: whether the largest are wanted, or the smallest.
        sorted: whether they must come in order; here they always do.

    Raises:
        IndexingError: there is no such dimension.
        ShapeError: `k` is no integer, or there are fewer than `k` elements along `dim`.
    """
    require_tensors("topk", input)
    dim = normalize_dim(dim, input.ndim)
    extent = input.shape[dim] if input.ndim else 1
    if not is_integer(k):
        raise ShapeError(f"topk() takes an integer k; {k!r} was given.")
    k = operator.index(k)
    if not 0 <= k <= extent:
        raise ShapeError(
            f"topk() was asked for {k} of the {extent} element(s) along dimension {dim} of shape "
            f"{input.shape}: give k from 0 to {extent}."
        )
    index = _order(input, dim, largest)
    if input.ndim:
        index = index.narrow(dim, 0, k).contiguous()
    return ValuesAndIndices(take_along(input, dim, index), index)


def median(input: TensorBase, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the element in the middle of the order; the lower one of two, and nan if there is one.

    Args:
        input: a tensor of numbers.
        dim: the dimension to look along; None for all elements.
        keepdim: whether `dim` stays, with extent 1.

    Returns:
        The median of all elements, whose gradient is shared by equal elements; of no elements it
        is nan. With `dim`, the named tuple `(values, indices)`.

    Raises:
        IndexingError: there is no such dimension.
        ShapeError: `dim` has no elements.
        DTypeError: the elements are bool; or there are none and they are integers.
        TypeError: `keepdim` without `dim`.
    """
    require_tensors("median", input)
    if input.dtype is bool_:
        raise DTypeError("median() is not defined on bool tensors; convert with x.long().")
    if dim is not None:
        return _median_along(input, normalize_dim(dim, input.ndim), keepdim)
    if keepdim:
        raise TypeError("median() takes keepdim together with dim only.")
    if input.numel() == 0:
        if not input.dtype.is_floating_point:
            raise DTypeError(
                f"median() of no elements is nan, which {input.dtype.name} cannot hold."
            )
        return input._with(input.backend.full((), input.dtype, math.nan))
    value = _median_along(input.detach().reshape(-1), 0, False).values
    return SharedByEqual.apply(input, value, tuple(range(input.ndim)))


def _median_along(x: TensorBase, dim: int, keepdim: bool) -> ValuesAndIndices:
    if x.ndim == 0:
        return sort(x)
    check_not_empty("median", x, (dim,))
    order = _order(x, dim, False)
    extent = x.shape[dim]
    # nan is last in the order, and counts as the median
    last = order.narrow(dim, extent - 1, 1)
    middle = order.narrow(dim, (extent - 1) // 2, 1)
    at_end = take_along(x.detach(), dim, last)
    index = last.where(at_end != at_end, middle)
    values = take_along(x, dim, index)
    if keepdim:
        return ValuesAndIndices(values, index)
    return ValuesAndIndices(values.squeeze(dim), index.squeeze(dim))
