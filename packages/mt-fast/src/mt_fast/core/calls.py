"""Choose the kernel of a formula once per signature.

Working out how a loop runs over any layout (`loops.py`) takes ten times as long as adding eight
numbers, so `Running.plan` does it once for each combination of layouts. Most tensors are contiguous
and of one shape, or repeat one element; for these the plan is a call of a kernel. Small tensors of
other layouts are copied by NumPy first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_fast.core import loops
from mt_fast.core.elementwise import Plan, elementwise_kernel, plan
from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import SPECIAL_CASES, empty
from mt_operators import Formula
from mt_tensor import TensorData
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape

_in_rows = TensorData.in_rows

_NONE: Any = ()
"""The storage of views that only serve to make a plan."""


class Running:
    """A formula, run by compiled kernels; see `TensorBackend.elementwise`.

    Attributes:
        formula: the formula.
        backend: the backend; from its number of elements `parallel_from` on, all threads are used.
        general: runs the formula over any views, and numbers.
        small: runs it on few elements, with the same bits; None if nothing is registered for it.
    """

    def __init__(self, formula: Formula, backend: Any, general: Callable[..., Any]) -> None:
        self.formula = formula
        self.backend = backend
        self.general = general
        special = SPECIAL_CASES.get("small")
        self.small: Any = special(formula) if special is not None else None

    def __call__(self, out: Any, *inputs: Any) -> Any:
        """Compute the formula of any views and numbers."""
        new = out.__class__ is Layout
        parallel_from = self.backend.parallel_from
        if self.small and (out if new else out[0]).size < parallel_from:
            return self.small(out, *inputs)
        update = None if new else SPECIAL_CASES.get("update")
        if update is not None and update(self.formula, out, inputs, parallel_from):
            return None
        return self.general(out, *inputs)

    def plan(self, out: Layout, layouts: tuple[Layout, ...]) -> Callable[..., Any] | None:
        """Return the function for inputs of these layouts, unless one is of 16 bits."""
        parallel = out.size >= self.backend.parallel_from
        if self.small and not parallel:
            return self.small.plan(out, layouts)  # type: ignore[no-any-return]
        narrow = any(layout.dtype.is_narrow for layout in (*layouts, out))
        if narrow or not out.size:
            return None
        if not parallel and self.formula.outputs == 1 and len(layouts) <= 2:
            kernel = self._flat(out, layouts)
            if kernel is not None:
                return (_of_one if len(layouts) == 1 else _of_two)(kernel, out, *layouts)
        small = out.size < loops.WORTH_A_KERNEL
        pieces = self._pieces(out, layouts, parallel, small)
        if pieces is not None:
            return _of_any(pieces, out, self.formula.outputs, parallel)
        rows = [_in_rows_like(layout, out.shape) for layout in layouts]
        pieces = self._pieces(out, rows, parallel, small) if small else None
        if pieces is None:
            return None
        return _of_copies(
            _of_any(pieces, out, self.formula.outputs, parallel), out.shape, self.backend
        )

    def _flat(self, out: Layout, layouts: Sequence[Layout]) -> Kernel | None:
        """Return the kernel for views that are contiguous or repeat one element, or None."""
        rows = [layout.row_major and layout.shape == out.shape for layout in layouts]
        if not all(row or layout.repeats for row, layout in zip(rows, layouts, strict=True)):
            return None
        types = tuple([layout.dtype for layout in layouts])
        repeats = tuple([not row for row in rows])
        return elementwise_kernel(self.formula, types, (out.dtype,), "flat", repeats)

    def _pieces(
        self, out: Layout, layouts: Sequence[Layout], parallel: bool, small: bool
    ) -> Plan | None:
        """Return the calls of a kernel for views of any layouts; None if some must be copied."""
        views = [_in_rows(_NONE, layout).expand(out.shape) for layout in layouts]
        results = [_in_rows(_NONE, out)] * self.formula.outputs
        return plan(self.formula, views, results, parallel, small)


def _of_one(kernel: Kernel, out: Layout, layout: Layout) -> Callable[..., Any]:
    """Return the plan for one view."""
    size, dtype, offset = out.size, out.dtype.numpy, layout.offset

    def run(x: Any) -> TensorData:
        row = np.empty(size, dtype)
        kernel.serial(0, size, x.storage, offset, row, 0)
        return _in_rows(row, out)

    return run


def _of_two(kernel: Kernel, out: Layout, first: Layout, second: Layout) -> Callable[..., Any]:
    """Return the plan for two views."""
    size, dtype = out.size, out.dtype.numpy
    at, other = first.offset, second.offset

    def run(x: Any, y: Any) -> TensorData:
        row = np.empty(size, dtype)
        kernel.serial(0, size, x.storage, at, y.storage, other, row, 0)
        return _in_rows(row, out)

    return run


def _of_any(pieces: Plan, out: Layout, outputs: int, parallel: bool) -> Callable[..., Any]:
    """Return the plan that calls a kernel once for each piece of a loop."""
    size, dtype = out.size, out.dtype.numpy
    make = empty if parallel else np.empty

    def run(*inputs: Any) -> Any:
        storages, views = [x.storage for x in inputs], []
        for _ in range(outputs):
            row = make(size, dtype)
            storages.append(row)
            views.append(_in_rows(row, out))
        loops.run_pieces(*pieces, storages, parallel)
        return views[0] if outputs == 1 else views

    return run


def _of_copies(run: Callable[..., Any], shape: Shape, backend: Any) -> Callable[..., Any]:
    """Return the plan that first copies views that a kernel cannot read."""

    def run_on_copies(*inputs: Any) -> Any:
        return run(*[_in_a_row(x, shape, backend) for x in inputs])

    return run_on_copies


def _in_rows_like(layout: Layout, shape: Shape) -> Layout:
    """Return the layout that `_in_a_row` gives a view."""
    if layout.repeats or (layout.row_major and layout.shape == shape):
        return layout
    return row_major(shape, layout.dtype)


def _in_a_row(x: TensorData, shape: Shape, backend: Any) -> TensorData:
    """Return a view that a kernel can read: itself, or a contiguous copy of this shape."""
    layout = x.layout
    if layout.repeats or (layout.row_major and layout.shape == shape):
        return x
    return backend.copy(x.expand(shape), row_major(shape, layout.dtype))  # type: ignore[no-any-return]
