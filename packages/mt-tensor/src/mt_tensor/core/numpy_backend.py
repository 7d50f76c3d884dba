"""The `numpy` backend: each primitive as NumPy functions on whole arrays.

A formula runs on any views (`FormulaRunner`), or with a plan specialized for one signature.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, Operator
from mt_tensor.core.casting import assign, to_float32
from mt_tensor.core.dtypes import Array, DType, Number, bfloat16, bool_
from mt_tensor.core.host import HostBackend, copied, no_warnings, run_without_warnings
from mt_tensor.core.kernels import registered_kernel
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.numpy_functions import (
    FUNCTIONS,
    SPECIAL_CASES,
    UFUNCS,
    as_0d_array,
    function_of,
    numpy_function,
)
from mt_tensor.core.strides import reduce_shape
from mt_tensor.core.tensor_data import TensorData

Function = Callable[..., Any]


BLOCK = 32768
"""The number of elements per block of a large array. The block and its intermediate results fit
into the L2 cache; with smaller blocks, the overhead of calls would dominate."""

_get_array, _get_cached_array = attrgetter("array"), attrgetter("_array")
_of = TensorData.of
_new = object.__new__
_RETRY = (RuntimeError, AttributeError)
"""Raised if the context of `run_without_warnings` is in use, or a view has no cached array."""


def new_view(result: Any, layout: Layout) -> TensorData:
    """Return a function's result as a view, copied if its shape, dtype or memory order differs."""
    dtype, shape = layout.dtype.numpy, layout.shape
    if result.__class__ is not np.ndarray:  # NumPy's functions of 0-D arrays return scalars
        result = np.asarray(result)
    fits = result.shape == shape and result.dtype is dtype
    if not fits or (len(shape) > 1 and not result.flags.c_contiguous):
        copied = np.empty(shape, dtype)
        no_warnings().run(assign, copied, result)
        result = copied
    return _of(result, layout)


def in_new_scalar(function: Function, dtype: Any, *arrays: Array) -> Array:
    """Return the result for 0-D arrays as an array; without `out` it would be a scalar."""
    out = np.empty((), dtype)
    function(*arrays, out=out)
    return out


def write(function: Function, out: Any, *arrays: Array) -> None:
    """Write a function's result to the only view in `out`."""
    function(*arrays, out=out[0].array, casting="unsafe")


@functools.cache
def on_arrays(formula: Formula, dtype: DType) -> Function:
    """Compile a formula for a dtype to a function of arrays that returns new arrays."""
    function = numpy_function(formula, FUNCTIONS, dtype.computed.numpy)
    return SPECIAL_CASES["16 bits"](function) if dtype.is_narrow else function


def as_arrays(inputs: Sequence[TensorData | Number], default: DType) -> tuple[DType, list[Any]]:
    """Return the `computation_type` of a formula, and its inputs as arrays; numbers are 0-D."""
    arrays, numbers = list[Any](inputs), list[int]()
    found: DType | None = None
    for at, x in enumerate(inputs):
        if isinstance(x, TensorData):
            array = getattr(x, "_array", None)  # faster than a call of `array`
            arrays[at] = x.array if array is None else array
            found = x.layout.dtype if found is None or found is bool_ else found
        else:
            numbers.append(at)
    dtype = default if found is None else found
    wide = dtype.computed.numpy  # numbers are not rounded to 16 bits
    if len(numbers) > 1 and wide.kind == "f":
        values = no_warnings().run(np.array, list(map(inputs.__getitem__, numbers)), wide)
        for number, at in enumerate(numbers):
            arrays[at] = values[number, ...]
    else:
        for at in numbers:
            arrays[at] = as_0d_array(arrays[at], wide)
    return dtype, arrays


