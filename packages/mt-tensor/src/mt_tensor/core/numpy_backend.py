"""The `numpy` backend: each primitive by functions of NumPy, on whole arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, Operator
from mt_tensor.core.casting import assign, to_float32
from mt_tensor.core.dtypes import Array, bfloat16
from mt_tensor.core.host import HostBackend, copied, no_warnings
from mt_tensor.core.kernels import registered_kernel
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.numpy_calls import new_view, on_arrays, running
from mt_tensor.core.numpy_functions import UFUNCS
from mt_tensor.core.strides import Shape, folded_shape
from mt_tensor.core.tensor_data import TensorData

_REDUCING: dict[Operator, Callable[..., Any]] = {
    OPERATORS[name]: ufunc.reduce for name, ufunc in UFUNCS.items() if ufunc.nin == 2
}


def _positions(data: TensorData, dim: int, index: TensorData) -> Array:
    """Return the position in the storage of each element that an index along `dim` refers to."""
    own = np.indices(index.shape, sparse=True)  # of the index, in each dimension
    others = (own[d] * stride for d, stride in enumerate(data.strides) if d != dim)
    positions: Array = index.array * data.strides[dim]
    positions += sum(others, data.offset)
    return positions


def _fold_slices(
    operator: Operator, source: TensorData, shape: Shape, dims: tuple[int, ...]
) -> Any:
    """Reduce slice by slice with an operator that NumPy has no ufunc for."""
    array = to_float32(source.array)
    rest = tuple(d for d in range(array.ndim) if d not in dims)
    count = math.prod(array.shape[d] for d in dims)
    slices = array.transpose(*dims, *rest).reshape(count, *(array.shape[d] for d in rest))
    if not len(slices):
        return operator.identity
    total = functools.reduce(on_arrays(operator.value, source.dtype), slices)
    return np.array(total).reshape(shape)  # a copy, if there is a single slice


class NumpyOps(HostBackend):
    """Every primitive as NumPy calls on strided arrays."""

    name = "numpy"

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Run one function of NumPy, or the formula's source, on whole arrays or blocks of them."""
        return running(formula)

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce with the operator's ufunc, or slice by slice."""
        fold = _REDUCING.get(operator)
        dtype = source.dtype
        result: Any
        if fold is None:
            shape = folded_shape(source.shape, dims, keepdim)
            result = no_warnings().run(_fold_slices, operator, source, shape, dims)
        else:  # 16 bits are added up in float32
            array = source.array if dtype is not bfloat16 else to_float32(source.array)
            result = no_warnings().run(fold, array, dims, dtype.computed.numpy, None, keepdim)
            shape = result.shape
        return new_view(result, row_major(shape, dtype))

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply with NumPy's BLAS."""
        left, right, dtype = a.array, b.array, a.layout.dtype
        if dtype is bfloat16:
            left, right = to_float32(left), to_float32(right)
        result: Any = no_warnings().run(np.matmul, left, right)
        return new_view(result, row_major(result.shape, dtype))

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Take elements from the storage, or whole slices if the index names such."""
        layout = index.layout
        shape, start, step = layout.shape, layout.offset, layout.strides[dim]
        if not layout.size or layout.strides.count(0) + (step != 0) < len(shape):
            elements = source.storage.take(_positions(source, dim, index))
            return new_view(elements, row_major(shape, source.dtype))
        if step > 0:
            places = index.storage[start : start + shape[dim] * step : step]
        else:
            places = index.like((shape[dim],), (step,), start).array
        slices, sizes = source.array, source.layout.shape
        if shape[:dim] != sizes[:dim] or shape[dim + 1 :] != sizes[dim + 1 :]:
            reached = [slice(size) for size in shape]
            reached[dim] = slice(None)
            slices = slices[tuple(reached)]
        return new_view(slices.take(places, dim), row_major(shape, source.dtype))

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Put into the storage, or combine unbuffered with the operator's ufunc."""
        if operator is not None and out.dtype.is_narrow:  # combine before rounding
            wide = self.copy(out, row_major(out.shape, out.dtype.computed))
            added = self.copy(source, row_major(source.shape, wide.dtype))
            self.scatter(added, dim, index, wide, operator)
            self.copy(wide, out)
            return
        positions, values = _positions(out, dim, index).reshape(-1), source.array.reshape(-1)
        if operator is None:
            out.storage[positions] = values
        else:  # on one row, which is several times as fast
            no_warnings().run(UFUNCS[operator.name].at, out.storage, positions, values)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert; a new view is allocated and filled in one step."""
        if isinstance(out, Layout):
            return copied(source, out)
        no_warnings().run(assign, out.array, source.array)
        return out

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Concatenate in one call."""
        result = np.concatenate([part.array for part in parts], dim)
        return new_view(result, row_major(result.shape, parts[0].dtype))

    def kernel(self, name: str) -> Any:
        """Return a kernel registered for "numpy"; subclasses with other names have them, too."""
        return registered_kernel(NumpyOps.name, name)
