"""Copies in which some places hold something else: slices, masked places, diagonals, any index.

All are composed of `scatter`, so that gradients go to what stays and to what comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.dtypes import Number, bool_, int64
from mt_tensor.core.operands import common_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.indexing.finding import nonzero
from mt_tensor.indexing.scattering import (
    Scatter,
    ScatterAdd,
    check_source,
    checked_slices,
    filled_like,
)
from mt_tensor.indexing.slices import along, checked_1d_index, element_numbers
from mt_tensor.movement.diagonals import diagonal
from mt_tensor.movement.rearranging import broadcast_tensors
from mt_tensor.movement.turning import select
from mt_tensor.pointwise.choosing import as_scalar


@validate_call
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a copy of `input` with slice `i` of `source` in place of slice `index[i]`.

    Which of several slices for one place remains is open.

    Args:
        input: any tensor with dimensions.
        dim: the dimension that is indexed.
        index: 1-D, of integers.
        source: of the dtype and shape of `input`, but as long as `index` along `dim`.

    Raises:
        DTypeError: `index` holds no integers, or `source` has another dtype than `input`.
        ShapeError: `source` has another shape.
        IndexingError: an index is out of range.
    """
    dim, index = checked_slices("index_copy", input, dim, index, source)
    places = along(index, dim, input.shape)
    return Scatter.apply(input, dim, places, check_source("index_copy", input, places, source))


@validate_call
def index_fill(input: Tensor, dim: int, index: Tensor, value: Number | Tensor) -> Tensor:
    """Return a copy of `input` with a number in the slices that `index` names.

    Args:
        input: any tensor with dimensions.
        dim: the dimension that is indexed.
        index: 1-D, of integers.
        value: the number, or a 0-D tensor, which then gets a gradient.

    Raises:
        DTypeError: `index` holds no integers, or the number does not fit the dtype of `input`.
        ShapeError: `value` is a tensor with dimensions.
        IndexingError: an index is out of range.
    """
    dim, index = checked_1d_index("index_fill", input, dim, index)
    value = as_scalar("index_fill", value, input.dtype)
    nowhere = index.new_zeros(input.shape[dim], dtype=bool_)
    # A slice is filled once, be it named twice or not.
    named = Scatter.apply(nowhere, 0, index, filled_like(index, bool_, True))
    return input.masked_fill(named.reshape(-1, *[1] * (input.ndim - 1 - dim)), value)


@validate_call
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return a copy of `input` with the first elements of `source` where the mask holds.

    Args:
        input: any tensor; it is broadcast together with the mask.
        mask: bool.
        source: of the dtype of `input`, with at least as many elements as the mask has True.

    Raises:
        DTypeError: the mask is not bool, or `source` has another dtype than `input`.
        ShapeError: `source` has too few elements.
        IndexingError: the shapes do not broadcast.
    """
    common_backend(input, mask, source)
    if mask.dtype is not bool_:
        raise DTypeError(f"masked_scatter() takes a mask of bool; {mask.dtype.name} was given.")
    input, mask = broadcast_tensors(input, mask)
    (places,) = nonzero(mask.flatten(), as_tuple=True)
    if source.numel() < places.numel():
        raise ShapeError(
            f"masked_scatter() needs an element for each of {places.numel()} place(s); the source "
            f"has {source.numel()}."
        )
    values = source.flatten()[: places.numel()]
    values = check_source("masked_scatter", input, places, values)
    return Scatter.apply(input.flatten(), 0, places, values).reshape(input.shape)


@validate_call
def index_put(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy of `input` with `values` at `input[indices]`.

    Args:
        input: any tensor.
        indices: what `input` is indexed by, such as one tensor of integers for each dimension.
        values: of the dtype of `input`, broadcast to the shape of `input[indices]`.
        accumulate: whether to add the values to what is there, every repetition counted; else
            it is open which of several values for one place remains.

    Raises:
        TypeError: `indices` is no tuple or list.
        DTypeError: `values` has another dtype than `input`.
        IndexingError: an index is out of range.
        ShapeError: `values` does not broadcast.
    """
    if not isinstance(indices, tuple | list):
        raise TypeError(f"index_put() takes its indices as a tuple; {indices!r} was given.")
    places = element_numbers(input)[tuple(indices)]
    write = ScatterAdd if accumulate else Scatter
    spread = check_source("index_put", input, places, values.expand(places.shape)).flatten()
    return write.apply(input.flatten(), 0, places.flatten(), spread).reshape(input.shape)


@validate_call
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy of `input` with elements of `source` at places of the flattened tensor.

    Args:
        input: any tensor, counted row by row.
        index: int64, of any shape; negative from the end.
        source: of the dtype of `input`, with as many elements as `index`.
        accumulate: whether to add to what is there; see `index_put`.

    Raises:
        DTypeError: `index` is not int64, or `source` has another dtype than `input`.
        IndexingError: an index is out of range, or there are not as many elements as indices.
    """
    if index.dtype is not int64:
        raise DTypeError(f"put() takes an index of int64; {index.dtype.name} was given.")
    if index.numel() != source.numel():
        raise IndexingError(
            f"put() takes an element for each index; {source.numel()} were given for "
            f"{index.numel()}."
        )
    places, values = (index.flatten(),), source.flatten()
    return index_put(input.flatten(), places, values, accumulate).reshape(input.shape)


# --- A view of a copy, replaced -----------------------------------------------------------------


def _with_view(name: str, input: Tensor, view: Callable[[Tensor], Tensor], src: Any) -> Tensor:
    """Return a copy of `input` in which the elements of a view of it are those of `src`."""
    places = view(element_numbers(input))
    if src.shape != places.shape:
        raise ShapeError(f"{name}() takes a src of shape {places.shape}; {src.shape} was given.")
    source = check_source(name, input, places, src.to(input.dtype)).reshape(-1)
    flat = Scatter.apply(input.reshape(-1), 0, places.reshape(-1), source)
    return flat.reshape(input.shape)


@validate_call
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return a copy of `input` with `src` in place of `input.select(dim, index)`.

    `src` is converted to the dtype of `input`.

    Raises:
        ShapeError: `src` has another shape than that slice.
        IndexingError: there is no such dimension or index.
    """
    return _with_view("select_scatter", input, lambda x: select(x, dim, index), src)


@validate_call
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Return a copy of `input` with `src` in place of its slice from `start` to `end` along `dim`.

    `src` is converted to the dtype of `input`.

    Raises:
        ShapeError: `src` has another shape than that slice.
        IndexingError: there is no such dimension.
    """
    before = (slice(None),) * existing_dim("slice_scatter", dim, input.shape)
    return _with_view("slice_scatter", input, lambda x: x[(*before, slice(start, end, step))], src)


@validate_call
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy of `input` with `src` in place of `input.diagonal(offset, dim1, dim2)`.

    `src` is converted to the dtype of `input`.

    Raises:
        ShapeError: `src` has another shape than that diagonal.
        IndexingError: a dimension does not exist, or both are the same.
    """
    return _with_view("diagonal_scatter", input, lambda x: diagonal(x, offset, dim1, dim2), src)
