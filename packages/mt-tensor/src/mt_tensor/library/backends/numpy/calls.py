"""Shorter ways to run a formula on small tensors, where what surrounds NumPy's own work counts.

A function of one or two arrays, which most operators are, is called at once if the views are the
usual ones, and a formula of more with the code that was made for it. What is unusual goes the way
of the lesson (`backends/numpy/calls.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_tensor.backends.numpy import calls
from mt_tensor.backends.numpy.calls import Function, new_view, write
from mt_tensor.backends.quiet import run_quietly
from mt_tensor.dtypes import Array, DType, bool_
from mt_tensor.layout import Layout
from mt_tensor.library.backends.numpy.functions import FUNCTIONS
from mt_tensor.tensor_data import TensorData
from mt_tensor.widening import numbers

_OTHERWISE = (RuntimeError, AttributeError, TypeError)
"""What says that there is no short way: the shared context is in use, something is a number, or its
elements are of bfloat16, with which NumPy does not compute."""

_OF_BYTES = {np.logical_and, np.logical_or, np.logical_xor}
"""Functions that take even such elements, and would take -0.0 for something."""

_array_of = attrgetter("array")
_of = TensorData.of
_new = object.__new__


def running(formula: Formula, function: Function | None) -> Function:
    """Return the function `run(out, *inputs)` of a formula; see `TensorBackend.elementwise`.

    Args:
        formula: what to compute.
        function: what computes it, and is called like a ufunc; None if there is none.
    """
    lifted: dict[DType, Function] = {}

    def lift(dtype: DType) -> Function:
        if dtype not in lifted:
            lifted[dtype] = on_arrays(formula, dtype)
        return lifted[dtype]

    general = calls.running(formula, function, lift)
    if function is None:
        return _running_code(formula, lifted, general)
    if formula.arity > 2:
        return general
    return (_running_one if formula.arity == 1 else _running_two)(function, general)


def _running_one(function: Function, general: Function) -> Function:
    """Return the short way of a function of one array."""

    def run(out: Any, x: Any) -> Any:
        try:
            if x.layout is out and out.shape:
                try:
                    return _of(run_quietly(function, x._array), out)
                except AttributeError:  # it has no array yet
                    return _of(run_quietly(function, x.array), out)
        except _OTHERWISE:
            pass
        return general(out, x)

    return run


def _running_two(function: Function, general: Function) -> Function:
    """Return the short way of a function of two arrays."""

    def run(out: Any, x: Any, y: Any) -> Any:
        try:
            if out.__class__ is Layout:
                return new_view(run_quietly(function, x.array, y.array), out)
            return run_quietly(write, function, out, x.array, y.array)
        except _OTHERWISE:
            return general(out, x, y)

    return shorter_for_two(function, general if function in _OF_BYTES else run)


def shorter_for_two(function: Function, otherwise: Function, backend: Any = None) -> Function:
    """Return the shortest way: of two views that lie like the result, or of one and one element.

    Args:
        function: of two arrays.
        otherwise: runs the same formula on whatever views and numbers.
        backend: one that wants results of `parallel_from` elements to be left to `otherwise`.
    """

    def run(out: Any, x: Any, y: Any) -> Any:
        try:
            second = y.layout
            if (
                x.layout is out
                and (second is out or not second.shape)
                and out.shape
                and (backend is None or out.size < backend.parallel_from)
            ):
                data = _new(TensorData)  # as in `TensorData.of`, whose call a sum would feel
                data._array = run_quietly(function, x._array, y._array)
                data.layout = out
                data._storage = data._version = None
                return data
        except _OTHERWISE:  # or one has no array yet
            pass
        return otherwise(out, x, y)

    return run


def _running_code(formula: Formula, lifted: dict[DType, Function], general: Function) -> Function:
    """Return the short way of a formula that has become code."""
    single = formula.outputs == 1

    def run(out: Any, *inputs: Any) -> Any:
        if out.__class__ is not Layout:
            return None if _in_blocks(formula)(out, inputs) else general(out, *inputs)
        compute = lifted.get(out.dtype)  # which is the type of the computation, if it is not bool
        if compute is None or out.dtype is bool_:
            return general(out, *inputs)
        try:
            results = run_quietly(compute, *map(_array_of, inputs))
        except _OTHERWISE:
            return general(out, *inputs)
        if single:
            return new_view(results, out)
        views = []
        for result in results:
            views.append(new_view(result, out))  # noqa: PERF401 - a comprehension takes longer here
        return views

    return run


@functools.cache
def on_arrays(formula: Formula, dtype: DType) -> Function:
    """Return a formula as a function of arrays, all of whose results are new.

    Args:
        formula: what to compute.
        dtype: the type that it computes in; arguments may be of bool as well.
    """
    from mt_tensor.library.backends.numpy.source import numpy_function  # when first needed only

    function = numpy_function(formula, FUNCTIONS, dtype.computed.numpy)
    return _in_float32(function) if dtype.is_narrow else function


def _in_float32(function: Function) -> Function:
    """Return a function of arrays of 16 bits and of bool: all its steps are those of float32."""

    def of_narrow(*arrays: Array) -> Any:
        wide = map(numbers, arrays)
        return function(*[a if a.dtype == np.bool_ else a.astype(np.float32) for a in wide])

    return of_narrow


@functools.cache
def _in_blocks(formula: Formula) -> Callable[..., bool]:
    """Return the function `update(out, inputs)` that changes views block by block, if it can."""
    from mt_tensor.library.backends.numpy.updates import update  # when first needed only

    return functools.partial(update, formula)
