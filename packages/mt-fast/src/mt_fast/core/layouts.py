"""Collapse a loop over views of any rank into a few nested loops over memory.

A loop may visit the elements in any order. So its dimensions are sorted as they lie in memory,
those of size 1 are dropped, and neighbours that are evenly spaced are merged. A contiguous tensor
of any shape collapses into one dimension; few tensors in practice keep more than two. This is
arithmetic on shapes and strides, and its results are cached.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from mt_tensor.core.strides import Shape, Strides

REMEMBERED = 4096
"""The size of caches keyed by layouts; a training step meets some tens of layouts."""


@dataclass(frozen=True, slots=True)
class LoopLayout:
    """The dimensions of a loop over several views, the innermost last.

    Attributes:
        sizes: the size of each dimension, above 1.
        strides: for each view, its strides.
        shifts: for each view, how far its first element moved because dimensions were reversed.
    """

    sizes: tuple[int, ...]
    strides: tuple[Strides, ...]
    shifts: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements the loop visits."""
        return math.prod(self.sizes)

    def steps(self) -> tuple[int, ...]:
        """Return the innermost stride of each view; 0 if there is a single element."""
        return tuple(strides[-1] if strides else 0 for strides in self.strides)


@functools.lru_cache(REMEMBERED)
def collapse(shape: Shape, strides: tuple[Strides, ...]) -> LoopLayout:
    """Return the shortest loop over views of one shape.

    The last view decides the order: its smallest stride becomes the innermost dimension, and
    dimensions in which it runs backwards are reversed.

    Args:
        shape: the shape of all views; no size is 0.
        strides: for each view, its strides.
    """
    columns = [
        (size, tuple(view[d] for view in strides)) for d, size in enumerate(shape) if size != 1
    ]
    columns.sort(key=lambda column: [-abs(stride) for stride in reversed(column[1])])
    shifts = [0] * len(strides)
    merged: list[tuple[int, tuple[int, ...]]] = []
    for size, steps in columns:
        forward = steps
        if next((step for step in reversed(steps) if step), 0) < 0:
            for i, step in enumerate(steps):
                shifts[i] += (size - 1) * step
            forward = tuple(-step for step in steps)
        if merged and merged[-1][1] == tuple(step * size for step in forward):
            merged[-1] = (merged[-1][0] * size, forward)
        else:
            merged.append((size, forward))
    return LoopLayout(
        tuple(size for size, _ in merged),
        tuple(tuple(steps[i] for _, steps in merged) for i in range(len(strides))),
        tuple(shifts),
    )
