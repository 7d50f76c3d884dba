"""How the `numpy` backend runs a formula: views go in, and new views come out.

`functions.py` has made the formula a function of arrays; here it is called with views. For a small
tensor most of an operation's time goes into what surrounds NumPy's own work. So a function of one
or two arrays, which most operators are, has a way of its own to results that need no second look;
what it cannot do it leaves to the way that all formulas go.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_tensor.backends.contract import computation_type
from mt_tensor.backends.numpy.functions import typed
from mt_tensor.backends.silence import run_quietly, silently
from mt_tensor.dtypes import Array, DType, Number, bool_, float16, float32
from mt_tensor.layout import Layout
from mt_tensor.tensor_data import TensorData

Function = Callable[..., Any]
_array_of = attrgetter("array")
_of = TensorData.of
_new = object.__new__


def fitted(result: Any, layout: Layout) -> Array:
    """Return what a function returned, in a copy if it is not just the array that is wanted."""
    dtype, shape = layout.dtype.numpy, layout.shape
    if (
        result.__class__ is np.ndarray
        and result.dtype is dtype
        and result.shape == shape
        and (len(shape) < 2 or result.flags.c_contiguous)
    ):
        return result
    array = np.asarray(result)  # NumPy's functions of 0-D arrays return scalars
    if array.shape == shape and array.dtype is dtype and array.flags.c_contiguous:
        return array
    copied = np.empty(shape, dtype)
    silently(np.copyto, copied, array, casting="unsafe")
    return copied


def _write(function: Any, out: Any, *arrays: Array) -> None:
    """Let a function write its results into a view, the only one of a list."""
    function(*arrays, out=out[0].array, casting="unsafe")


def running(
    formula: Formula,
    function: Any,
    lift: Callable[[DType], Function],
    update: Callable[[], Callable[..., bool]] | None = None,
) -> Function:
    """Return the function `run(out, *inputs)` of a formula; see `TensorBackend.elementwise`.

    Args:
        formula: what to compute.
        function: a function of arrays that computes it and can write into an array, as ufuncs do;
            None if there is none.
        lift: returns another, which makes new arrays, for the type of a computation.
        update: returns a shorter way to change views, for formulas that are no such function:
            called with these and the inputs, it returns whether it has done so.
    """
    outputs = formula.outputs
    known: dict[DType, Function] = {}

    def general(out: Any, *inputs: TensorData | Number) -> Any:
        new = out.__class__ is Layout
        dtype = computation_type(inputs, (out if new else out[0]).dtype)
        wide = (float32 if dtype is float16 else dtype).numpy  # in which numbers keep their digits
        arrays = [x.array if isinstance(x, TensorData) else typed(x, wide) for x in inputs]
        if not new and function is not None:
            return silently(_write, function, out, *arrays)
        if function is None and dtype not in known:
            known[dtype] = lift(dtype)
        results = silently(function or known[dtype], *arrays)
        if new:
            return as_views(results, out)
        for target, result in zip(out, (results,) if outputs == 1 else results, strict=True):
            silently(np.copyto, target.array, result, casting="unsafe")
        return None

    def as_views(results: Any, out: Layout) -> Any:
        if outputs == 1:
            return _of(fitted(results, out), out)
        return [_of(fitted(result, out), out) for result in results]

    def of_one(out: Any, x: Any) -> Any:
        try:
            if x.layout is out and out.shape:
                try:
                    return _of(run_quietly(function, x._array), out)
                except AttributeError:  # it has no array yet
                    return _of(run_quietly(function, x.array), out)
        except (RuntimeError, AttributeError):  # `silence` is busy, or x is a number
            pass
        return general(out, x)

    def of_two(out: Any, x: Any, y: Any) -> Any:
        try:
            second = y.layout
            if x.layout is out and out.shape and (second is out or not second.shape):
                data = _new(TensorData)  # as in `TensorData.of`, whose call a sum would feel
                try:
                    data._array = run_quietly(function, x._array, y._array)
                except AttributeError:  # one has no array yet
                    data._array = run_quietly(function, x.array, y.array)
                data.layout = out
                data._version = None
                return data
            if out.__class__ is Layout:
                return _of(fitted(run_quietly(function, x.array, y.array), out), out)
            return run_quietly(_write, function, out, x.array, y.array)
        except (RuntimeError, AttributeError):  # as above, or one is a number
            pass
        return general(out, x, y)

    def of_many(out: Any, *inputs: Any) -> Any:
        if out.__class__ is not Layout:
            updated = update is not None and update()(out, inputs)
            return None if updated else general(out, *inputs)
        compute = known.get(out.dtype)  # which is the type of the computation, if it is not bool
        if compute is None or out.dtype is bool_:
            return general(out, *inputs)
        try:
            results = run_quietly(compute, *map(_array_of, inputs))
        except (RuntimeError, AttributeError):
            return general(out, *inputs)
        return as_views(results, out)

    if function is None:
        return of_many
    by_arity: dict[int, Function] = {1: of_one, 2: of_two}
    return by_arity.get(formula.arity, general)
