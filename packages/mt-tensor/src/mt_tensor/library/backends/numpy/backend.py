"""The `numpy` backend that users get: what the lesson's computes, in less time.

Formulas are called in shorter ways (`calls.py`) and become NumPy code (`source.py`), which goes
through large arrays block by block. Changes in place of several rows are one pass (`updates.py`),
slices are read whole, and some named operations have kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_tensor.backends.kernels import register_kernels, registered_kernel
from mt_tensor.backends.numpy import backend
from mt_tensor.backends.numpy.calls import new_view
from mt_tensor.backends.numpy.functions import function_of
from mt_tensor.layout import Layout, row_major
from mt_tensor.library.backends.host import HostBackend, copied
from mt_tensor.library.backends.numpy.calls import running
from mt_tensor.library.backends.numpy.functions import FUNCTIONS
from mt_tensor.tensor_data import TensorData


class NumpyOps(HostBackend, backend.NumpyOps):
    """The lesson's backend, with shorter ways for what programs do most."""

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Run one function of NumPy, or the formula's source, on whole arrays or blocks of them."""
        return running(formula, function_of(formula, FUNCTIONS))

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Take whole slices along an axis if the index names such."""
        layout = index.layout
        shape, start, step = layout.shape, layout.offset, layout.strides[dim]
        if not layout.size or layout.strides.count(0) + (step != 0) < len(shape):
            return super().gather(source, dim, index)
        if step > 0:
            numbers = index.storage[start : start + shape[dim] * step : step]
        else:
            numbers = index.like((shape[dim],), (step,), start).array
        slices, extents = source.array, source.layout.shape
        if shape[:dim] != extents[:dim] or shape[dim + 1 :] != extents[dim + 1 :]:
            reached = [slice(extent) for extent in shape]
            reached[dim] = slice(None)
            slices = slices[tuple(reached)]
        return new_view(slices.take(numbers, dim), row_major(shape, source.dtype))

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert; what is new is made and filled in one step."""
        return copied(source, out) if isinstance(out, Layout) else super().copy(source, out)

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Return NumPy's own concatenation."""
        result = np.concatenate([part.array for part in parts], dim)
        return new_view(result, row_major(result.shape, parts[0].dtype))

    def kernel(self, name: str) -> Any:
        """Return a kernel for the name "numpy", which subclasses of other names have as well."""
        return registered_kernel(NumpyOps.name, name)


register_kernels(NumpyOps.name, "mt_tensor.library.backends.numpy.kernels")
