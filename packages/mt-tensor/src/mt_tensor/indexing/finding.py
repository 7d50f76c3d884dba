"""Find nonzero elements, and select elements by masks and indices.

The number of nonzero elements determines the shape of a result, so a backend with a device
synchronizes to read it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt_tensor.checks import check_mask, existing_dim, validate_call
from mt_tensor.core.arguments import as_shape
from mt_tensor.core.dtypes import int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.gathering import Gather, checked_index, in_range
from mt_tensor.core.named import fused
from mt_tensor.core.strides import shape_broadcast, size_of, strides_from_shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, ShapeError


@fused("nonzero")
def _nonzero(x: Tensor) -> Tensor:
    """Return the indices of nonzero elements, one row per dimension; one row for a 0-D tensor."""
    elements = x._numbers()
    return x._uploaded(np.array(elements.reshape(elements.shape or 1).nonzero()))


def nonzero_indices(x: Tensor) -> list[Tensor]:
    """Return the indices of nonzero elements, one tensor per dimension; one for a 0-D tensor.

    Args:
        x: a tensor that does not require grad.
    """
    found = _nonzero(x)
    data, (dims, count) = found._tensor, found._tensor.layout.shape
    step, stride = data.strides
    return [
        found._with(data.like((count,), (stride,), data.offset + d * step)) for d in range(dims)
    ]


@validate_call
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """Return the indices of nonzero elements, in row-major order; nan is nonzero.

    Args:
        input: any tensor.
        as_tuple: whether to return one tensor per dimension, as a tuple that can be an index.

    Returns:
        An int64 tensor of shape (n, `input.ndim`); or a tuple with a tensor of shape (n,) for each
        dimension, with one for a 0-D tensor.
    """
    return tuple(nonzero_indices(input.detach())) if as_tuple else argwhere(input)


@validate_call
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where a mask is True, as a 1-D copy; both are broadcast.

    Raises:
        DTypeError: the mask is not bool.
        IndexingError: the shapes do not broadcast.
    """
    check_mask("masked_select", mask)
    shape = shape_broadcast(input.shape, mask.shape)
    return input.expand(shape)[mask.expand(shape)]


@validate_call
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return elements at indices along `dim`, such as those of `argmax` or `argsort`.

    The result has the shape of `indices`, broadcast.

    Args:
        input: any tensor.
        indices: int64 or int32; broadcast with `input` in all dimensions but `dim`.
        dim: the dimension; None to index the flattened tensor with the flattened indices.

    Raises:
        DTypeError: `indices` is neither int64 nor int32.
        ShapeError: `input` and `indices` have different numbers of dimensions.
        IndexingError: `dim` or an index is out of range, the shapes do not broadcast, or `input` is
            0-D.
    """
    if dim is None:
        return _gathered(input.reshape(-1), 0, indices.reshape(-1))
    if input.ndim != indices.ndim:
        raise ShapeError(
            "take_along_dim() needs indices of as many dimensions as the tensor; shapes "
            f"{indices.shape} and {input.shape} were given."
        )
    d = existing_dim("take_along_dim", dim, input.shape)
    before = shape_broadcast(input.shape[:d], indices.shape[:d])
    after = shape_broadcast(input.shape[d + 1 :], indices.shape[d + 1 :])
    source = input.expand(*before, input.shape[d], *after)
    return _gathered(source, d, indices.expand(*before, indices.shape[d], *after))


def _gathered(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return elements at indices along `dim`, with the name of `take_along_dim` in errors."""
    dim, index = checked_index("take_along_dim", x, dim, index)
    return Gather.apply(x, index, dim)


@validate_call
def take(input: Tensor, index: Tensor) -> Tensor:
    """Return elements at flat indices, with the shape of `index`.

    Args:
        input: any tensor, indexed in row-major order.
        index: int64, of any shape; negative indices count from the end.

    Raises:
        DTypeError: `index` is not int64.
        IndexingError: an index is out of range.
    """
    if index.dtype is not int64:
        raise DTypeError(f"take() takes an index of int64; {index.dtype.name} was given.")
    return input.reshape(-1)[index]


@validate_call
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of nonzero elements: int64 of shape (n, `input.ndim`), as `nonzero`."""
    return _nonzero(input.detach())[: input.ndim].T.contiguous()


@validate_call
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Convert flat indices to one index per dimension.

    Args:
        indices: non-negative integers, of any shape.
        shape: the shape of the tensor to index.

    Returns:
        One int64 tensor of the shape of `indices` per dimension, as a tuple that can be an index.

    Raises:
        DTypeError: `indices` is not an integer tensor.
        ShapeError: a size is negative.
        IndexingError: an index is out of range.
        TypeError: a size is not an integer.
    """
    if indices.dtype.kind != "integer":
        raise DTypeError(f"unravel_index() takes integer indices; {indices.dtype.name} was given.")
    sizes = as_shape((shape,))
    where = ("unravel_index()", f"a tensor of shape {sizes}")
    flat = in_range(indices, size_of(sizes), where)
    steps = zip(strides_from_shape(sizes), sizes, strict=True)
    return tuple(flat // max(step, 1) % max(size, 1) for step, size in steps)


@validate_call
def where(
    condition: Tensor, input: Tensor | float | None = None, other: Tensor | float | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return `input` where the condition is True, and `other` elsewhere; all are broadcast.

    With the condition alone, return `nonzero(condition, as_tuple=True)`.

    Raises:
        TypeError: the condition is not a tensor, or only one of `input` and `other` was given.
        DTypeError: `input` and `other` were given, and the condition is not bool.
        IndexingError: the shapes do not broadcast.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return elementwise("where", condition, input, other)
