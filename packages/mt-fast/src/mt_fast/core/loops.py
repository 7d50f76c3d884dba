"""Collapse a loop over views of any rank into few dimensions, and run a kernel over it.

A loop may visit the elements in any order. So dimensions are sorted by stride, those of size 1 are
dropped, and evenly spaced neighbors are merged. A contiguous tensor of any shape collapses into
one dimension; few tensors in practice keep more than two.

The remaining dimensions determine the form of the kernel (see `source.py`). Kernels have a fixed
number of dimensions. If a loop has more, the outermost are iterated over in Python, with one call
of the kernel for each index. The results of this arithmetic on shapes and strides are cached.
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
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape, Strides

CACHE_SIZE = 4096
"""The size of caches keyed by layouts; a training step uses a few dozen layouts."""

KERNEL_FROM = 16384
"""The number of elements from which a layout justifies another kernel. NumPy copies smaller views
to contiguous memory: compiling a kernel takes longer than many such copies."""

MIN_PIECE = 16384
"""The smallest number of elements of the pieces into which long rows are split among threads."""

MIN_ROWS = 16
"""Fewer rows than this do not occupy all threads, and are split."""


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
    """Return the loop with the fewest dimensions over views of one shape without sizes of 0.

    The last view determines the order: its smallest stride becomes the innermost dimension, and
    dimensions with a negative stride are reversed.
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
"""The arguments of one kernel call: the number of units; the sizes of the loop, unless the form is
`flat`; and for each view its start, followed by its strides unless the form is `flat`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over memory, with the cheapest form of kernel that supports it.

    Attributes:
        layout: the dimensions, and the strides of each view.
        form: the form of the kernel.
        roles: for each view, its elements in the innermost dimension: a contiguous "row", one
            repeated "element", or "strided" for any other stride.
        calls: the calls of the kernel.
    """

    layout: LoopLayout
    form: str
    roles: tuple[str, ...]
    calls: Sequence[Piece]

    def run(
        self, kernel: Kernel, storages: Sequence[Any], parallel: bool, *parameters: Any
    ) -> None:
        """Call a kernel for all pieces of the loop; `parameters` precede the views."""
        for units, sizes, starts in self.calls:
            views = itertools.chain.from_iterable(zip(storages, starts, strict=True))
            kernel.run(units, parallel, *sizes, *parameters, *views)


@functools.lru_cache(CACHE_SIZE)
def loop_over(
    views: tuple[Layout, ...], inputs: int, parallel: bool, strided: bool = False
) -> Loop:
    """Return the loop over views of one shape, which is not empty.

    Args:
        views: the layouts; the last one determines the order.
        inputs: the number of inputs, which come first; only they may repeat elements.
        parallel: whether to use all threads.
        strided: whether the form must be `strided`.
    """
    layout = collapse(views)
    steps = [strides[-1] if strides else 1 for strides in layout.strides]
    roles = tuple([_role(step, i < inputs) for i, step in enumerate(steps)])
    if strided or "strided" in roles:
        return Loop(layout, "strided", roles, nested(layout, parallel))
    if len(layout.sizes) > 1:
        return Loop(layout, "rows", roles, nested(layout, parallel))
    return Loop(layout, "flat", roles, [(math.prod(layout.sizes), (), layout.starts)])


def _role(step: int, is_input: bool) -> str:
    """Return the role of a view with this stride in the innermost dimension."""
    if step == 1:
        return "row"
    return "element" if step == 0 and is_input else "strided"


def nested(layout: LoopLayout, parallel: bool) -> Sequence[Piece]:
    """Return the calls of a kernel with nested loops."""
    if parallel and layout.sizes:
        layout = _split(layout)
    return [(math.prod(sizes[:-1]), (sizes,), starts) for sizes, starts in nests(layout)]


def _split(layout: LoopLayout) -> LoopLayout:
    """Split long rows into equal pieces if there are too few rows for all threads."""
    *outer, n = layout.sizes
    count = next((count for count in range(n // MIN_PIECE, 1, -1) if n % count == 0), 1)
    if math.prod(outer) >= MIN_ROWS or count == 1:
        return layout
    strides = [(*steps[:-1], n // count * steps[-1], steps[-1]) for steps in layout.strides]
    return LoopLayout((*outer, count, n // count), tuple(strides), layout.starts)


def nests(layout: LoopLayout) -> Iterator[tuple[Shape, list[tuple[int, ...]]]]:
    """Split a loop into loops of `OUTER` + 1 dimensions, which a kernel can run.

    Yield the sizes of each, and for each view its start and strides.
    """
    missing = OUTER + 1 - len(layout.sizes)
    extra, padding = max(-missing, 0), (0,) * missing
    sizes = (1,) * missing + layout.sizes[extra:]
    for index in itertools.product(*map(range, layout.sizes[:extra])):
        views = zip(layout.starts, layout.strides, strict=True)
        starts = [(at + sum(map(operator.mul, index, steps)), *padding, *steps[extra:])
                  for at, steps in views]  # fmt: skip
        yield sizes, starts
