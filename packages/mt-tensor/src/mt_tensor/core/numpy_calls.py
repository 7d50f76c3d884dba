"""How the `numpy` backend runs a formula on views: any views, or by a plan for one signature."""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_tensor.core.casting import assign, to_float32
from mt_tensor.core.contract import computation_type
from mt_tensor.core.dtypes import Array, DType, Number, bfloat16, bool_
from mt_tensor.core.host import no_warnings, run_without_warnings
from mt_tensor.core.layout import Layout
from mt_tensor.core.numpy_functions import FUNCTIONS, SPECIAL_CASES, function_of, typed
from mt_tensor.core.numpy_source import numpy_function
from mt_tensor.core.tensor_data import TensorData

Function = Callable[..., Any]

_array_of, _own_array_of = attrgetter("array"), attrgetter("_array")
_of = TensorData.of
_new = object.__new__

_BUSY = (RuntimeError, AttributeError)
"""Another call uses the context of `run_without_warnings`, or a view has no array yet."""


def new_view(result: Any, layout: Layout) -> TensorData:
    """Return a function's result as a view, copied if its shape, dtype or order differs."""
    dtype, shape = layout.dtype.numpy, layout.shape
    if result.__class__ is not np.ndarray:  # NumPy's functions of 0-D arrays return scalars
        result = np.asarray(result)
    fits = result.shape == shape and result.dtype is dtype
    if not fits or (len(shape) > 1 and not result.flags.c_contiguous):
        copied = np.empty(shape, dtype)
        no_warnings().run(assign, copied, result)
        result = copied
    return _of(result, layout)


def write(function: Function, out: Any, *arrays: Array) -> None:
    """Write a function's result to the only view of a list."""
    function(*arrays, out=out[0].array, casting="unsafe")


@functools.cache
def on_arrays(formula: Formula, dtype: DType) -> Function:
    """Return a formula, computed in a dtype, as a function of arrays with new results."""
    function = numpy_function(formula, FUNCTIONS, dtype.computed.numpy)
    return _in_float32(function) if dtype.is_narrow else function


def _in_float32(function: Function) -> Function:
    """Return a function of arrays of 16 bits, or bool, whose steps are all in float32."""

    def of_narrow(*arrays: Array) -> Any:
        wide = map(to_float32, arrays)
        return function(*[a if a.dtype == np.bool_ else a.astype(np.float32) for a in wide])

    return of_narrow


class Running:
    """A formula, run by functions of NumPy; see `TensorBackend.elementwise`.

    `function` is the one function that computes it, called like a ufunc, if there is one.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.function = function_of(formula, FUNCTIONS)

    def __call__(self, out: Any, *inputs: TensorData | Number) -> Any:
        """Compute the formula for any views and numbers."""
        formula, function = self.formula, self.function
        new = out.__class__ is Layout
        update = SPECIAL_CASES.get("update")
        if not new and function is None and update and update(formula, out, inputs):
            return None
        dtype = computation_type(inputs, (out if new else out[0]).dtype)
        wide = dtype.computed.numpy  # numbers are not rounded to less
        arrays = [x.array if isinstance(x, TensorData) else typed(x, wide) for x in inputs]
        if dtype is bfloat16:
            arrays = [to_float32(array) for array in arrays]
        if not new and function is not None and dtype is not bfloat16:
            return no_warnings().run(write, function, out, *arrays)
        results = no_warnings().run(function or on_arrays(formula, dtype), *arrays)
        results = (results,) if formula.outputs == 1 else results
        if not new:
            for target, result in zip(out, results, strict=True):
                no_warnings().run(assign, target.array, result)
            return None
        views = [new_view(result, out) for result in results]
        return views[0] if formula.outputs == 1 else views

    def plan(self, out: Layout, inputs: tuple[Layout, ...]) -> Function | None:
        """Return the function for inputs of these layouts, if they have one dtype beside bool."""
        dtypes = {layout.dtype for layout in inputs} - {bool_}
        if len(dtypes) > 1 or bfloat16 in dtypes:
            return None
        (dtype,) = dtypes or {bool_}
        function = self.function or on_arrays(self.formula, dtype)
        usual = self.function and out.shape and not dtype.is_narrow and dtype is not bool_
        if usual and out in inputs and all(x is out or not x.shape for x in inputs):
            if len(inputs) == 1:
                return _of_one(function, out)
            if len(inputs) == 2:
                return _of_two(function, out)
        return _of_any(function, out, self.formula.outputs > 1)


running = functools.lru_cache(4096)(Running)
"""Return the cached `Running` of a formula."""


def _of_any(function: Function, out: Layout, several: bool) -> Function:
    """Return the plan for views of any layouts."""
    shape, dtype = out.shape, out.dtype.numpy
    in_order = len(shape) < 2  # of any result; else NumPy chooses the order by the inputs

    def run(*inputs: Any) -> Any:
        try:
            results = run_without_warnings(function, *map(_own_array_of, inputs))
        except _BUSY:
            results = no_warnings().run(function, *map(_array_of, inputs))
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


def _of_one(function: Function, out: Layout) -> Function:
    """Return the plan for a view of the layout of the result."""

    def run(x: Any) -> TensorData:
        try:
            array = run_without_warnings(function, x._array)
        except _BUSY:
            array = no_warnings().run(function, x.array)
        data = _new(TensorData)  # `TensorData.of` without the time of its call
        data._array = array
        data.layout = out
        data._storage = data._version = None
        return data

    return run


def _of_two(function: Function, out: Layout) -> Function:
    """Return the plan for two views of the layout of the result, one of which may be 0-D."""

    def run(x: Any, y: Any) -> TensorData:
        try:
            array = run_without_warnings(function, x._array, y._array)
        except _BUSY:
            array = no_warnings().run(function, x.array, y.array)
        data = _new(TensorData)
        data._array = array
        data.layout = out
        data._storage = data._version = None
        return data

    return run
