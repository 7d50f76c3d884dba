"""Choose the form of loop that fits how views lie in memory, and call its kernel.

Kernels have a fixed number of dimensions. Where a layout has more, the outermost are walked here,
with one call of the kernel for each step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mt_fast.core.kernel import Kernel
from mt_fast.core.layouts import REMEMBERED, LoopLayout
from mt_fast.core.loop_source import ROWS_OUTER, Form
from mt_tensor import TensorData
from mt_tensor.core.strides import Strides, size_of

PIECE = 16384
"""The number of elements of the pieces that long rows are cut into."""

FEW = 16
"""Rows are cut only if there are fewer of them than this."""

WORTH_A_KERNEL = 16384
"""Elements from which rows get a kernel of their own. Fewer are copied to contiguous memory:
compiling one more kernel takes longer than many such copies."""

LONG = 128
"""The least number of bytes of a row that is transposed for a kernel to read: over shorter rows, a
loop would hardly do more than begin and end."""

SHORT = 8
"""The least number of elements of rows and columns for copies row by row, or transposed."""

TRANSPOSED: dict[str, Callable[..., Any]] = {}
"""How to run loops whose rows come from columns, in the form `transposed` (`transposition/`):
`views(layout, inputs, shortest)` returns which views are transposed, and `pieces(loop, starts)` the
calls of a kernel."""

Find = Callable[[Form, tuple[bool, ...], tuple[bool, ...]], Kernel]
"""Returns the kernel for a form and, for each view, whether it repeats an element, and whether its
elements in a row come from a column."""

Sizes = tuple[int, ...]

Piece = tuple[int, tuple[Any, ...], Sequence[Any]]
"""One call of a kernel: the number of units; the sizes of its loop, if it takes any; and for each
view None, in place of the storage, and its start, followed by its strides if the form is not
`flat`."""


def shortest_row(views: Sequence[TensorData]) -> int:
    """Return the length of a row of `LONG` bytes, of the widest dtype among the views."""
    return LONG // max([view.dtype.itemsize for view in views])


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over memory and the form of a kernel for it.

    Attributes:
        layout: the dimensions, and each view's strides.
        form: the form of the kernel; see `loop_source.py`.
        repeats: for each view, whether a row of it is one element.
        transposed: for each view, whether a row of it comes from a column.
    """

    layout: LoopLayout
    form: Form
    repeats: tuple[bool, ...]
    transposed: tuple[bool, ...]


def strided(layout: LoopLayout) -> Loop:
    """Return a loop in the form that fits every layout."""
    none = (False,) * len(layout.strides)
    return Loop(layout, "strided", none, none)


@functools.lru_cache(REMEMBERED)
def leanest(layout: LoopLayout, inputs: int, small: bool, shortest: int = 0) -> Loop:
    """Return a loop in the leanest form that fits.

    Args:
        layout: its dimensions.
        inputs: the number of inputs, which come first; only they may repeat elements.
        small: whether it has too few elements to repay a kernel of rows.
        shortest: the least number of elements of rows that come from columns.
    """
    flat = len(layout.sizes) <= 1
    if small and not flat:
        return strided(layout)
    none = (False,) * len(layout.strides)
    steps = layout.steps() if layout.sizes else (1,) * len(none)
    transposed = none
    if TRANSPOSED and not {0, 1}.issuperset(steps):
        transposed = TRANSPOSED["views"](layout, inputs, shortest)
    others = {step for step, column in zip(steps, transposed, strict=True) if not column}
    if not ({0, 1}.issuperset(others) and {1}.issuperset(steps[inputs:])):
        return strided(layout)
    form: Form = "flat" if flat else "transposed" if any(transposed) else "rows"
    return Loop(layout, form, tuple([step == 0 for step in steps]), transposed)


def run_loop(
    find: Find, views: Sequence[TensorData], loop: Loop, parallel: bool, *parameters: Any
) -> None:
    """Run an element-wise kernel over views of one shape, which is not empty.

    Args:
        find: returns the kernel.
        views: the views.
        loop: the form and layout of the loop.
        parallel: whether to use all threads.
        *parameters: the arguments of the kernel before the views.
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
    for units, sizes, places in calls:
        arguments = [*sizes, *parameters, *places]
        arguments[-len(places) :: 2] = storages
        if parallel:
            kernel.run(units, True, *arguments)
        else:
            kernel.serial(0, units, *arguments)


@functools.lru_cache(REMEMBERED)
def pieces(loop: Loop, offsets: tuple[int, ...], parallel: bool) -> Sequence[Piece]:
    """Return the calls of a kernel that make up a loop.

    Args:
        loop: the form and layout of the loop.
        offsets: for each view, the position of its element at index (0, 0, ...).
        parallel: whether the calls use all threads.
    """
    layout, form = loop.layout, loop.form
    starts = tuple([at + shift for at, shift in zip(offsets, layout.shifts, strict=True)])
    if form == "flat":
        return [(layout.size, (), with_gaps(starts))]
    if form == "transposed":
        return TRANSPOSED["pieces"](loop, starts)  # type: ignore[no-any-return]
    if form == "strided" and len(layout.sizes) > 1 and layout.sizes[-1] < SHORT:
        layout = _longer_last(layout)
    return [
        (size_of(sizes[:-1]), (sizes,), with_gaps(places))
        for sizes, places in nests(ROWS_OUTER, layout, starts, parallel)
    ]


def with_gaps(places: Iterable[Any]) -> Sequence[Any]:
    """Return places with a gap before each, for its storage."""
    return [item for place in places for item in (None, place)]


def _longer_last(layout: LoopLayout) -> LoopLayout:
    """Swap the last two dimensions if the last one is shorter."""
    if layout.sizes[-2] <= layout.sizes[-1]:
        return layout
    sizes, *strides = ((*of[:-2], of[-1], of[-2]) for of in (layout.sizes, *layout.strides))
    return LoopLayout(sizes, tuple(strides), layout.shifts)


def nests(
    outer: int, layout: LoopLayout, starts: Sequence[int], split: bool
) -> Iterator[tuple[Sizes, list[Strides]]]:
    """Yield the sizes of loops that a kernel can run, and for each view its start and strides.

    They have exactly `outer` dimensions and an innermost one, and together make up a loop. With
    `split`, long rows are cut if there are too few of them to give all threads work.
    """
    sizes, strides = layout.sizes, layout.strides
    missing = outer + 1 - len(sizes)
    if missing < 0:
        inner = LoopLayout(sizes[1:], tuple([steps[1:] for steps in strides]), layout.shifts)
        for i in range(sizes[0]):
            moved = [start + i * steps[0] for start, steps in zip(starts, strides, strict=True)]
            yield from nests(outer, inner, moved, split)
    elif split and missing and sizes and sizes[-1] > PIECE and size_of(sizes[:-1]) < FEW:
        count, rest = divmod(sizes[-1], PIECE)
        cut = tuple([(*steps[:-1], PIECE * steps[-1], steps[-1]) for steps in strides])
        pieces = LoopLayout((*sizes[:-1], count, PIECE), cut, layout.shifts)
        yield from nests(outer, pieces, starts, False)
        if rest:
            ends = zip(starts, strides, strict=True)
            moved = [start + count * PIECE * steps[-1] for start, steps in ends]
            last = LoopLayout((*sizes[:-1], rest), strides, layout.shifts)
            yield from nests(outer, last, moved, False)
    else:
        padding = (0,) * missing
        views = zip(starts, strides, strict=True)
        yield (1,) * missing + sizes, [(start, *padding, *steps) for start, steps in views]
