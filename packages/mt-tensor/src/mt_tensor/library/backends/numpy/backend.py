"""The `numpy` backend that users get: what the lesson's computes, in less time.

Formulas become NumPy code (`source.py`), which goes through large arrays block by block. Changes in
place of several rows are one pass (`updates.py`), slices are read whole, and some named operations
have kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_tensor.backends.kernels import register_kernels, registered_kernel
from mt_tensor.backends.numpy import backend, calls
from mt_tensor.backends.numpy.backend import new_view
from mt_tensor.backends.numpy.functions import function_of
from mt_tensor.dtypes import Array, DType, float16, float32
from mt_tensor.layout import Layout
from mt_tensor.library.backends.host import HostBackend, copied
from mt_tensor.library.backends.numpy.functions import FUNCTIONS
from mt_tensor.tensor_data import TensorData


def _in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays of float16 and bool: all its steps are those of float32."""

    def of_halves(*arrays: Array) -> Any:
        return function(*[a if a.dtype == np.bool_ else a.astype(np.float32) for a in arrays])

    return of_halves


@functools.cache
def on_arrays(formula: Formula, dtype: DType) -> Callable[..., Any]:
    """Return a formula as a function of arrays, all of whose results are new.

    Args:
        formula: what to compute.
        dtype: the type that it computes in; arguments may be of bool as well.
    """
    from mt_tensor.library.backends.numpy.source import numpy_function  # when first needed only

    if dtype is float16:
        return _in_float32(numpy_function(formula, FUNCTIONS, float32.numpy))
    return numpy_function(formula, FUNCTIONS, dtype.numpy)


@functools.cache
def in_blocks(formula: Formula) -> Callable[..., bool]:
    """Return the function `update(out, inputs)` that changes views block by block, if it can."""
    from mt_tensor.library.backends.numpy.updates import update  # when first needed only

    return functools.partial(update, formula)


def running(formula: Formula, function: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the function `run(out, *inputs)` of a formula; see `TensorBackend.elementwise`.

    Args:
        formula: what to compute.
        function: what computes it, and is called like a ufunc; None if there is none.
    """
    lift, update = functools.partial(on_arrays, formula), functools.partial(in_blocks, formula)
    return calls.running(formula, function, lift, update)


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
        return new_view(slices.take(numbers, dim), shape, source.dtype)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert; what is new is made and filled in one step."""
        return copied(source, out) if isinstance(out, Layout) else super().copy(source, out)

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Return NumPy's own concatenation."""
        result = np.concatenate([part.array for part in parts], dim)
        return new_view(result, result.shape, parts[0].dtype)

    def kernel(self, name: str) -> Any:
        """Return a kernel for the name "numpy", which subclasses of other names have as well."""
        return registered_kernel(NumpyOps.name, name)


register_kernels(NumpyOps.name, "mt_tensor.library.backends.numpy.kernels")
