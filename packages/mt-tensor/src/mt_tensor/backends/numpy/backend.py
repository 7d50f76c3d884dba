"""The `numpy` backend: whole arrays at a time.

The same primitives as in `simple.py`, each by functions of NumPy. Formulas are run by `calls.py`;
the rest is here. This backend is complete. The one that users get by default, derived from it in
`library/backends/numpy`, differs in speed alone: there a formula becomes source code, and large
arrays are computed block by block.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, Operator
from mt_tensor.backends.host import HostBackend
from mt_tensor.backends.numpy.calls import new_view, running
from mt_tensor.backends.numpy.functions import FUNCTIONS, UFUNCS, function_of, on_arrays
from mt_tensor.backends.quiet import quiet
from mt_tensor.dtypes import Array, bfloat16
from mt_tensor.layout import Layout, row_major
from mt_tensor.strides import Shape, folded_shape
from mt_tensor.tensor_data import TensorData
from mt_tensor.widening import assign, numbers

_REDUCING: dict[Operator, Callable[..., Any]] = {
    OPERATORS[name]: ufunc.reduce for name, ufunc in UFUNCS.items() if ufunc.nin == 2
}


def _positions(data: TensorData, dim: int, index: TensorData) -> Array:
    """Return where in its storage each element lies that an index along `dim` names."""
    own = np.indices(index.shape, sparse=True)  # those of the index in each dimension
    others = (own[d] * stride for d, stride in enumerate(data.strides) if d != dim)
    positions: Array = index.array * data.strides[dim]
    positions += sum(others, data.offset)
    return positions


def _fold_slices(
    operator: Operator, source: TensorData, shape: Shape, dims: tuple[int, ...]
) -> Any:
    """Fold slice by slice with an operator that NumPy has no ufunc for."""
    array = numbers(source.array)
    rest = tuple(d for d in range(array.ndim) if d not in dims)
    count = math.prod(array.shape[d] for d in dims)
    slices = array.transpose(*dims, *rest).reshape(count, *(array.shape[d] for d in rest))
    if not len(slices):
        return operator.identity
    total = functools.reduce(on_arrays(operator.value, source.dtype), slices)
    return np.array(total).reshape(shape)  # of a single slice, a copy


class NumpyOps(HostBackend):
    """Every primitive as NumPy calls on strided arrays."""

    name = "numpy"

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Run one function, or the graph of the formula as one, on whole arrays."""
        lift = functools.cache(functools.partial(on_arrays, formula))
        return running(formula, function_of(formula, FUNCTIONS), lift)

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce with the operator's ufunc, or fold slice by slice."""
        fold = _REDUCING.get(operator)
        dtype = source.dtype
        result: Any
        if fold is None:
            shape = folded_shape(source.shape, dims, keepdim)
            result = quiet().run(_fold_slices, operator, source, shape, dims)
        else:  # with more digits than are stored, if these are few
            array = source.array if dtype is not bfloat16 else numbers(source.array)
            result = quiet().run(fold, array, dims, dtype.computed.numpy, None, keepdim)
            shape = result.shape
        return new_view(result, row_major(shape, dtype))

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply with NumPy's BLAS."""
        left, right, dtype = a.array, b.array, a.layout.dtype
        if dtype is bfloat16:
            left, right = numbers(left), numbers(right)
        result: Any = quiet().run(np.matmul, left, right)
        return new_view(result, row_major(result.shape, dtype))

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Take elements from the storage."""
        elements = source.storage.take(_positions(source, dim, index))
        return new_view(elements, row_major(index.shape, source.dtype))

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
        else:  # on rows, which NumPy does several times as fast
            quiet().run(UFUNCS[operator.name].at, out.storage, positions, values)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert."""
        out = self.target(out)
        quiet().run(assign, out.array, source.array)
        return out
