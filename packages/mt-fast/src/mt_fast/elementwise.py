"""Formulas over whole tensors: the element-wise primitive.

Contiguous memory, and numbers broadcast over it, need one loop. Other layouts have kernels of
their own once a tensor is large enough to repay compiling them; below that, what is strided is
copied into a row first, and one kernel for each formula and dtype does it all.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from mt_fast import codegen, loops, movement
from mt_fast.codegen import Form
from mt_fast.compilation import Kernel, compiled
from mt_fast.layouts import collapse
from mt_fast.spelling import TABLE
from mt_operators import Formula
from mt_tensor.dtypes import DType
from mt_tensor.tensor_data import TensorData


@functools.lru_cache(None)
def elementwise_kernel(
    formula: Formula,
    inputs: tuple[DType, ...],
    outputs: tuple[DType, ...],
    form: Form,
    repeats: tuple[bool, ...],
) -> Kernel:
    """Return the kernel of a formula; see `codegen.elementwise`."""
    return compiled(
        codegen.elementwise(formula, inputs, outputs, table=TABLE, form=form, repeats=repeats)
    )


def run_formula(
    formula: Formula,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
    parallel: bool,
) -> None:
    """Run a formula over views of one shape, which is not empty; none is float16."""
    views = (*inputs, *outputs)
    if views[0].size < loops.WORTH_A_KERNEL:
        layout = collapse(views[0].shape, tuple(view.strides for view in views))
        if loops.form_of(layout, len(inputs))[0] != "flat":
            rows = [_row(view) for view in outputs]
            run_formula(formula, [_in_a_row(view) for view in inputs], rows, parallel)
            for row, out in zip(rows, outputs, strict=True):
                if row is not out:
                    movement.copy(row, out, parallel)
            return

    def find(form: Form, repeats: tuple[bool, ...]) -> Kernel:
        return elementwise_kernel(
            formula,
            tuple(view.dtype for view in inputs),
            tuple(view.dtype for view in outputs),
            form,
            repeats[: len(inputs)],
        )

    loops.run_loop(find, views, len(inputs), parallel)


def _row(view: TensorData) -> TensorData:
    """Return a contiguous view of the same shape, with room for the elements: itself if it is."""
    if view.is_contiguous():
        return view
    return TensorData(np.empty(view.size, view.dtype.numpy), view.shape, dtype=view.dtype)


def _in_a_row(view: TensorData) -> TensorData:
    """Return a view of the same elements that is contiguous."""
    row = _row(view)
    if row is not view:
        movement.copy(view, row, parallel=False)
    return row
