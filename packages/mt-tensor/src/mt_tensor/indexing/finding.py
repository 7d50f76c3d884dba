"""Finding elements, and selecting them by masks and positions.

How many elements are not zero decides the shape of what comes next: a backend with a device waits
for that number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.arguments import as_shape
from mt_tensor.core.dtypes import bool_, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.gathering import gather, in_range
from mt_tensor.core.named import fused
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import shape_broadcast, size_of, strides_from_shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, ShapeError


@fused("nonzero")
def _coordinates(x: Tensor) -> Tensor:
    """Return a row for each dimension, one for none, with where elements are that are not zero."""
    array = x._numbers()
    return x._uploaded(np.array((array if array.ndim else array.reshape(1)).nonzero()))


def places_of(x: Tensor) -> list[Tensor]:
    """Return for each dimension where elements are that are not zero; for none as if for one.

    Args:
        x: a tensor that requires no gradient.
    """
    found = _coordinates(x)
    data, (dims, count) = found._tensor, found._tensor.layout.shape
    step, stride = data.strides
    return [
        found._with(data.like((count,), (stride,), data.offset + d * step)) for d in range(dims)
    ]


@validate_call
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """Return where elements are not zero, in row-major order; nan is not zero.

    Args:
        input: any tensor.
        as_tuple: whether to return one tensor for each dimension, which together can index.

    Returns:
        int64 of shape (n, input.ndim); or a tuple of input.ndim tensors of shape (n,), of one for a
        0-dimensional tensor.
    """
    return tuple(places_of(input.detach())) if as_tuple else argwhere(input)


@validate_call
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements under a mask, as a 1-D copy; both are broadcast together.

    Raises:
        DTypeError: the mask is not bool.
        IndexingError: the shapes do not broadcast.
    """
    if mask.dtype is not bool_:
        raise DTypeError(
            f"masked_select() takes a mask of bool; {mask.dtype.name} was given. Compare first, "
            "as in x > 0."
        )
    shape = shape_broadcast(input.shape, mask.shape)
    return input.expand(shape)[mask.expand(shape)]


@validate_call
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return elements at positions along `dim`, as `argmax` or `argsort` give them.

    Args:
        input: any tensor.
        indices: int64; broadcast with `input` in all dimensions but `dim`.
        dim: the dimension; None to count in the flattened tensor.

    Raises:
        DTypeError: `indices` is not int64.
        ShapeError: `indices` has another number of dimensions than `input`, or that has none.
        IndexingError: a position is out of range, or the shapes do not broadcast.
    """
    common_backend(input, indices)
    if indices.dtype is not int64:
        raise DTypeError(
            f"take_along_dim() takes indices of int64; {indices.dtype.name} was given."
        )
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    if input.ndim != indices.ndim:
        raise ShapeError(
            "take_along_dim() needs indices of as many dimensions as the tensor; shapes "
            f"{indices.shape} and {input.shape} were given."
        )
    d = existing_dim("take_along_dim", dim, input.shape)
    rest = shape_broadcast(
        (*input.shape[:d], 1, *input.shape[d + 1 :]),
        (*indices.shape[:d], 1, *indices.shape[d + 1 :]),
    )
    source = input.expand(*rest[:d], input.shape[d], *rest[d + 1 :])
    return gather(source, d, indices.expand(*rest[:d], indices.shape[d], *rest[d + 1 :]))


@validate_call
def take(input: Tensor, index: Tensor) -> Tensor:
    """Return the elements at places of the flattened tensor, with the shape of `index`.

    Args:
        input: any tensor, read row by row.
        index: int64, of any shape; negative from the end.

    Raises:
        DTypeError: `index` is not int64.
        IndexingError: an index is out of range.
    """
    if index.dtype is not int64:
        raise DTypeError(f"take() takes an index of int64; {index.dtype.name} was given.")
    return input.reshape(-1)[index]


@validate_call
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of the elements that are not zero, one a row."""
    return _coordinates(input.detach())[: input.ndim].T.contiguous()


@validate_call
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Return the index for each dimension of what stands at places of the flattened tensor.

    Args:
        indices: integers, of any shape, from 0 on.
        shape: that of the tensor the places are in.

    Returns:
        For each dimension an int64 tensor of the shape of `indices`; together they can index.

    Raises:
        DTypeError: `indices` holds no integers.
        ShapeError: a size is negative.
        IndexingError: an index is out of range.
    """
    if indices.dtype.kind != "integer":
        raise DTypeError(
            f"unravel_index() takes indices that are integers; {indices.dtype.name} was given."
        )
    sizes = as_shape((shape,))
    where = ("unravel_index()", f"a tensor of shape {sizes}")
    places = in_range(indices, size_of(sizes), where)
    steps = zip(strides_from_shape(sizes), sizes, strict=True)
    return tuple(places // max(step, 1) % max(size, 1) for step, size in steps)


@validate_call
def where(
    condition: Tensor, input: Tensor | float | None = None, other: Tensor | float | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return `input` where the condition holds, and `other` elsewhere, broadcast together.

    Of a condition alone, return where it holds, as `nonzero(condition, as_tuple=True)` does.

    Raises:
        TypeError: the condition is no tensor.
        DTypeError: it is not bool.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return elementwise("where", condition, input, other)
