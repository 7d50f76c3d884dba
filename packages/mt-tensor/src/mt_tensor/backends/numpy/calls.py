"""How the `numpy` backend runs a formula: views go in, and new views come out.

`functions.py` has made the formula a function of arrays; here it is called with views. The next
file has the other primitives, each a function of NumPy as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_tensor.backends.contract import computation_type
from mt_tensor.backends.numpy.functions import typed
from mt_tensor.backends.quiet import quiet
from mt_tensor.dtypes import Array, DType, Number, bfloat16
from mt_tensor.layout import Layout
from mt_tensor.tensor_data import TensorData
from mt_tensor.widening import assign, numbers

Function = Callable[..., Any]
_of = TensorData.of


def new_view(result: Any, layout: Layout) -> TensorData:
    """Return what a function returned as a view, copied if its shape, type or order is another."""
    dtype, shape = layout.dtype.numpy, layout.shape
    if result.__class__ is not np.ndarray:  # NumPy's functions of 0-D arrays return scalars
        result = np.asarray(result)
    wanted = result.shape == shape and result.dtype is dtype
    if not wanted or (len(shape) > 1 and not result.flags.c_contiguous):
        copied = np.empty(shape, dtype)
        quiet().run(assign, copied, result)
        result = copied
    return _of(result, layout)


def write(function: Function, out: Any, *arrays: Array) -> None:
    """Let a function write its result into a view, the only one of a list."""
    function(*arrays, out=out[0].array, casting="unsafe")


def running(
    formula: Formula, function: Function | None, lift: Callable[[DType], Function]
) -> Function:
    """Return the function `run(out, *inputs)` of a formula; see `TensorBackend.elementwise`.

    Args:
        formula: what to compute.
        function: a function of arrays that computes it and can write into an array, as ufuncs do;
            None if there is none.
        lift: returns another, which makes new arrays, for the type of a computation.
    """

    def run(out: Any, *inputs: TensorData | Number) -> Any:
        new = out.__class__ is Layout
        dtype = computation_type(inputs, (out if new else out[0]).dtype)
        wide = dtype.computed.numpy  # numbers are not rounded to less
        arrays = [x.array if isinstance(x, TensorData) else typed(x, wide) for x in inputs]
        if dtype is bfloat16:
            arrays = [numbers(array) for array in arrays]
        if not new and function is not None and dtype is not bfloat16:
            return quiet().run(write, function, out, *arrays)
        results = quiet().run(function or lift(dtype), *arrays)
        results = (results,) if formula.outputs == 1 else results
        if not new:
            for target, result in zip(out, results, strict=True):
                quiet().run(assign, target.array, result)
            return None
        views = [new_view(result, out) for result in results]
        return views[0] if formula.outputs == 1 else views

    return run
