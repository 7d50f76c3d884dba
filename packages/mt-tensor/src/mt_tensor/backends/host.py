"""Backends whose elements live in the memory of this machine, as NumPy arrays.

How they hold data is one thing, and is here; the next two backends differ in their primitives.
"""

from __future__ import annotations

import numpy as np

from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.quiet import quiet
from mt_tensor.dtypes import Array, DType, Number
from mt_tensor.layout import row_major
from mt_tensor.strides import Shape, size_of
from mt_tensor.tensor_data import TensorData, not_an_array
from mt_tensor.widening import element, element_type


class HostBackend(TensorBackend):
    """A storage is a writeable 1-D array; NumPy and tensors may share it."""

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new row of memory."""
        size = size_of(shape)
        try:
            return TensorData.in_rows(np.empty(size, dtype.numpy), row_major(shape, dtype))
        except ValueError as error:
            raise not_an_array((size,)) from error

    def from_host(self, array: Array) -> TensorData:
        """Return a view of the array itself, or of a copy if it is none that tensors can be."""
        dtype = element_type(array)
        shape, rows = array.shape, np.ascontiguousarray(array, dtype.numpy)  # of this byte order
        own = rows.reshape(shape) if rows.flags.behaved else rows.reshape(shape).copy()
        return TensorData.of(own, row_major(shape, dtype))

    def to_host(self, data: TensorData) -> Array:
        """Return the view's array under a shape of its own, which the caller may change."""
        return data.array.view()

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new row of memory, filled."""
        out = self.empty(shape, dtype)
        quiet().run(out.storage.fill, element(value, dtype))
        return out