def change_in_blocks(function: Function, targets: Sequence[Array], arrays: Sequence[Array]) -> None:
    """Store the result of a function of arrays in a target, or its results in several.

    The arrays are processed block by block, so that intermediate results stay in the cache.
    """
    rows = [array for array in (*targets, *arrays) if array.size != 1]
    parts: list[Any] = [...]
    if all(row.shape == targets[0].shape and row.flags.c_contiguous for row in rows):
        parts = [slice(first, first + BLOCK) for first in range(0, targets[0].size, BLOCK)]
        targets, arrays = ([x.reshape(-1) for x in each] for each in (targets, arrays))
    for part in parts:
        results = function(*[x if x.size == 1 else x[part] for x in arrays])
        results = results if len(targets) > 1 else (results,)
        for target, result in zip(targets, results, strict=True):
            assign(target[part], result)


class FormulaRunner:
    """Run a formula with NumPy functions; see `TensorBackend.elementwise`.

    `function` is the ufunc-like function that computes the whole formula, or None.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.function = function_of(formula, FUNCTIONS)

    def __call__(self, out: Any, *inputs: TensorData | Number) -> Any:
        """Compute the formula for views and numbers."""
        formula, function = self.formula, self.function
        new = out.__class__ is Layout
        dtype, arrays = as_arrays(inputs, out.dtype if new else out[0].layout.dtype)
        if dtype is bfloat16:
            arrays = [to_float32(array) for array in arrays]
        if not new and function is not None and dtype is not bfloat16:
            return no_warnings().run(write, function, out, *arrays)
        function = function or on_arrays(formula, dtype)
        if not new and out[0].layout.size > BLOCK:
            targets = [view.array for view in out]
            return no_warnings().run(change_in_blocks, function, targets, arrays)
        results = no_warnings().run(function, *arrays)
        results = (results,) if formula.outputs == 1 else results
        if not new:
            for view, result in zip(out, results, strict=True):
                target = getattr(view, "_array", None)
                target = view.array if target is None else target
                if target.dtype is result.dtype:
                    np.copyto(target, result)
                else:
                    no_warnings().run(assign, target, result)
            return None
        views = [new_view(result, out) for result in results]
        return views[0] if formula.outputs == 1 else views

    def plan(self, out: Layout, inputs: tuple[Layout, ...]) -> Function | None:
        """Return the function for inputs of these layouts, if they have one dtype besides bool."""
        dtypes = {layout.dtype for layout in inputs} - {bool_}
        if len(dtypes) > 1 or bfloat16 in dtypes:
            return None
        (dtype,) = dtypes or {bool_}
        function = self.function or on_arrays(self.formula, dtype)
        simple = self.function and dtype is not bool_
        # NumPy's results have the memory order of inputs of several dimensions.
        same = [x for x in inputs if x is out or (x.shape == out.shape and len(x.shape) < 2)]
        numbers = [x for x in inputs if x not in same and not x.shape]
        if simple and out.dtype is dtype and same and len(same) + len(numbers) == len(inputs):
            if not out.shape:
                function = functools.partial(in_new_scalar, function, dtype.numpy)
            if len(inputs) == 1:
                return _unary_plan(function, out)
            if len(inputs) == 2:
                return _binary_plan(function, out)
        return _general_plan(function, out, self.formula.outputs > 1)


formula_runner = functools.lru_cache(4096)(FormulaRunner)
"""Return the cached `FormulaRunner` of a formula."""


def _general_plan(function: Function, out: Layout, several: bool) -> Function:
    """Return the plan for views of any layouts."""
    shape, dtype = out.shape, out.dtype.numpy
    in_order = len(shape) < 2  # else NumPy chooses the memory order by the inputs

    def run(*inputs: Any) -> Any:
        try:
            results = run_without_warnings(function, *map(_get_cached_array, inputs))
        except _RETRY:
            results = no_warnings().run(function, *map(_get_array, inputs))
        views = []
        for result in results if several else (results,):
            if (
                result.__class__ is np.ndarray
                and result.shape == shape
                and result.dtype is dtype
                and (in_order or result.flags.c_contiguous)
            ):
                data = _new(TensorData)
                data._array = result
                data.layout = out
                data._storage = data._version = None
            else:
                data = new_view(result, out)
            views.append(data)
        return views if several else views[0]

    return run


def _unary_plan(function: Function, out: Layout) -> Function:
    """Return the plan for one view of the same layout as the result."""

    def run(x: Any) -> TensorData:
        try:
            array = run_without_warnings(function, x._array)
        except _RETRY:
            array = no_warnings().run(function, x.array)
        data = _new(TensorData)  # `TensorData.of`, inlined for speed
        data._array = array
        data.layout = out
        data._storage = data._version = None
        return data

    return run


def _binary_plan(function: Function, out: Layout) -> Function:
    """Return the plan for two views of the same layout as the result; one of them may be 0-D."""

    def run(x: Any, y: Any) -> TensorData:
        try:
            array = run_without_warnings(function, x._array, y._array)
        except _RETRY:
            array = no_warnings().run(function, x.array, y.array)
        data = _new(TensorData)
        data._array = array
        data.layout = out
        data._storage = data._version = None
        return data

    return run


# --- The other primitives -----------------------------------------------------------------------

_REDUCING: dict[Operator, Callable[..., Any]] = {
    OPERATORS[name]: ufunc.reduce for name, ufunc in UFUNCS.items() if ufunc.nin == 2
}


def _positions(data: TensorData, dim: int, index: TensorData) -> Array:
    """Return the storage position of each element that an index along `dim` refers to."""
    grid = np.indices(index.shape, sparse=True)
    others = (grid[d] * stride for d, stride in enumerate(data.strides) if d != dim)
    positions: Array = index.array * data.strides[dim]
    positions += sum(others, data.offset)
    return positions


class NumpyOps(HostBackend):
    """The backend that computes with NumPy."""

    name = "numpy"

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Run one NumPy function, or generated code, on whole arrays or blocks of them."""
        return formula_runner(formula)

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce with the operator's ufunc, or slice by slice."""
        ufunc = _REDUCING.get(operator)
        dtype = source.dtype
        result: Any
        if ufunc is None:
            shape = reduce_shape(source.shape, dims, keepdim)
            result = no_warnings().run(SPECIAL_CASES["reduce"], operator, source, shape, dims)
        else:  # 16-bit floats are accumulated in float32
            array = source.array if dtype is not bfloat16 else to_float32(source.array)
            result = no_warnings().run(ufunc, array, dims, dtype.computed.numpy, None, keepdim)
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
        """Take elements, or complete slices if the index is expanded in the other dimensions."""
        layout = index.layout
        shape, start, step = layout.shape, layout.offset, layout.strides[dim]
        if not layout.size or layout.strides.count(0) + (step != 0) < len(shape):
            elements = source.storage.take(_positions(source, dim, index))
            return new_view(elements, row_major(shape, source.dtype))
        if step > 0:
            indices = index.storage[start : start + shape[dim] * step : step]
        else:
            indices = index.like((shape[dim],), (step,), start).array
        slices, sizes = source.array, source.layout.shape
        if shape[:dim] != sizes[:dim] or shape[dim + 1 :] != sizes[dim + 1 :]:
            region = [slice(size) for size in shape]
            region[dim] = slice(None)
            slices = slices[tuple(region)]
        return new_view(slices.take(indices, dim), row_major(shape, source.dtype))

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Store the elements by position, or combine them with `ufunc.at`."""
        if operator is not None and out.dtype.is_narrow:  # combine before rounding
            wide = self.copy(out, row_major(out.shape, out.dtype.computed))
            added = self.copy(source, row_major(source.shape, wide.dtype))
            self.scatter(added, dim, index, wide, operator)
            self.copy(wide, out)
            return
        positions, values = _positions(out, dim, index).reshape(-1), source.array.reshape(-1)
        if operator is None:
            out.storage[positions] = values
        else:  # on a 1-D array, which is several times as fast
            no_warnings().run(UFUNCS[operator.name].at, out.storage, positions, values)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert; a new view is allocated and filled in one step."""
        if isinstance(out, Layout):
            return copied(source, out)
        no_warnings().run(assign, out.array, source.array)
        return out

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Concatenate with one call of NumPy."""
        result = np.concatenate([part.array for part in parts], dim)
        return new_view(result, row_major(result.shape, parts[0].dtype))

    def kernel(self, name: str) -> Any:
        """Return a kernel registered for "numpy", also in subclasses with other names."""
        return registered_kernel(NumpyOps.name, name)
