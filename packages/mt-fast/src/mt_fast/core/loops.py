"""Collapse a loop over views of any rank into a few nested loops over memory, and run a kernel.

A loop may visit the elements in any order. So its dimensions are sorted as they lie in memory,
those of size 1 are dropped, and neighbours that are evenly spaced are merged. A contiguous tensor
of any shape collapses into one dimension; few tensors in practice keep more than two.

What is left decides the form of the kernel (see `source.py`). Kernels have a fixed number of
dimensions. Where a loop has more, the outermost are walked here, with one call of the kernel for
each step. All of this is arithmetic on shapes and strides, and its results are cached.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mt_fast.core.kernel import Kernel
from mt_fast.core.source import OUTER
from mt_fast.core.tables import SPECIAL_CASES
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape, Strides

REMEMBERED = 4096
"""The size of caches keyed by layouts; a training step meets some tens of layouts."""

WORTH_A_KERNEL = 16384
"""Elements from which a layout repays a kernel of its own. Views of fewer are copied to contiguous
memory by NumPy: compiling one more kernel takes longer than many such copies."""

PIECE = 16384
"""The least number of elements of the pieces that long rows are cut into, for threads to share."""

FEW = 16
"""Rows are cut only if there are fewer of them than this."""


@dataclass(frozen=True, slots=True)
class LoopLayout:
    """The dimensions of a loop over several views, the innermost last.

    Attributes:
        sizes: the size of each dimension, above 1.
        strides: for each view, its strides.
        starts: for each view, the position of its first element.
    """

    sizes: tuple[int, ...]
    strides: tuple[Strides, ...]
    starts: tuple[int, ...]


def collapse(views: Sequence[Layout]) -> LoopLayout:
    """Return the shortest loop over views of one shape, in which no size is 0.

    The last view decides the order: its smallest stride becomes the innermost dimension, and
    dimensions in which it runs backwards are reversed.
    """
    columns = [
        (size, tuple([view.strides[d] for view in views]))
        for d, size in enumerate(views[0].shape)
        if size != 1
    ]
    columns.sort(key=lambda column: [-abs(stride) for stride in reversed(column[1])])
    starts = [view.offset for view in views]
    merged: list[tuple[int, tuple[int, ...]]] = []
    for size, steps in columns:
        forward = steps
        if next((step for step in reversed(steps) if step), 0) < 0:
            for i, step in enumerate(steps):
                starts[i] += (size - 1) * step
            forward = tuple(-step for step in steps)
        if merged and merged[-1][1] == tuple(step * size for step in forward):
            merged[-1] = (merged[-1][0] * size, forward)
        else:
            merged.append((size, forward))
    return LoopLayout(
        tuple(size for size, _ in merged),
        tuple(tuple(steps[i] for _, steps in merged) for i in range(len(views))),
        tuple(starts),
    )


Piece = tuple[int, tuple[Any, ...], Sequence[Any]]
"""One call of a kernel: the number of units; the sizes of its loop, if it takes any; and for each
view its start, followed by its strides if the form is not `flat`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over memory, in the leanest form of kernel that fits.

    Attributes:
        layout: the dimensions, and each view's strides.
        form: the form of the kernel.
        roles: for each view, how its elements lie in the innermost dimension: as a "row" of
            neighbors, as one "element" that repeats, or "apart".
        calls: the calls of the kernel.
    """

    layout: LoopLayout
    form: str
    roles: tuple[str, ...]
    calls: Sequence[Piece]

    def run(
        self, kernel: Kernel, storages: Sequence[Any], parallel: bool, *parameters: Any
    ) -> None:
        """Call a kernel, with its arguments before the views, for all pieces of the loop."""
        for units, sizes, places in self.calls:
            views = itertools.chain.from_iterable(zip(storages, places, strict=True))
            kernel.run(units, parallel, *sizes, *parameters, *views)


@functools.lru_cache(REMEMBERED)
def loop_over(
    views: tuple[Layout, ...], inputs: int, parallel: bool, strided: bool = False
) -> Loop:
    """Return the loop over views of one shape, which is not empty.

    Args:
        views: their layouts; the last one decides the order.
        inputs: the number of inputs, which come first; only they may repeat elements.
        parallel: whether it uses all threads.
        strided: whether the form must be `strided`.
    """
    layout = collapse(views)
    steps = [strides[-1] if strides else 1 for strides in layout.strides]
    roles = tuple([_role(step, i < inputs) for i, step in enumerate(steps)])
    if strided or "apart" in roles:
        special = None if strided else SPECIAL_CASES.get("loop")
        loop: Loop | None = special and special(layout, roles, views, inputs)
        return loop or Loop(layout, "strided", roles, nested(layout, parallel))
    if len(layout.sizes) > 1:
        return Loop(layout, "rows", roles, nested(layout, parallel))
    return Loop(layout, "flat", roles, [(math.prod(layout.sizes), (), layout.starts)])


def _role(step: int, is_input: bool) -> str:
    """Return the role of a view with this stride in the innermost dimension."""
    if step == 1:
        return "row"
    return "element" if step == 0 and is_input else "apart"


def nested(layout: LoopLayout, parallel: bool) -> Sequence[Piece]:
    """Return the calls of a kernel that has nested loops."""
    if parallel and layout.sizes:
        layout = _cut(layout)
    return [(math.prod(sizes[:-1]), (sizes,), places) for sizes, places in nests(layout)]


def _cut(layout: LoopLayout) -> LoopLayout:
    """Cut long rows into equal pieces if there are too few of them to give all threads work."""
    *outer, n = layout.sizes
    count = next((count for count in range(n // PIECE, 1, -1) if n % count == 0), 1)
    if math.prod(outer) >= FEW or count == 1:
        return layout
    strides = [(*steps[:-1], n // count * steps[-1], steps[-1]) for steps in layout.strides]
    return LoopLayout((*outer, count, n // count), tuple(strides), layout.starts)


def nests(layout: LoopLayout) -> Iterator[tuple[Shape, list[tuple[int, ...]]]]:
    """Yield the sizes of loops that a kernel can run, and for each view its start and strides.

    They have exactly `OUTER` dimensions and an innermost one, and together make up a loop.
    """
    missing = OUTER + 1 - len(layout.sizes)
    walked, padding = max(-missing, 0), (0,) * missing
    sizes = (1,) * missing + layout.sizes[walked:]
    for index in itertools.product(*map(range, layout.sizes[:walked])):
        views = zip(layout.starts, layout.strides, strict=True)
        places = [(at + sum(map(operator.mul, index, steps)), *padding, *steps[walked:])
                  for at, steps in views]  # fmt: skip
        yield sizes, places
