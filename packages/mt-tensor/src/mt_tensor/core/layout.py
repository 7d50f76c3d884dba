"""Layouts: the dtype, shape, strides and offset of a view.

Movement operations are arithmetic on layouts, and never reach a backend. Layouts are immutable and
cached, so that views of equal layout nearly always share one object: comparing them with `is` is
fast, and shapes and dtypes are compared only if it fails.
"""

from __future__ import annotations

import functools
from sys import maxsize

from mt_tensor.core.dtypes import DType
from mt_tensor.core.errors import IndexingError, ShapeError
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.strides import (
    Shape,
    Strides,
    index_to_position,
    size_of,
    strides_from_shape,
)

CACHE_SIZE = 4096
"""The number of cached layouts: this many contiguous ones, and as many others."""


class Layout:
    """The memory layout of a view.

    Attributes:
        dtype: the dtype of the elements.
        shape: the size of each dimension, as a plain tuple.
        sizes: the shape as an `mt_tensor.Size`, for users.
        strides: for each dimension, the distance between neighbors; zero repeats an element.
        strides_in_bytes: the strides in bytes, as NumPy counts them.
        offset: the position of the element at index (0, 0, ...).
        size: the number of elements.
        row_major: whether the strides are those of `strides_from_shape`.
        repeats: whether all strides are 0, so that every index refers to the same element.
        contiguous: the row-major layout of this shape and dtype at offset 0; possibly this layout.
    """

    __slots__ = (
        *("contiguous", "dtype", "offset", "repeats", "row_major"),
        *("shape", "size", "sizes", "strides", "strides_in_bytes"),
    )

    def __init__(
        self, dtype: DType, shape: Shape, strides: Strides | None = None, offset: int = 0
    ) -> None:
        """Create a layout; without strides, a row-major one."""
        self.dtype = dtype
        self.shape = shape = tuple(shape)  # items of a Size are slower to read
        self.sizes: Shape = EXTENSIONS.get("shape for users", tuple)(shape)
        self.strides = _row_major_strides(shape) if strides is None else strides
        self.strides_in_bytes = tuple([min(s * dtype.itemsize, maxsize) for s in self.strides])
        self.offset = offset
        self.size = size_of(shape)
        self.row_major = strides is None
        self.repeats = not any(self.strides)
        self.contiguous: Layout = self if self.row_major and not offset else row_major(shape, dtype)

    def is_contiguous(self) -> bool:
        """Return whether the elements are in row-major order without gaps."""
        if self.row_major:
            return True
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return self.size == 0
            expected *= size
        return True

    # --- Movement -------------------------------------------------------------------------------

    def like(self, shape: Shape, strides: Strides, offset: int) -> Layout:
        """Return another layout of the same dtype."""
        return layout_of(self.dtype, shape, strides, offset)

    def permuted(self, order: tuple[int, ...]) -> Layout:
        """Permute the dimensions.

        Raises:
            IndexingError: `order` is not a permutation of the dimensions.
        """
        shape, strides = self.shape, self.strides
        if sorted(order) != list(range(len(shape))):
            raise IndexingError(
                f"order {order} is not a permutation of the {len(shape)} dimension(s)."
            )
        return self.like(
            tuple([shape[d] for d in order]), tuple([strides[d] for d in order]), self.offset
        )

    def expanded(self, shape: Shape) -> Layout:
        """Expand to `shape`: new dimensions and sizes of 1 get stride 0.

        Raises:
            ShapeError: a size other than 1 differs.
        """
        if shape == self.shape:
            return self
        new = len(shape) - len(self.shape)
        strides = [0] * len(shape)
        fits = new >= 0
        for d, size in enumerate(self.shape if fits else (), new):
            if size == shape[d]:
                strides[d] = self.strides[d - new]
            elif size != 1:
                fits = False
        if not fits:
            raise ShapeError(
                f"shape {self.shape} cannot be expanded to {shape}: only sizes of 1 can change."
            )
        return self.like(shape, tuple(strides), self.offset)

    def viewed(self, shape: Shape) -> Layout | None:
        """Return the layout of the same elements in another shape, or None if that needs a copy.

        Groups of old and new dimensions with the same number of elements are matched; the old
        dimensions of a group must be evenly spaced in memory.
        """
        if self.is_contiguous():
            return layout_of(self.dtype, shape, None, self.offset)
        runs: list[list[int]] = []  # [size, stride] of dimensions merged where evenly spaced
        for size, stride in zip(self.shape, self.strides, strict=True):
            if size == 1:
                continue
            if runs and runs[-1][1] == size * stride:
                runs[-1] = [runs[-1][0] * size, stride]
            else:
                runs.append([size, stride])
        strides: list[int] = []
        rest, stride = runs.pop() if runs else (1, 1)
        for size in reversed(shape):
            if size != 1 and rest == 1 and runs:
                rest, stride = runs.pop()
            if rest % size:
                return None
            strides.append(stride)
            stride *= size
            rest //= size
        return self.like(shape, tuple(reversed(strides)), self.offset)

    def sliced(self, starts: Shape, steps: tuple[int, ...], lengths: Shape) -> Layout:
        """Slice: `lengths[d]` elements along each dimension, from `starts[d]`, `steps[d]` apart."""
        offset = self.offset
        if 0 not in lengths:
            offset = index_to_position(starts, self.strides, self.offset)
        strides = tuple([stride * step for stride, step in zip(self.strides, steps, strict=True)])
        return self.like(lengths, strides, offset)


_row_major_strides = functools.lru_cache(CACHE_SIZE)(strides_from_shape)


@functools.lru_cache(CACHE_SIZE)
def row_major(shape: Shape, dtype: DType) -> Layout:
    """Return the row-major layout at offset 0."""
    return Layout(dtype, shape)


@functools.lru_cache(CACHE_SIZE)
def layout_of(
    dtype: DType, shape: Shape, strides: Strides | None = None, offset: int = 0
) -> Layout:
    """Return the layout with these properties; without strides, a row-major one."""
    if strides == _row_major_strides(shape):
        strides = None
    if strides is None and offset == 0:
        return row_major(shape, dtype)
    return Layout(dtype, shape, strides, offset)
