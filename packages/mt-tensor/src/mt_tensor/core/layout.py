"""Layouts: the dtype, shape, strides and offset of a view.

A layout is immutable, and most tensors of a program have one of a few. They are cached, so that
tensors of equal layout nearly always share one object: `is` is a quick test for equality, and
shapes and dtypes are compared only if it fails.
"""

from __future__ import annotations

import functools

from mt_tensor.core.dtypes import DType
from mt_tensor.core.size import size_from
from mt_tensor.core.strides import Shape, Strides, size_of, strides_from_shape

REMEMBERED = 4096
"""How many layouts are cached: contiguous ones, and as many others."""


class Layout:
    """Where the elements of a view lie.

    Attributes:
        dtype: the type of the elements.
        shape: the size of each dimension, as a plain tuple.
        sizes: the shape as a `Size`, which users get.
        strides: for each dimension, the distance between neighbours; zero repeats an element.
        offset: the position of the element at index (0, 0, ...).
        size: the number of elements.
        row_major: whether the strides are those of `strides_from_shape`.
        repeats: whether all strides are 0, so that every index refers to the same element.
        contiguous: the row-major layout of this shape and dtype from offset 0; often this one.
    """

    __slots__ = (
        *("contiguous", "dtype", "offset", "repeats", "row_major"),
        *("shape", "size", "sizes", "strides"),
    )

    def __init__(
        self, dtype: DType, shape: Shape, strides: Strides | None = None, offset: int = 0
    ) -> None:
        """Describe a view; without strides, a row-major one."""
        self.dtype = dtype
        self.shape = shape = tuple(shape)  # no Size, whose items take longer to read
        self.sizes = size_from(shape)
        self.strides = _row_major_strides(shape) if strides is None else strides
        self.offset = offset
        self.size = size_of(shape)
        self.row_major = strides is None
        self.repeats = not any(self.strides)
        self.contiguous: Layout = self if self.row_major and not offset else row_major(shape, dtype)

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        if self.row_major:
            return True
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return self.size == 0
            expected *= size
        return True


_row_major_strides = functools.lru_cache(REMEMBERED)(strides_from_shape)


@functools.lru_cache(REMEMBERED)
def row_major(shape: Shape, dtype: DType) -> Layout:
    """Return the layout of a whole storage: row-major, from offset 0."""
    return Layout(dtype, shape)


@functools.lru_cache(REMEMBERED)
def layout_of(
    dtype: DType, shape: Shape, strides: Strides | None = None, offset: int = 0
) -> Layout:
    """Return the layout with these properties; without strides, a row-major one."""
    if strides == _row_major_strides(shape):
        strides = None
    if strides is None and offset == 0:
        return row_major(shape, dtype)
    return Layout(dtype, shape, strides, offset)
