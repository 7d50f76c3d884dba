"""Memory of this machine that is soon there, for the backends that are to be fast."""

from __future__ import annotations

import functools

import numpy as np

from mt_tensor.backends import host
from mt_tensor.backends.quiet import quiet
from mt_tensor.dtypes import DType, Number, bfloat16
from mt_tensor.layout import Layout, row_major
from mt_tensor.strides import Shape
from mt_tensor.tensor_data import TensorData, not_an_array
from mt_tensor.widening import element, stored

MOST_KEPT = 31 * 2**20
"""Bytes of the largest memory that is kept: glibc's limit is 32 MiB."""


@functools.cache
def keep_freed_memory() -> None:
    """Let the C library keep what tensors give back, for the next tensors.

    glibc returns the larger blocks to the system when they are freed, and for the next one asks for
    pages again, which have to be cleared first. It returns none that is smaller than the largest it
    has seen freed, so it is shown a large one. That is never touched, and costs nothing.
    """
    np.empty(MOST_KEPT, np.uint8)


class HostBackend(host.HostBackend):
    """The lesson's, which keeps what tensors give back, and fills memory in fewer steps."""

    def __init__(self) -> None:
        """Be ready to hold tensors."""
        keep_freed_memory()

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
        return TensorData.of(np.asarray(quiet().run(stored, array, dtype), order="C"), out)
    return TensorData.of(quiet().run(array.astype, dtype.numpy, "C"), out)
