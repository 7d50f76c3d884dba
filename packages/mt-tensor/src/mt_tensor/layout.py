"""How the elements of a view lie in its storage: element type, shape, strides and offset.

The arithmetic of `strides.py` needs a shape, strides and an offset; with an element type they make
a layout. A layout never changes, and most tensors of a program have one of a few. So layouts are
remembered, and tensors that lie alike hold the same one: that two of them are alike is a single
comparison.
"""

from __future__ import annotations

import functools

from mt_tensor.dtypes import DType
from mt_tensor.size import size_from
from mt_tensor.strides import Shape, Strides, size_of, strides_from_shape

REMEMBERED = 4096
"""How many layouts are remembered, of those in rows and of the others."""


class Layout:
    """Where the elements of a view lie.

    Attributes:
        dtype: the type of the elements.
        shape: the extent of each dimension.
        sizes: the same, as users see it.
        strides: for each dimension, how many elements lie between neighbours; zero repeats an
            element, negative runs backwards.
        offset: where in the storage the element at index (0, 0, ...) lies.
        size: the number of elements of the view.
        row_major: whether the strides are those of elements that follow each other in rows. Where
            they are not, the elements may still do so: see `is_contiguous`.
        from_start: whether it is `row_major` and the offset is 0.
        repeats: whether every index is known to name the same element.
        contiguous: the layout of a new storage of this shape and type, in rows from its start.
    """

    __slots__ = (
        "contiguous",
        "dtype",
        "from_start",
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
        self.shape = shape = tuple(shape)  # and no Size, whose items take longer to read
        self.sizes = size_from(shape)
        self.strides = _row_major_strides(shape) if strides is None else strides
        self.offset = offset
        self.size = size_of(shape)
        self.row_major = strides is None
        self.from_start = strides is None and offset == 0
        self.repeats = not any(self.strides)
        self.contiguous: Layout = self if self.from_start else row_major(shape, dtype)

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
    """Return the layout of a whole storage in rows."""
    return Layout(dtype, shape)


@functools.lru_cache(REMEMBERED)
def layout_of(
    dtype: DType, shape: Shape, strides: Strides | None = None, offset: int = 0
) -> Layout:
    """Return a layout; without strides, or with those of rows, one in rows."""
    if strides == _row_major_strides(shape):
        strides = None
    if strides is None and offset == 0:
        return row_major(shape, dtype)
    return Layout(dtype, shape, strides, offset)
