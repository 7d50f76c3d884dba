"""Running loops: choose the kernel that fits how tensors lie in memory, and call it.

Sits between the backend, which speaks of views, and the generated kernels, which know a few forms
of loops only. Where more dimensions are left than a kernel has, the outermost are walked here.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mt_operators import Formula
from mt_tensor.dtypes import DType
from mt_tensor.strides import Strides
from mt_tensor.tensor_data import TensorData

from mt_fast import codegen
from mt_fast.codegen import OUTER, Form
from mt_fast.compilation import Kernel, compiled
from mt_fast.layouts import Layout, collapse
from mt_fast.spelling import TABLE

PIECE = 16384
"""How many elements of a row one unit of a loop has at most."""

Find = Callable[[Form, tuple[bool, ...]], Kernel]
"""Returns the kernel for a form and, for each view, whether it repeats an element."""


def form_of(layout: Layout, inputs: int) -> tuple[Form, tuple[bool, ...]]:
    """Return the leanest form of a loop that fits, and which of the views repeat an element.

    Args:
        layout: the loop.
        inputs: how many of its views, the first, may repeat an element.
    """
    steps = layout.steps() if layout.extents else (1,) * len(layout.strides)
    dense = all(step == 1 for step in steps[inputs:]) and all(step in (0, 1) for step in steps)
    if not dense:
        return "strided", (False,) * len(steps)
    repeats = tuple(step == 0 for step in steps)
    return ("flat" if len(layout.extents) <= 1 else "rows"), repeats


def run_loop(
    find: Find, views: Sequence[TensorData], inputs: int, parallel: bool, *parameters: Any
) -> None:
    """Run an element-wise kernel over views of one shape, which is not empty.

    Args:
        find: returns the kernel.
        views: what it runs over, inputs first; the last decides the order of the loop.
        inputs: how many of them are inputs.
        parallel: whether to use all threads.
        *parameters: what the kernel takes before the views.
    """
    layout = collapse(views[0].shape, tuple(view.strides for view in views))
    starts = [view.offset + shift for view, shift in zip(views, layout.shifts, strict=True)]
    form, repeats = form_of(layout, inputs)
    kernel = find(form, repeats)
    if form == "flat":
        pairs = zip((view.storage for view in views), starts, strict=True)
        kernel.run(layout.size, parallel, *parameters, *itertools.chain(*pairs))
        return
    for moved, extents, strides in nests(layout, starts):
        length = min(extents[-1], PIECE)
        rows = extents[0] * extents[1] * extents[2]
        arguments: list[Any] = [(*extents, length), *parameters]
        for view, start, steps in zip(views, moved, strides, strict=True):
            arguments += (view.storage, (start, *steps))
        kernel.run(rows * -(-extents[-1] // length), parallel, *arguments)


def nests(
    layout: Layout, starts: Sequence[int]
) -> Iterator[tuple[list[int], tuple[int, ...], list[Strides]]]:
    """Yield start positions, extents and strides of the nests of four loops that make up a loop."""
    missing = (0,) * (OUTER + 1 - len(layout.extents))
    inner = len(layout.extents) - (OUTER + 1) if not missing else 0
    extents = (*(1 for _ in missing), *layout.extents[inner:])
    strides = [(*missing, *steps[inner:]) for steps in layout.strides]
    for index in itertools.product(*map(range, layout.extents[:inner])):
        moved = [
            start + sum(i * step for i, step in zip(index, steps[:inner], strict=True))
            for start, steps in zip(starts, layout.strides, strict=True)
        ]
        yield moved, extents, strides


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

    def find(form: Form, repeats: tuple[bool, ...]) -> Kernel:
        return elementwise_kernel(
            formula,
            tuple(view.dtype for view in inputs),
            tuple(view.dtype for view in outputs),
            form,
            repeats[: len(inputs)],
        )

    run_loop(find, (*inputs, *outputs), len(inputs), parallel)
