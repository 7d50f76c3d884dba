"""How a formula of contiguous tensors is computed: with one call of its kernel.

A short way to the kernels of the last two files, for small tensors. Working out how loops may run
over any layout (`loops.py`) takes ten times as long as adding eight numbers. Most tensors are
contiguous and of one shape, or one element over and over; these go straight to the kernel, which is
remembered with the layouts. A single step that rounds once is NumPy's while it is small: the call
of its function is shorter still.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel
from mt_fast.memory import empty
from mt_fast.primitives.elementwise import elementwise_kernel
from mt_fast.primitives.layouts import REMEMBERED
from mt_fast.primitives.updates import update
from mt_operators import Formula, TracingError
from mt_operators.evaluation import expanded
from mt_tensor import TensorData

# `shorter_for_two` and `running` are not the lesson's: mt_tensor/library/backends/numpy/calls.py.
from mt_tensor.backends.extending import UFUNCS, Layout, function_of, shorter_for_two
from mt_tensor.backends.extending import running as running_numpy

_in_rows = TensorData.in_rows
_layout_of = attrgetter("layout")


def running(formula: Formula, backend: Any, general: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function `run(out, *inputs)` of a formula; see `TensorBackend.elementwise`.

    Args:
        formula: what to compute.
        backend: from its number of elements `parallel_from` on, all threads are used.
        general: the same for any views, and for numbers.
    """
    kernels = _running_kernels(formula, backend, general)
    function: Any = function_of(formula, EXACT)
    if function is None and not _is_exact(formula):
        return kernels
    on_one_thread = running_numpy(formula, function)

    def run(out: Any, *inputs: Any) -> Any:
        size = out.size if out.__class__ is Layout else out[0].size
        return (on_one_thread if size < backend.parallel_from else kernels)(out, *inputs)

    if formula.arity == 2 and function is not None:
        return shorter_for_two(function, run, backend)
    return run


EXACT_STEPS = {
    *("add", "sub", "mul", "div", "neg", "abs", "square", "sqrt"),
    *("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite"),
}
"""Operators that round once. Of these NumPy has the same bits as a kernel, and a shorter call."""

EXACT = {name: UFUNCS[name] for name in EXACT_STEPS}
"""The ufuncs of these operators."""


def _is_exact(formula: Formula) -> bool:
    """Whether each result is one such operator of arguments, as in the gradient of a product."""
    try:
        steps = expanded(formula.graph).expressions[formula.arity :]
    except TracingError:  # which the kernel will raise, if it is asked for
        return False
    return len(steps) == formula.outputs and all(step.operation in EXACT_STEPS for step in steps)


def _running_kernels(
    formula: Formula, backend: Any, general: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the same by kernels alone."""
    outputs = range(formula.outputs)

    @functools.lru_cache(REMEMBERED)
    def kernel_for(out: Layout, *layouts: Layout) -> Kernel | None:
        """Return the kernel for what is contiguous or repeats one element, or None."""
        rows = [layout.row_major and layout.shape == out.shape for layout in layouts]
        fit = all(row or layout.repeats for row, layout in zip(rows, layouts, strict=True))
        types = tuple(layout.dtype for layout in layouts)
        if not (fit and out.size) or any(dtype.is_narrow for dtype in (*types, out.dtype)):
            return None
        repeats = tuple(not row for row in rows)
        return elementwise_kernel(formula, types, (out.dtype,) * formula.outputs, "flat", repeats)

    def run(out: Any, *inputs: Any) -> Any:
        if out.__class__ is not Layout:
            updated = update(formula, out, inputs, backend.parallel_from)
            return None if updated else general(out, *inputs)
        arguments: list[Any] = []
        try:
            kernel = kernel_for(out, *map(_layout_of, inputs))
            for x in inputs:
                arguments += (x.storage, x.layout.offset)
        except AttributeError:  # numbers have no layout
            kernel = None
        if kernel is None:
            return general(out, *inputs)
        size, dtype = out.size, out.dtype.numpy
        small = size < backend.parallel_from
        views = []
        for _ in outputs:
            row = np.empty(size, dtype) if small else empty(size, dtype)
            arguments += (row, 0)
            views.append(_in_rows(row, out))
        if small:
            kernel.serial(0, size, *arguments)
        else:
            kernel.run(size, True, *arguments)
        return views[0] if len(views) == 1 else views

    # The same for one and two small views, without lists.

    def of_one(out: Any, x: Any) -> Any:
        if out.__class__ is Layout and x.__class__ is TensorData:
            layout, size = x.layout, out.size
            kernel = kernel_for(out, layout) if size < backend.parallel_from else None
            if kernel is not None:
                row = np.empty(size, out.dtype.numpy)
                kernel.serial(0, size, x.storage, layout.offset, row, 0)
                return _in_rows(row, out)
        return run(out, x)

    def of_two(out: Any, x: Any, y: Any) -> Any:
        if out.__class__ is Layout and x.__class__ is y.__class__ is TensorData:
            first, second, size = x.layout, y.layout, out.size
            kernel = kernel_for(out, first, second) if size < backend.parallel_from else None
            if kernel is not None:
                row = np.empty(size, out.dtype.numpy)
                places = x.storage, first.offset, y.storage, second.offset
                kernel.serial(0, size, *places, row, 0)
                return _in_rows(row, out)
        return run(out, x, y)

    by_arity: dict[int, Callable[..., Any]] = {1: of_one, 2: of_two}
    return by_arity.get(formula.arity, run) if formula.outputs == 1 else run
