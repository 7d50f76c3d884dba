"""Backends whose elements live in the memory of this machine, as NumPy arrays.

How they hold data is the same for all of them, and is here; they differ in their primitives.
"""

from __future__ import annotations

import functools

import numpy as np

from mt_tensor.core.casting import cast_array, dtype_of, element
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import Array, DType, Number, bfloat16
from mt_tensor.core.errstate import quiet
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape, size_of
from mt_tensor.core.tensor_data import TensorData, not_an_array

MOST_KEPT = 31 * 2**20
"""Bytes of the largest block that is kept: glibc's limit is 32 MiB."""


@functools.cache
def keep_freed_memory() -> None:
    """Let the C library keep the memory of freed tensors for the next ones.

    glibc returns the larger blocks to the system when they are freed, and asks for pages again for
    the next one, which have to be cleared first. It returns none that is smaller than the largest
    block that it has seen freed, so one large block is freed here. It is never touched, and costs
    nothing.
    """
    np.empty(MOST_KEPT, np.uint8)


class HostBackend(TensorBackend):
    """A storage is a writeable 1-D array; NumPy and tensors may share it."""

    def __init__(self) -> None:
        keep_freed_memory()

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new row of memory."""
        size = size_of(shape)
        try:
            return TensorData.in_rows(np.empty(size, dtype.numpy), row_major(shape, dtype))
        except ValueError as error:
            raise not_an_array((size,)) from error

    def from_host(self, array: Array) -> TensorData:
        """Return a view of the array itself, or of a copy if it is none that tensors can be."""
        dtype = dtype_of(array)
        shape, rows = array.shape, np.ascontiguousarray(array, dtype.numpy)  # of this byte order
        own = rows.reshape(shape) if rows.flags.behaved else rows.reshape(shape).copy()
        return TensorData.of(own, row_major(shape, dtype))

    def to_host(self, data: TensorData) -> Array:
        """Return the view's array under a shape of its own, which the caller may change."""
        return data.array.view()

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new contiguous view in which every element is `value`."""
        if not shape:
            number = element(value, dtype) if dtype.rank < 2 or dtype is bfloat16 else value
            array = quiet().run(np.array, number, dtype.numpy)
            return TensorData.of(array, row_major(shape, dtype))
        zero = value.__class__ is int and not value  # unlike 0.0 it has no sign
        try:
            array = (np.zeros if zero else np.empty)(shape, dtype.numpy)
        except ValueError as error:
            raise not_an_array(shape) from error
        if not zero:
            quiet().run(array.fill, element(value, dtype))
        return TensorData.of(array, row_major(shape, dtype))


def copied(source: TensorData, out: Layout) -> TensorData:
    """Return NumPy's own copy of a view, converted."""
    array, dtype = source.array, out.dtype
    if source.layout.dtype is dtype:
        return TensorData.of(array.copy(), out)
    if bfloat16 in (dtype, source.layout.dtype):
        return TensorData.of(np.asarray(quiet().run(cast_array, array, dtype), order="C"), out)
    return TensorData.of(quiet().run(array.astype, dtype.numpy, "C"), out)
