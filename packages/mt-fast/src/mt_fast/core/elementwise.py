"""Run a formula over views: the elementwise primitive.

Contiguous memory, and numbers broadcast over it, take a flat loop. Broadcast rows get a kernel of
their own once a tensor is large enough to repay compiling it. Views of any other layout are copied
to contiguous memory first. The copy costs a pass over memory, but strided loops would cost more,
and each formula would need one more kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from mt_fast.core import loops, movement
from mt_fast.core.elementwise_source import elementwise
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.layouts import collapse
from mt_fast.core.loop_source import Form
from mt_fast.core.lowering import TABLE
from mt_fast.core.tables import empty
from mt_operators import Formula
from mt_tensor import DType, TensorData


@functools.lru_cache(None)
def elementwise_kernel(
    formula: Formula,
    inputs: tuple[DType, ...],
    outputs: tuple[DType, ...],
    form: Form,
    repeats: tuple[bool, ...],
    transposed: tuple[bool, ...] | None = None,
) -> Kernel:
    """Return the kernel of a formula; see `core/elementwise_source.py`."""
    source = elementwise(
        formula, inputs, outputs, table=TABLE, form=form, repeats=repeats, transposed=transposed
    )
    return compiled(source)


Plan = tuple[Kernel, Sequence[loops.Piece]]
"""A kernel, and the calls of it that make up a loop."""


def plan(
    formula: Formula,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
    parallel: bool,
    small: bool,
) -> Plan | None:
    """Return how a formula is run over views as they are; None if some must be copied first.

    Args:
        formula: what to compute.
        inputs: views of one shape, which is not empty; none is narrow. Nobody looks at a storage.
        outputs: likewise.
        parallel: whether to use all threads.
        small: whether they have too few elements to repay a kernel of rows.
    """
    views = (*inputs, *outputs)
    loop = loop_over(inputs, outputs, small)
    if loop.form == "strided":
        return None
    kernel = elementwise_kernel(
        formula,
        tuple([view.dtype for view in inputs]),
        tuple([view.dtype for view in outputs]),
        loop.form,
        loop.repeats[: len(inputs)],
        loop.transposed[: len(inputs)],
    )
    return kernel, loops.pieces(loop, tuple([view.offset for view in views]), parallel)


def loop_over(
    inputs: Sequence[TensorData], outputs: Sequence[TensorData], small: bool
) -> loops.Loop:
    """Return the leanest loop over views of one shape; see `plan`."""
    views = (*inputs, *outputs)
    layout = collapse(views[0].shape, tuple([view.strides for view in views]))
    return loops.leanest(layout, len(inputs), small, loops.shortest_row(views))


def run_formula(
    formula: Formula,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
    parallel: bool,
) -> None:
    """Run a formula over views; see `plan`."""
    found = plan(formula, inputs, outputs, parallel, inputs[0].size < loops.WORTH_A_KERNEL)
    if found is None:
        _run_in_rows(formula, inputs, outputs, parallel)
        return
    storages = [view.storage for view in (*inputs, *outputs)]
    loops.run_pieces(*found, storages, parallel)


def _run_in_rows(
    formula: Formula,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
    parallel: bool,
) -> None:
    """Run a formula over rows that are copies of inputs which do not fit, and back to outputs."""
    fitting = [
        view if fits else _in_a_row(view, parallel)
        for view, fits in zip(inputs, _fitting(inputs, outputs), strict=True)
    ]
    rows = [_row(view) for view in outputs]
    run_formula(formula, fitting, rows, parallel)
    for row, out in zip(rows, outputs, strict=True):
        if row is not out:
            movement.copy(row, out, parallel)


def _fitting(inputs: Sequence[TensorData], outputs: Sequence[TensorData]) -> list[bool]:
    """Return which of the inputs a kernel of the formula's own reads where they are."""
    views = (*inputs, *outputs)
    layout = collapse(views[0].shape, tuple([view.strides for view in views]))
    if layout.size < loops.WORTH_A_KERNEL:
        return [False] * len(inputs)
    columns: tuple[bool, ...] = (False,) * len(views)
    if loops.TRANSPOSED:
        columns = loops.TRANSPOSED["views"](layout, len(inputs), loops.shortest_row(views))
    return [step in (0, 1) or column for step, column in zip(layout.steps(), columns, strict=True)][
        : len(inputs)
    ]


def _row(view: TensorData) -> TensorData:
    """Return a contiguous view of the same shape, with any elements: itself if it is one."""
    if view.is_contiguous():
        return view
    return TensorData(empty(view.size, view.dtype.numpy), view.shape, dtype=view.dtype)


def _in_a_row(view: TensorData, parallel: bool) -> TensorData:
    """Return a view of the same elements that is contiguous."""
    row = _row(view)
    if row is not view:
        movement.copy(view, row, parallel)
    return row
