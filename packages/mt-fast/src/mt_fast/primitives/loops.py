"""Running loops: choose the kernel that fits how tensors lie in memory, and call it.

Sits between the backend, which speaks of views, and the generated kernels, which know a few forms
of loops only. Where more dimensions are left than a kernel has, the outermost are walked here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mt_fast.compilation.kernel import Kernel
from mt_fast.generation.loops import OUTER, Form
from mt_fast.generation.movement import TILE
from mt_fast.primitives.layouts import Layout, collapse
from mt_tensor.strides import Strides, size_of
from mt_tensor.tensor_data import TensorData

PIECE = 16384
"""How many elements the pieces have that long rows are cut into."""

FEW = 16
"""Rows are cut only if there are fewer of them than this."""

WORTH_A_KERNEL = 16384
"""Elements from which rows get a kernel of their own. Any kernel of the form `strided` does smaller
ones as well, and compiling one more takes longer than many such loops."""

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
    flat = len(layout.extents) <= 1
    if not dense or not (flat or layout.size >= WORTH_A_KERNEL):
        return "strided", (False,) * len(steps)
    return ("flat" if flat else "rows"), tuple(step == 0 for step in steps)


def run_loop(
    find: Find,
    views: Sequence[TensorData],
    inputs: int,
    parallel: bool,
    *parameters: Any,
    strided: bool = False,
) -> None:
    """Run an element-wise kernel over views of one shape, which is not empty.

    Args:
        find: returns the kernel.
        views: what it runs over, inputs first; the last decides the order of the loop.
        inputs: how many of them are inputs.
        parallel: whether to use all threads.
        *parameters: what the kernel takes before the views.
        strided: whether there is a kernel of the form `strided` only.
    """
    layout = collapse(views[0].shape, tuple(view.strides for view in views))
    starts = [view.offset + shift for view, shift in zip(views, layout.shifts, strict=True)]
    form, repeats = ("strided", ()) if strided else form_of(layout, inputs)
    kernel = find(form, repeats)
    if form == "flat":
        pairs = zip((view.storage for view in views), starts, strict=True)
        kernel.run(layout.size, parallel, *parameters, *itertools.chain(*pairs))
        return
    for extents, strides, moved in _nests(layout.extents, layout.strides, starts, parallel):
        arguments: list[Any] = [extents, *parameters]
        for view, start, steps in zip(views, moved, strides, strict=True):
            arguments += (view.storage, (start, *steps))
        kernel.run(extents[0] * extents[1] * extents[2], parallel, *arguments)


def run_tiles(
    find: Callable[[], Kernel], source: TensorData, out: TensorData, parallel: bool
) -> bool:
    """Run a kernel that makes rows of columns over two views of one shape, if they are that.

    Args:
        find: returns the kernel; see `generation/movement.py`.
        source: what it reads.
        out: what it writes.
        parallel: whether to use all threads.

    Returns:
        Whether it was run.
    """
    layout = collapse(source.shape, (source.strides, out.strides))
    read, written = layout.strides
    if not layout.extents or written[-1] != 1 or read[-1] in (0, 1) or 1 not in read:
        return False
    column = read.index(1)
    order = (*(d for d in range(len(read)) if d != column and d != len(read) - 1), column, -1)
    counts, *strides = (tuple(of[d] for d in order) for of in (layout.extents, read, written))
    starts = [view.offset + shift for view, shift in zip((source, out), layout.shifts, strict=True)]
    for extents, steps, moved in _nests(counts, strides, starts, False):
        units = extents[0] * extents[1] * -(-extents[2] // TILE)
        layouts = [(start, *step) for start, step in zip(moved, steps, strict=True)]
        views = (source.storage, layouts[0], out.storage, layouts[1])
        find().run(units, parallel, extents, *views)
    return True


Nest = tuple[tuple[int, ...], Sequence[Strides], Sequence[int]]
"""Extents, and for each view its strides and its start, of a loop that a kernel can run."""


def _nests(
    extents: tuple[int, ...], strides: Sequence[Strides], starts: Sequence[int], split: bool
) -> Iterator[Nest]:
    """Yield loops of exactly four dimensions that together make up a loop.

    With `split`, long rows are cut if there are too few of them to give all threads work.
    """
    missing = OUTER + 1 - len(extents)
    if missing < 0:
        for i in range(extents[0]):
            moved = [start + i * steps[0] for start, steps in zip(starts, strides, strict=True)]
            yield from _nests(extents[1:], [steps[1:] for steps in strides], moved, split)
    elif split and missing and extents[-1] > PIECE and size_of(extents[:-1]) < FEW:
        count, rest = divmod(extents[-1], PIECE)
        cut = [(*steps[:-1], PIECE * steps[-1], steps[-1]) for steps in strides]
        yield from _nests((*extents[:-1], count, PIECE), cut, starts, False)
        if rest:
            done = count * PIECE
            moved = [start + done * steps[-1] for start, steps in zip(starts, strides, strict=True)]
            yield from _nests((*extents[:-1], rest), strides, moved, False)
    else:
        padded = [(*(0 for _ in range(missing)), *steps) for steps in strides]
        yield (*(1 for _ in range(missing)), *extents), padded, starts
