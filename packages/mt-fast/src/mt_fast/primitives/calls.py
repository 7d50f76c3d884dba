"""How a formula is computed when it has been before: with calls that are remembered.

A short way to the kernels of the last two files, for small tensors. Working out how loops may run
over any layout (`loops.py`) takes ten times as long as adding eight numbers. So it is done once for
tensors that lie in some way. Most are contiguous and of one shape, or one element over and over;
these go straight to the kernel. What is small and lies in other ways is copied by NumPy, and goes
there, too. A single step that rounds once is NumPy's while it is small: the call of its function is
shorter still.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel
from mt_fast.memory import empty
from mt_fast.primitives import loops
from mt_fast.primitives.elementwise import Plan, elementwise_kernel, plan
from mt_fast.primitives.layouts import REMEMBERED
from mt_fast.primitives.updates import update
from mt_operators import Formula, TracingError
from mt_operators.core.lowering import expanded
from mt_operators.core.tracing import graph_of
from mt_tensor import TensorData

# `shorter_for_two` and `running` are not the lesson's: mt_tensor/library/backends/numpy/calls.py.
from mt_tensor.backends.extending import UFUNCS, Layout, function_of, row_major, shorter_for_two
from mt_tensor.backends.extending import running as running_numpy
from mt_tensor.extending import Shape

_in_rows = TensorData.in_rows

_NONE: Any = ()
"""The storage of views that are only planned with."""


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
        steps = expanded(graph_of(formula)).expressions[formula.arity :]
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

    @functools.lru_cache(REMEMBERED)
    def plan_for(parallel: bool, small: bool, out: Layout, *layouts: Layout) -> Plan | None:
        """Return the calls of a kernel for views of any layouts, or None if there are none."""
        if not out.size or any(layout.dtype.is_narrow for layout in (*layouts, out)):
            return None
        views = [_in_rows(_NONE, layout).expand(out.shape) for layout in layouts]
        return plan(formula, views, [_in_rows(_NONE, out)] * formula.outputs, parallel, small)

    def run(out: Any, *inputs: Any) -> Any:
        if out.__class__ is not Layout:
            updated = update(formula, out, inputs, backend.parallel_from)
            return None if updated else general(out, *inputs)
        size = out.size
        parallel, small = size >= backend.parallel_from, size < loops.WORTH_A_KERNEL
        try:
            layouts = [x.layout for x in inputs]
        except AttributeError:  # numbers have none
            return general(out, *inputs)
        planned = plan_for(parallel, small, out, *layouts)
        if planned is None and small and size:
            inputs = tuple([_in_a_row(x, out.shape, backend) for x in inputs])
            planned = plan_for(parallel, small, out, *[x.layout for x in inputs])
        if planned is None:
            return general(out, *inputs)
        storages, views = [x.storage for x in inputs], []
        for _ in outputs:
            row = (empty if parallel else np.empty)(size, out.dtype.numpy)
            storages.append(row)
            views.append(_in_rows(row, out))
        loops.run_pieces(*planned, storages, parallel)
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


def _in_a_row(x: TensorData, shape: Shape, backend: Any) -> TensorData:
    """Return what a kernel takes of a view: itself, or a copy in rows of this shape."""
    layout = x.layout
    if layout.repeats or (layout.row_major and layout.shape == shape):
        return x
    return backend.copy(x.expand(shape), row_major(shape, layout.dtype))  # type: ignore[no-any-return]
