"""Copies with some elements replaced: slices, masked elements, diagonals, arbitrary indices.

All are composed of `scatter`, which is differentiable with respect to `input` and `src`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mt_tensor.checks import check_mask, existing_dim, validate_call
from mt_tensor.core.dtypes import Number, bool_, int64
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import normalize_dim
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
from mt_tensor.indexing.slices import along, checked_1d_index, flat_indices
from mt_tensor.movement.diagonals import diagonal
from mt_tensor.movement.rearranging import broadcast_tensors
from mt_tensor.movement.turning import select
from mt_tensor.pointwise.choosing import as_scalar


@validate_call
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a copy of `input` in which slice `i` of `source` replaces slice `index[i]`.

    For repeated indices, it is undefined which slice is stored.

    Args:
        input: any tensor with dimensions.
        dim: the dimension to index.
        index: 1-D, integers.
        source: a tensor of the dtype and shape of `input`, but as long as `index` along `dim`.

    Raises:
        DTypeError: `index` is not an integer tensor, or the dtype of `source` differs.
        IndexingError: `dim` or an index is out of range, `index` is not 1-D, `input` is 0-D, or
            `source` has another shape.
    """
    dim, index = checked_slices("index_copy", input, dim, index, source)
    full_index = along(index, dim, input.shape)
    source = check_source("index_copy", input, full_index, source)
    return Scatter.apply(input, dim, full_index, source)


@validate_call
def index_fill(input: Tensor, dim: int, index: Tensor, value: Number | Tensor) -> Tensor:
    """Return a copy of `input` with the indexed slices filled with a number.

    Args:
        input: any tensor with dimensions.
        dim: the dimension to index.
        index: 1-D, integers; negative ones count from the end.
        value: a number or a 0-D tensor, which may require grad.

    Raises:
        DTypeError: `index` is not an integer tensor, or `value` is out of the range of the dtype.
        ShapeError: `value` is a tensor with dimensions.
        IndexingError: `dim` or an index is out of range, `index` is not 1-D, or `input` is 0-D.
        TypeError: `value` is neither a number nor a tensor.
    """
    if input.ndim and index.dtype.kind == "integer":
        index = index.where(index >= 0, index + input.shape[normalize_dim(dim, input.ndim)])
    dim, index = checked_1d_index("index_fill", input, dim, index)
    value = as_scalar("index_fill", value, input.dtype)
    # A mask, so that `value` gets the gradient of a repeated index only once.
    mask = index.new_zeros(input.shape[dim], dtype=bool_)
    mask = Scatter.apply(mask, 0, index, filled_like(index, bool_, True))
    return input.masked_fill(mask.reshape(-1, *[1] * (input.ndim - 1 - dim)), value)


@validate_call
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return a copy of `input` with consecutive elements of `source` where the mask is True.

    Args:
        input: any tensor; broadcast with the mask.
        mask: bool.
        source: a tensor of the dtype of `input`, with at least one element for each True.

    Raises:
        DTypeError: the mask is not bool, or the dtypes of `source` and `input` differ.
        ShapeError: `source` has too few elements.
        IndexingError: the shapes do not broadcast.
    """
    common_backend(input, mask, source)
    check_mask("masked_scatter", mask)
    input, mask = broadcast_tensors(input, mask)
    (index,) = nonzero(mask.flatten(), as_tuple=True)
    if source.numel() < index.numel():
        raise ShapeError(
            f"masked_scatter() needs one element of source for each of the {index.numel()} True "
            f"elements of the mask; the source has {source.numel()}."
        )
    values = check_source("masked_scatter", input, index, source.flatten()[: index.numel()])
    return Scatter.apply(input.flatten(), 0, index, values).reshape(input.shape)


@validate_call
def index_put(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy of `input` with `values` stored at `input[indices]`.

    Args:
        input: any tensor.
        indices: the index, such as one tensor of integers for each dimension.
        values: a tensor of the dtype of `input`, broadcast to the shape of `input[indices]`.
        accumulate: whether to add the values to the elements, once for every repetition of an
            index. Otherwise it is undefined which value is stored for a repeated index.

    Raises:
        TypeError: `indices` is not a tuple or list.
        DTypeError: the dtypes of `values` and `input` differ.
        IndexingError: an index is out of range, or is neither integer nor bool.
        ShapeError: `values` does not broadcast to the shape of `input[indices]`.
    """
    if not isinstance(indices, tuple | list):
        raise TypeError(f"index_put() takes a tuple or list of indices; {indices!r} was given.")
    flat_index = flat_indices(input)[tuple(indices)]
    write = ScatterAdd if accumulate else Scatter
    source = check_source("index_put", input, flat_index, values.expand(flat_index.shape))
    out = write.apply(input.flatten(), 0, flat_index.flatten(), source.flatten())
    return out.reshape(input.shape)


@validate_call
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy of `input` with elements of `source` stored at flat indices.

    Args:
        input: any tensor, indexed in row-major order.
        index: int64, of any shape; negative indices count from the end.
        source: a tensor of the dtype of `input`, with as many elements as `index`.
        accumulate: whether to add to the elements; see `index_put`.

    Raises:
        DTypeError: `index` is not int64, or the dtype of `source` differs.
        IndexingError: an index is out of range, or the numbers of elements and indices differ.
    """
    if index.dtype is not int64:
        raise DTypeError(f"put() takes an index of int64; {index.dtype.name} was given.")
    if index.numel() != source.numel():
        raise IndexingError(
            f"put() takes an element for each index; {source.numel()} were given for "
            f"{index.numel()}."
        )
    values = source.flatten()
    return index_put(input.flatten(), (index.flatten(),), values, accumulate).reshape(input.shape)


# --- Copies with a view replaced ----------------------------------------------------------------


def _with_view(name: str, input: Tensor, view: Callable[[Tensor], Tensor], src: Any) -> Tensor:
    """Return a copy of `input` in which `src` replaces a view."""
    index = view(flat_indices(input))
    if src.shape != index.shape:
        raise ShapeError(f"{name}() takes a src of shape {index.shape}; {src.shape} was given.")
    source = check_source(name, input, index, src.to(input.dtype)).reshape(-1)
    flat = Scatter.apply(input.reshape(-1), 0, index.reshape(-1), source)
    return flat.reshape(input.shape)


@validate_call
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return a copy of `input` in which `src` replaces `input.select(dim, index)`.

    `src` is converted to the dtype of `input`.

    Raises:
        ShapeError: the shape of `src` is not that of the slice.
        IndexingError: `dim` or `index` is out of range.
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
    """Return a copy of `input` in which `src` replaces the slice `start:end:step` along `dim`.

    `src` is converted to the dtype of `input`.

    Raises:
        ShapeError: the shape of `src` is not that of the slice.
        IndexingError: `dim` is out of range, or `input` is 0-D.
        DomainError: `step` is 0.
    """
    before = (slice(None),) * existing_dim("slice_scatter", dim, input.shape)
    return _with_view("slice_scatter", input, lambda x: x[(*before, slice(start, end, step))], src)


@validate_call
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy of `input` in which `src` replaces `input.diagonal(offset, dim1, dim2)`.

    `src` is converted to the dtype of `input`.

    Raises:
        ShapeError: the shape of `src` is not that of the diagonal.
        IndexingError: a dimension is out of range, or both are the same.
    """
    return _with_view("diagonal_scatter", input, lambda x: diagonal(x, offset, dim1, dim2), src)
