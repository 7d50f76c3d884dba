"""Running loops: choose the kernel that fits how tensors lie in memory, and call it.

It sits between the backend, which speaks of views, and the generated kernels, which know a few
forms of loops only. Where more dimensions are left than a kernel has, the outermost are walked
here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mt_fast.core.kernel import Kernel
from mt_fast.core.layouts import REMEMBERED, Layout
from mt_fast.core.loop_source import OUTER, ROWS_OUTER, TILE_COLUMNS, TILE_ROWS, Form
from mt_tensor import TensorData
from mt_tensor.extending import Strides, size_of

PIECE = 16384
"""How many elements the pieces have that long rows are cut into."""

FEW = 16
"""Rows are cut only if there are fewer of them than this."""

WORTH_A_KERNEL = 16384
"""Elements from which rows get a kernel of their own. Any kernel of the form `strided` does smaller
ones as well, and compiling one more takes longer than many such loops."""

LONG = 128
"""How many bytes rows have at least that are transposed for a kernel which then reads them: over
shorter ones a loop would hardly do more than begin and end."""

SHORT = 8
"""How many elements rows and columns have at least for copies row by row, or transposed."""

MOST_TRANSPOSED = 4
"""How many views a kernel transposes at most, in scratch memory on the stack of a thread."""

Find = Callable[[Form, tuple[bool, ...], tuple[bool, ...]], Kernel]
"""Returns the kernel for a form and, for each view, whether it repeats an element, and whether its
elements in a row come from a column."""

Piece = tuple[int, tuple[Any, ...], Sequence[Any]]
"""One call of a kernel: how many units it does; its extents, if it takes any; and for each view
None, where the storage will stand, and where it begins, in other forms with its strides."""


def shortest_row(views: Sequence[TensorData]) -> int:
    """Return how many elements a row has that is `LONG`, of the widest type among the views."""
    return LONG // max([view.dtype.itemsize for view in views])


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over memory and the form of a kernel for it.

    Attributes:
        layout: the dimensions, and each view's strides.
        form: what the kernel takes for granted; see `core/loop_source.py`.
        repeats: for each view, whether a row of it is one element; asked by `Find`.
        transposed: for each view, whether a row of it comes from a column; asked by `Find`.
    """

    layout: Layout
    form: Form
    repeats: tuple[bool, ...]
    transposed: tuple[bool, ...]


def strided(layout: Layout) -> Loop:
    """Return a loop in the form that fits every layout."""
    none = (False,) * len(layout.strides)
    return Loop(layout, "strided", none, none)


@functools.lru_cache(REMEMBERED)
def leanest(layout: Layout, inputs: int, small: bool, shortest: int = 0) -> Loop:
    """Return a loop in the leanest form that fits.

    Args:
        layout: its dimensions.
        inputs: how many of its views, the first, may be anything but rows.
        small: whether it has too few elements to repay a kernel of rows.
        shortest: how many elements rows have at least that are made of columns.
    """
    flat = len(layout.extents) <= 1
    if small and not flat:
        return strided(layout)
    none = (False,) * len(layout.strides)
    steps = layout.steps() if layout.extents else (1,) * len(none)
    transposed = none if {0, 1}.issuperset(steps) else transposed_views(layout, inputs, shortest)
    others = {step for step, column in zip(steps, transposed, strict=True) if not column}
    if not ({0, 1}.issuperset(others) and {1}.issuperset(steps[inputs:])):
        return strided(layout)
    form: Form = "flat" if flat else "transposed" if any(transposed) else "rows"
    return Loop(layout, form, tuple([step == 0 for step in steps]), transposed)


@functools.lru_cache(REMEMBERED)
def transposed_views(layout: Layout, inputs: int, shortest: int) -> tuple[bool, ...]:
    """Return which of the views have elements in a row that come from a column.

    These columns run along the same dimension in all of them. The arguments are those of `leanest`.
    """
    if layout.extents[-1] < shortest:
        return (False,) * len(layout.strides)
    columns = [_column(strides) for strides in layout.strides[:inputs]]
    column = next((d for d in columns if d is not None), None)
    views = [i for i, d in enumerate(columns) if d is not None and d == column]
    return tuple(i in views[:MOST_TRANSPOSED] for i in range(len(layout.strides)))


def _column(strides: Strides) -> int | None:
    """Return the dimension in which neighbours lie, if it is not the innermost."""
    return strides.index(1) if 1 in strides and strides[-1] not in (0, 1) else None


def run_loop(
    find: Find, views: Sequence[TensorData], loop: Loop, parallel: bool, *parameters: Any
) -> None:
    """Run an element-wise kernel over views of one shape, which is not empty.

    Args:
        find: returns the kernel.
        views: what it runs over.
        loop: how.
        parallel: whether to use all threads.
        *parameters: what the kernel takes before the views.
    """
    kernel = find(loop.form, loop.repeats, loop.transposed)
    calls = pieces(loop, tuple([view.offset for view in views]), parallel)
    run_pieces(kernel, calls, [view.storage for view in views], parallel, *parameters)


