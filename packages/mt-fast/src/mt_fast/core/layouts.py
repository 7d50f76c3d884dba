"""Layouts: how a loop over views of any rank becomes a few nested loops over memory.

Tensors have any strides, and kernels a few forms: this file brings one to the other. A loop may
visit the elements in any order, so its dimensions are put in the order of memory, extents of 1 are
dropped, and neighbours that lie evenly spaced are merged. What is left of a contiguous tensor of
any shape is one dimension; few tensors in practice keep more than two. All of it is arithmetic on
shapes and strides, and is remembered.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from mt_tensor.extending import Shape, Strides

REMEMBERED = 4096
"""How many layouts are kept; a training step meets some tens."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The dimensions of a loop, the innermost last.

    It is of all views of the loop. Stage 2's `Layout` is that of one view, and the layout that a
    kernel takes (`positions.py`) a tuple of start and strides.

    Attributes:
        extents: how many steps each dimension has, all above 1.
        strides: for each view, its strides.
        shifts: for each view, how far its first element moved because dimensions were
            reversed.
    """

    extents: tuple[int, ...]
    strides: tuple[Strides, ...]
    shifts: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements the loop visits."""
        size = 1
        for extent in self.extents:
            size *= extent
        return size

    def steps(self) -> tuple[int, ...]:
        """Return the innermost stride of each view; 0 if there is a single element."""
        return tuple(strides[-1] if strides else 0 for strides in self.strides)


@functools.lru_cache(REMEMBERED)
def collapse(shape: Shape, strides: tuple[Strides, ...]) -> Layout:
    """Return the shortest loop over views of one shape.

    The last view decides the order: its smallest stride becomes the innermost dimension, and
    dimensions in which it runs backwards are reversed.

    Args:
        shape: the shape of all views; no extent is 0.
        strides: for each view, its strides.
    """
    columns = [
        (extent, tuple(view[d] for view in strides))
        for d, extent in enumerate(shape)
        if extent != 1
    ]
    columns.sort(key=lambda column: [-abs(stride) for stride in reversed(column[1])])
    shifts = [0] * len(strides)
    merged: list[tuple[int, tuple[int, ...]]] = []
    for extent, steps in columns:
        forward = steps
        if next((step for step in reversed(steps) if step), 0) < 0:
            for i, step in enumerate(steps):
                shifts[i] += (extent - 1) * step
            forward = tuple(-step for step in steps)
        if merged and merged[-1][1] == tuple(step * extent for step in forward):
            merged[-1] = (merged[-1][0] * extent, forward)
        else:
            merged.append((extent, forward))
    return Layout(
        tuple(extent for extent, _ in merged),
        tuple(tuple(steps[i] for _, steps in merged) for i in range(len(strides))),
        tuple(shifts),
    )
