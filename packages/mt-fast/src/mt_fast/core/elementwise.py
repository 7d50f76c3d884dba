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
"""A kernel, and the calls of it that together make up a loop."""


def plan(
    formula: Formula,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
    parallel: bool,
    small: bool,
) -> Plan | None:
    """Return how a formula runs over views without copies; None if some must be copied first.

    Args:
        formula: the formula.
        inputs: views of one shape, which is not empty, and of no narrow dtype. Their storages are
            not read.
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
    """Run a formula over views, with copies of those that no kernel of it reads or writes."""
    found = plan(formula, inputs, outputs, parallel, inputs[0].size < loops.WORTH_A_KERNEL)
    if found is not None:
        storages = [view.storage for view in (*inputs, *outputs)]
        loops.run_pieces(*found, storages, parallel)
        return
    readable = _readable(inputs, outputs)
    copies = [
        view if can_read else _contiguous(view, parallel)
        for view, can_read in zip(inputs, readable, strict=True)
    ]
    results = [_like(view) for view in outputs]
    run_formula(formula, copies, results, parallel)
    for result, out in zip(results, outputs, strict=True):
        if result is not out:
            movement.copy(result, out, parallel)


def _readable(inputs: Sequence[TensorData], outputs: Sequence[TensorData]) -> list[bool]:
    """Return which inputs a kernel reads without a copy, if the outputs are contiguous."""
    views = (*inputs, *outputs)
    layout = collapse(views[0].shape, tuple([view.strides for view in views]))
    if layout.size < loops.WORTH_A_KERNEL:
        return [False] * len(inputs)
    columns: tuple[bool, ...] = (False,) * len(views)
    if loops.TRANSPOSED:
        columns = loops.TRANSPOSED["views"](layout, len(inputs), loops.shortest_row(views))
    steps = layout.steps()[: len(inputs)]
    return [step in (0, 1) or columns[i] for i, step in enumerate(steps)]


def _like(view: TensorData) -> TensorData:
    """Return a view with arbitrary elements that is contiguous: the view itself if it is."""
    if view.is_contiguous():
        return view
    return TensorData(empty(view.size, view.dtype.numpy), view.shape, dtype=view.dtype)


def _contiguous(view: TensorData, parallel: bool) -> TensorData:
    """Return a contiguous view of the same elements: the view itself if it is."""
    out = _like(view)
    if out is not view:
        movement.copy(view, out, parallel)
    return out
