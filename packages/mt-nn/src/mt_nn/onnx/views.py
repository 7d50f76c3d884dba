"""Strided views as nodes.

Creating a view only changes strides, without a call of the backend, so a tape cannot record it.
ONNX has no strides. So the operators that compute a view of a row-major value are derived from its
strides: Reshape, Slice, Transpose, Reshape and Expand, in this order; as few of them as possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mt_nn.onnx.graph import Graph
from mt_tensor.extending import Array, Shape, Strides, size_of, strides_from_shape

BEGINNING = -(2**62)
"""The end of a slice with a negative step that includes the first element."""


@dataclass
class View:
    """A view of a row-major value: its shape, strides and offset."""

    shape: Shape
    strides: Strides
    offset: int

    def positions(self) -> Array:
        """Return the position of each element in the value."""
        positions = np.full((), self.offset, np.int64)
        for size, stride in zip(self.shape, self.strides, strict=True):
            positions = positions[..., None] + np.arange(size) * stride
        return positions

    @property
    def end(self) -> int:
        """The position after the last element."""
        pairs = zip(self.shape, self.strides, strict=True)
        return 1 + self.offset + sum(max((size - 1) * stride, 0) for size, stride in pairs)

    def without_repetition(self) -> View:
        """Return the view in which dimensions of stride 0 have size 1."""
        pairs = zip(self.shape, self.strides, strict=True)
        shape = tuple([size if stride else min(size, 1) for size, stride in pairs])
        return View(shape, self.strides, self.offset)

    def rows_of(self, base: Shape) -> View | None:
        """Return the view of one row, if this is the same for each row of a value; else None."""
        row = size_of(base[1:])
        if not base or not self.shape or (self.shape[0], self.strides[0]) != (base[0], row):
            return None
        inner = View(self.shape[1:], self.strides[1:], self.offset)
        return inner if inner.end <= row else None

    def covers(self, count: int) -> bool:
        """Return whether the view has all elements of a value, in their order."""
        kept = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        expected = strides_from_shape(tuple([n for n, _ in kept]))
        is_row_major = tuple([s for _, s in kept]) == expected
        return is_row_major and self.offset == 0 and size_of(self.shape) == count


def add_view(graph: Graph, name: str, base: Shape, view: View) -> str:
    """Add the operators that compute a view of a value of shape `base`."""
    count = size_of(base)
    if view.covers(count):
        return graph.reshape(name, base, view.shape)
    small = view.without_repetition()
    dims = [d for d, size in enumerate(small.shape) if size != 1]
    for steps in _steps(base, [abs(small.strides[d]) for d in dims]):
        result = _add_slices(graph, name, base, small, dims, steps)
        if result is not None:
            break
    else:
        result = _add_gather(graph, name, base, small)
    if small.shape == view.shape:
        return result
    return graph.add("Expand", result, graph.vector(view.shape))


def _add_gather(graph: Graph, name: str, base: Shape, view: View) -> str:
    """Add a lookup of all positions of a view; of those in a row, if it has all rows of a value."""
    inner = view.rows_of(base)
    if inner is not None:
        rows = graph.reshape(name, base, (base[0], size_of(base[1:])))
        return graph.add("Gather", rows, graph.constant(inner.positions()), axis=1)
    flat = graph.reshape(name, base, (size_of(base),))
    return graph.add("Gather", flat, graph.constant(view.positions()), axis=0)


def _steps(base: Shape, strides: list[int]) -> Iterable[list[int]]:
    """Yield strides of the dimensions that the value may be reshaped to."""
    base_strides = {
        stride for size, stride in zip(base, strides_from_shape(base), strict=True) if size > 1
    }
    for chosen in (base_strides, {*strides, 1}, {*base_strides, *strides, 1}):
        steps = sorted(chosen | {1}, reverse=True)
        limits = [size_of(base), *steps]
        if all(above % step == 0 for above, step in zip(limits, steps, strict=False)):
            yield steps


def _add_slices(
    graph: Graph, name: str, base: Shape, view: View, dims: list[int], steps: list[int]
) -> str | None:
    """Reshape a value to dimensions of these strides, and slice and permute it; None if impossible.

    Args:
        graph: the graph.
        name: the value.
        base: its shape.
        view: the view, without repetition.
        dims: the dimensions of the view with more than one element.
        steps: the strides, each a multiple of the next, the last one 1.
    """
    limits = [size_of(base), *steps]
    sizes = tuple([limits[i] // step for i, step in enumerate(steps)])
    signs = {d: 1 if view.strides[d] > 0 else -1 for d in dims}
    first = view.offset + sum((view.shape[d] - 1) * min(view.strides[d], 0) for d in dims)
    starts = [first // step % size for step, size in zip(steps, sizes, strict=True)]
    source: dict[int, int] = {}  # the dimension of the view, by that of the reshaped value
    for d in dims:
        stride = abs(view.strides[d])
        at = next(i for i, step in enumerate(steps) if stride >= step)
        last = starts[at] + (view.shape[d] - 1) * (stride // steps[at])
        if at in source or stride % steps[at] or last >= sizes[at]:
            return None
        source[at] = d
    result, shape = graph.reshape(name, base, sizes), list(sizes)
    slices = []
    for at, size in enumerate(sizes):
        length = step = 1
        if at in source:
            d = source[at]
            length, step = view.shape[d], abs(view.strides[d]) // steps[at] * signs[d]
        if length != size or step != 1:
            low, high = starts[at], starts[at] + (length - 1) * abs(step)
            limits_of = (low, high + 1) if step > 0 else (high, low - 1 if low else BEGINNING)
            slices.append((*limits_of, at, step))
            shape[at] = length
    if slices:
        result = graph.add("Slice", result, *map(graph.vector, zip(*slices, strict=True)))
    kept = sorted(source, key=lambda at: source[at])
    if kept != sorted(kept):
        order = [*(at for at in range(len(sizes)) if at not in source), *kept]
        result = graph.add("Transpose", result, perm=order)
        shape = [shape[at] for at in order]
    return graph.reshape(result, tuple(shape), view.shape)