def run_pieces(
    kernel: Kernel,
    calls: Sequence[Piece],
    storages: Sequence[Any],
    parallel: bool,
    *parameters: Any,
) -> None:
    """Call a kernel for each piece of a loop over views that have these storages."""
    for units, extents, places in calls:
        arguments = [*extents, *parameters, *places]
        arguments[-len(places) :: 2] = storages
        if parallel:
            kernel.run(units, True, *arguments)
        else:
            kernel.serial(0, units, *arguments)


@functools.lru_cache(REMEMBERED)
def pieces(loop: Loop, offsets: tuple[int, ...], parallel: bool) -> Sequence[Piece]:
    """Return the calls of a kernel that make up a loop.

    Args:
        loop: its form, and how its views lie.
        offsets: for each view, where its element at index (0, 0, ...) lies.
        parallel: whether they use all threads.
    """
    layout, form, transposed = loop.layout, loop.form, loop.transposed
    starts = tuple([at + shift for at, shift in zip(offsets, layout.shifts, strict=True)])
    if form == "flat":
        return [(layout.size, (), _with_gaps(starts))]
    if form == "transposed":
        layout = _in_tiles(layout, layout.strides[transposed.index(True)].index(1))
    elif form == "strided" and len(layout.extents) > 1 and layout.extents[-1] < SHORT:
        layout = _longer_last(layout)
    outer = OUTER if form == "transposed" else ROWS_OUTER
    split = parallel and form != "transposed"
    return [
        (
            _units(form, extents),
            (extents,),
            _with_gaps((start, *steps) for start, steps in zip(moved, strides, strict=True)),
        )
        for extents, strides, moved in _nests(outer, layout.extents, layout.strides, starts, split)
    ]


def _with_gaps(places: Iterable[Any]) -> Sequence[Any]:
    """Return places with a gap before each, for the storage that it is in."""
    return [item for place in places for item in (None, place)]


def _in_tiles(layout: Layout, column: int) -> Layout:
    """Return a layout with the dimension along which columns run last but one."""
    last = len(layout.extents) - 1
    order = (*(d for d in range(last) if d != column), column, last)
    extents, *strides = (tuple([of[d] for d in order]) for of in (layout.extents, *layout.strides))
    return Layout(extents, tuple(strides), layout.shifts)


def _longer_last(layout: Layout) -> Layout:
    """Return a layout with the longer one of the last two dimensions last."""
    if layout.extents[-2] <= layout.extents[-1]:
        return layout
    extents, *strides = ((*of[:-2], of[-1], of[-2]) for of in (layout.extents, *layout.strides))
    return Layout(extents, tuple(strides), layout.shifts)


def _units(form: Form, extents: tuple[int, ...]) -> int:
    """Return how many rows a loop has, or how many tiles one of four dimensions has."""
    if form != "transposed":
        return size_of(extents[:-1])
    tiles = -(-extents[2] // TILE_ROWS) * -(-extents[3] // TILE_COLUMNS)
    return extents[0] * extents[1] * tiles


Nest = tuple[tuple[int, ...], Sequence[Strides], Sequence[int]]
"""Extents, and for each view its strides and its start, of a loop that a kernel can run."""


def _nests(
    outer: int,
    extents: tuple[int, ...],
    strides: Sequence[Strides],
    starts: Sequence[int],
    split: bool,
) -> Iterator[Nest]:
    """Yield loops of exactly `outer` dimensions and an innermost one that together make up a loop.

    With `split`, long rows are cut if there are too few of them to give all threads work.
    """
    missing = outer + 1 - len(extents)
    if missing < 0:
        for i in range(extents[0]):
            moved = [start + i * steps[0] for start, steps in zip(starts, strides, strict=True)]
            yield from _nests(outer, extents[1:], [steps[1:] for steps in strides], moved, split)
    elif split and missing and extents and extents[-1] > PIECE and size_of(extents[:-1]) < FEW:
        count, rest = divmod(extents[-1], PIECE)
        cut = [(*steps[:-1], PIECE * steps[-1], steps[-1]) for steps in strides]
        yield from _nests(outer, (*extents[:-1], count, PIECE), cut, starts, False)
        if rest:
            done = count * PIECE
            moved = [start + done * steps[-1] for start, steps in zip(starts, strides, strict=True)]
            yield from _nests(outer, (*extents[:-1], rest), strides, moved, False)
    else:
        padded = [(*(0 for _ in range(missing)), *steps) for steps in strides]
        yield (*(1 for _ in range(missing)), *extents), padded, starts
