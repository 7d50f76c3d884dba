"""The base class of backends that store elements in host memory, as NumPy arrays."""

from __future__ import annotations

import contextvars
import functools

import numpy as np

from mt_tensor.core.casting import cast_array, dtype_of, element
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import Array, DType, Number, bfloat16
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor_data import TensorData, not_an_array

_context = contextvars.copy_context()
_context.run(np.seterr, all="ignore")

no_warnings = _context.copy
"""`no_warnings().run(function, ...)` calls a function without NumPy's floating-point warnings, with
a twentieth of the overhead of `with np.errstate(all="ignore")`."""

run_without_warnings = _context.run
"""`run_without_warnings(function, ...)` is faster still, since all calls share one context. It
raises RuntimeError while another call is active, in another thread or an outer frame."""

LARGEST_KEPT = 31 * 2**20
"""Size in bytes of the largest freed block to keep; glibc's limit is 32 MiB."""


@functools.cache
def keep_freed_memory() -> None:
    """Make the C library keep the memory of freed tensors for reuse.

    glibc returns large blocks to the system, and the system clears the pages of new ones. It keeps
    blocks up to the size of the largest mapped block freed so far, so free one without touching it.
    """
    np.empty(LARGEST_KEPT, np.uint8)


class HostBackend(TensorBackend):
    """A backend whose storages are writeable 1-D arrays, which NumPy and tensors may share."""

    def __init__(self) -> None:
        keep_freed_memory()

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Allocate an array."""
        layout = row_major(shape, dtype)
        try:
            return TensorData.of_storage(np.empty(layout.size, dtype.numpy), layout)
        except ValueError as error:
            raise not_an_array((layout.size,)) from error

    def from_host(self, array: Array) -> TensorData:
        """Return a view of the array, or of a copy if it is not contiguous and writeable."""
        dtype, shape = dtype_of(array), array.shape
        if array.dtype is not dtype.numpy or not array.flags.carray:  # a copy in native byte order
            array = np.array(array, dtype.numpy, order="C")
        return TensorData.of(array, row_major(shape, dtype))

    def to_host(self, data: TensorData) -> Array:
        """Return a new view of the array, whose shape the caller may change."""
        return data.array.view()

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new contiguous view in which every element is `value`."""
        if not shape:
            number = element(value, dtype) if dtype.rank < 2 or dtype is bfloat16 else value
            array = no_warnings().run(np.array, number, dtype.numpy)
            return TensorData.of(array, row_major(shape, dtype))
        zero = value.__class__ is int and not value  # `np.zeros` cannot store -0.0
        try:
            array = (np.zeros if zero else np.empty)(shape, dtype.numpy)
        except ValueError as error:
            raise not_an_array(shape) from error
        if not zero:
            no_warnings().run(array.fill, element(value, dtype))
        return TensorData.of(array, row_major(shape, dtype))


def copied(source: TensorData, out: Layout) -> TensorData:
    """Copy a view with NumPy, converting it."""
    array, dtype = source.array, out.dtype
    if source.layout.dtype is dtype:
        return TensorData.of(array.copy(), out)
    if bfloat16 in (dtype, source.layout.dtype):
        cast = no_warnings().run(cast_array, array, dtype)
        return TensorData.of(np.asarray(cast, order="C"), out)
    return TensorData.of(no_warnings().run(array.astype, dtype.numpy, "C"), out)
