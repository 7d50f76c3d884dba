"""How the elements of a view lie in its storage: element type, shape, strides and offset.

A shape, strides and an offset, as in `strides.py`, and an element type together make a layout. A
layout never changes, and most tensors of a program have one of a few. So layouts are remembered,
and tensors of the same layout nearly always share one object. That two are one object is a quick
test; if they are not, their shapes and types are compared.
"""

from __future__ import annotations

import functools

from mt_tensor.core.dtypes import DType
from mt_tensor.core.size import size_from
from mt_tensor.core.strides import Shape, Strides, size_of, strides_from_shape

REMEMBERED = 4096
"""How many layouts are remembered: so many of whole storages, and so many others."""


class Layout:
    """Where the elements of a view lie.

    Attributes:
        dtype: the type of the elements.
        shape: the extent of each dimension.
        sizes: the same as a `Size`, so that asking a tensor for its shape makes none.
        strides: for each dimension, how many elements lie between neighbours; zero repeats an
            element, negative runs backwards.
        offset: where in the storage the element at index (0, 0, ...) lies.
        size: the number of elements of the view.
        row_major: whether the strides are those of `strides_from_shape`. Where they are not, the
            elements may still follow each other without gaps: see `is_contiguous`.
        repeats: whether all strides are 0, so that every index names the same element.
        contiguous: the layout of a new storage of this shape and type: row-major, from offset 0. It
            is this layout itself if that is what it is.
    """

    __slots__ = (
        "contiguous",
        "dtype",
        "offset",
        "repeats",
        "row_major",
        "shape",
        "size",
        "sizes",
        "strides",
    )

    def __init__(
        self,
        dtype: DType,
        shape: Shape,
        strides: Strides | None = None,
        offset: int = 0,
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
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return self.size == 0
            expected *= extent
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
    """Return the layout of these properties; without strides, a row-major one."""
    if strides == _row_major_strides(shape):
        strides = None
    if strides is None and offset == 0:
        return row_major(shape, dtype)
    return Layout(dtype, shape, strides, offset)
