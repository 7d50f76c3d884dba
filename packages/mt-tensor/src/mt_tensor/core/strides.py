"""Arithmetic on shapes, strides and positions.

The elements of a tensor are stored in one-dimensional memory, its storage; the element at `index`
is at position `offset + sum(index[d] * strides[d])`. Transposing, slicing, broadcasting and
flipping only change shape, strides and offset, and copy no element.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from mt_tensor.core.errors import IndexingError

Shape = tuple[int, ...]
Strides = tuple[int, ...]
Index = Sequence[int]


def size_of(shape: Iterable[int]) -> int:
    """Return the number of elements of a shape; 1 for the empty shape."""
    return math.prod(shape)


def strides_from_shape(shape: Sequence[int]) -> Strides:
    """Return the strides of a contiguous (row-major) layout: the last dimension varies fastest.

    >>> strides_from_shape((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size or 1
    return tuple(strides[::-1])


def index_to_position(index: Index, strides: Strides, offset: int = 0) -> int:
    """Return the position in the storage of the element at `index`.

    >>> index_to_position((1, 2), (3, 1))
    5
    """
    position = offset
    for i, stride in zip(index, strides, strict=True):
        position += i * stride
    return position


def shape_broadcast(first: Sequence[int], second: Sequence[int]) -> Shape:
    """Return the shape that two shapes broadcast to.

    Shapes are aligned at their last dimension; missing dimensions and sizes of 1 are expanded.

    >>> shape_broadcast((5, 1), (3,))
    (5, 3)

    Raises:
        IndexingError: two sizes differ and neither is 1.
    """
    if not first or not second:
        return tuple(first or second)
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    result = list(longer)
    ndim = len(longer)
    for d, size in enumerate(shorter, ndim - len(shorter)):
        if result[d] == 1:
            result[d] = size
        elif size not in (result[d], 1):
            raise IndexingError(
                f"shapes {tuple(first)} and {tuple(second)} do not broadcast: sizes "
                f"{first[d - ndim]} and {second[d - ndim]} in dimension {d - ndim} must be equal, "
                "or one of them 1."
            )
    return tuple(result)


def reduce_shape(shape: Shape, dims: Sequence[int], keepdim: bool) -> Shape:
    """Return the shape after a reduction over `dims`, which are kept with size 1 or dropped.

    >>> reduce_shape((2, 3, 4), (0, 2), True)
    (1, 3, 1)
    """
    if keepdim:
        return tuple([1 if d in dims else size for d, size in enumerate(shape)])
    return tuple([size for d, size in enumerate(shape) if d not in dims])


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer or an integer array of one element, and not a bool."""
    if isinstance(value, bool):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def normalize_dim(dim: int, ndim: int) -> int:
    """Convert a dimension, possibly negative, to one counted from the front.

    Raises:
        IndexingError: the dimension is out of range for `ndim` dimensions.
        TypeError: it is not an integer.
    """
    if dim.__class__ is int and -ndim <= dim < ndim:
        return dim if dim >= 0 else dim + ndim
    if not is_integer(dim):
        raise TypeError(f"a dimension must be an integer; {dim!r} was given.")
    dim = operator.index(dim)
    limit = max(ndim, 1)  # as in torch, a 0-dimensional tensor has dimensions 0 and -1
    if not -limit <= dim < limit:
        raise IndexingError(
            f"dimension {dim} is out of range for a tensor of {ndim} dimension(s); "
            f"give a number from {-limit} to {limit - 1}."
        )
    return dim % limit


def normalize_dims(dims: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """Convert dimensions to ones counted from the front; None means all of them.

    Raises:
        IndexingError: a dimension is out of range or repeated.
        TypeError: a dimension is not an integer.
    """
    if dims is None:
        return tuple(range(ndim))
    if dims.__class__ is int:
        dim = normalize_dim(dims, ndim)
        return (dim,) if ndim else ()
    given = tuple(dims) if isinstance(dims, Iterable) else (dims,)
    normalized = tuple(normalize_dim(dim, ndim) for dim in given)
    if len(set(normalized)) != len(normalized):
        raise IndexingError(f"dimensions {given} are not distinct.")
    return normalized if ndim else ()


def overlaps(shape: Shape, strides: Strides) -> bool:
    """Return whether two indices of a view may refer to the same element.

    In order of increasing strides, each stride must exceed the span of the dimensions before it.
    That holds for slices and permutations, but not for expanded dimensions or overlapping windows.
    """
    span = 0
    for stride, size in sorted(zip(map(abs, strides), shape, strict=True)):
        if size > 1:
            if stride <= span:
                return True
            span += stride * (size - 1)
    return False
