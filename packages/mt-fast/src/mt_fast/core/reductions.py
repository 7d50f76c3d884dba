"""Reductions: choose how to walk over the elements to fold, and share the work.

The primitive `reduce`. Memory decides. If the elements that follow each other are folded together
(a sum over the last dimension), each output folds its runs; if they belong to different outputs (a
sum over the first), rows are added to rows. Where few outputs have much to fold, the fold is first
split into a fixed number of shorter ones, which gives every thread something to do and keeps
rounding errors small; the result therefore does not depend on the number of threads.

What has been chosen is a plan, a few calls of kernels, which depends on shapes and strides alone.
It is remembered, for working it out takes longer than adding ten thousand numbers.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mt_fast.core import reduction_source as texts
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.layouts import REMEMBERED, collapse
from mt_fast.core.loop_source import OUTER
from mt_fast.core.lowering import TABLE
from mt_fast.core.reduction_source import NESTED
from mt_operators import Operator
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import Layout as TensorLayout
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import folded_shape, size_of

COLUMNS = 4096
"""How many outputs are folded at once when rows are added to rows: they fit the L1 cache."""

SHARE = 16384
"""A fold is not split into parts of fewer elements than this."""

PARTS = 32
"""A fold is split into at most this many parts."""

FEW = 16
"""With at least this many units of work a fold is not split."""

SOURCE, OUT = 0, 1
"""The storages of a plan. Those with partial results come behind them."""

Position = tuple[int, int]
"""A storage of a plan, and a position in it."""


# --- Kernels ------------------------------------------------------------------------------------


@functools.lru_cache(None)
def fold_kernel(operator: Operator, dtype: DType, contiguous: bool) -> Kernel:
    """Return the kernel that folds runs; see `core/reduction_source.py`."""
    return compiled(texts.fold(operator, dtype, dtype, table=TABLE, contiguous=contiguous))


@functools.lru_cache(None)
def columns_kernel(operator: Operator, dtype: DType) -> Kernel:
    """Return the kernel that folds rows with rows; see `core/reduction_source.py`."""
    return compiled(texts.columns(operator, dtype, dtype, table=TABLE))


@functools.lru_cache(None)
def rows_kernel(operator: Operator, dtype: DType) -> Kernel:
    """Return the kernel that folds rows; see `core/reduction_source.py`."""
    return compiled(texts.fold_rows(operator, dtype, dtype, table=TABLE))


# --- Contiguous tensors -------------------------------------------------------------------------


def fold_rows(operator: Operator, source: TensorData, count: int, parallel_from: int) -> Any:
    """Fold the last `count` dimensions of a view that is contiguous and not empty.

    What a plan would find out is known beforehand then.

    Args:
        operator: what to fold with.
        source: the view.
        count: how many dimensions are folded.
        parallel_from: the number of elements from which all threads are used.

    Returns:
        A new storage, with one element for each row; or None if there are so many elements in so
        few rows that a plan would split them.
    """
    layout = source.layout
    dtype, shape = layout.dtype, layout.shape
    length = size_of(shape[len(shape) - count :])
    rows = layout.size // length
    parallel = layout.size >= parallel_from
    if parallel and rows < FEW:
        return None
    out = np.empty(rows, dtype.numpy)
    kernel = rows_kernel(operator, dtype)
    arguments = (length, source.storage, layout.offset, length, out, 0, 1)
    if parallel:
        kernel.run(rows, True, *arguments)
    else:
        kernel.serial(0, rows, *arguments)
    return out


# --- Plans for any layout -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a kernel, but for the storages that come between its arguments.

    Attributes:
        kernel: what is called.
        units: how many units of work there are.
        parallel: whether all threads share them.
        before: the arguments before the storage that is read.
        source: which storage that is, and the arguments after it.
        out: which storage is written, and the arguments after it.
    """

    kernel: Kernel
    units: int
    parallel: bool
    before: tuple[Any, ...]
    source: tuple[int, tuple[Any, ...]]
    out: tuple[int, tuple[Any, ...]]

    def run(self, storages: list[Any]) -> None:
        """Do it."""
        (read, source), (written, out) = self.source, self.out
        views = (storages[read], *source, storages[written], *out)
        self.kernel.run(self.units, self.parallel, *self.before, *views)


@dataclass(frozen=True, slots=True)
class Plan:
    """A reduction as a few calls of kernels.

    Attributes:
        steps: the calls.
        partial_sizes: how many partial results each storage of these holds.
    """

    steps: tuple[Step, ...]
    partial_sizes: tuple[int, ...]

    def run(self, source: Any, out: Any) -> None:
        """Reduce what is in a storage, and write to another."""
        storages = [source, out, *[np.empty(size, out.dtype) for size in self.partial_sizes]]
        for step in self.steps:
            step.run(storages)


@functools.lru_cache(REMEMBERED)
def planned(
    operator: Operator, source: TensorLayout, dims: tuple[int, ...], parallel_from: int
) -> Plan | None:
    """Return how to reduce a view to a contiguous one; None if there is nothing to fold.

    Args:
        operator: what to fold with.
        source: the layout of the view, which is not empty.
        dims: the dimensions to fold.
        parallel_from: the number of elements from which all threads are used.
    """
    shape, dtype = source.shape, source.dtype
    results = row_major(folded_shape(shape, dims, True), dtype).strides
    to = tuple([0 if d in dims else stride for d, stride in enumerate(results)])
    # `out` has strides of its own along what is kept, so that no folded dimension merges with it.
    layout = collapse(shape, (to, source.strides))
    kept: list[Dimension] = []
    folded: list[Dimension] = []
    inner_is_kept = False
    of_out, of_source = layout.strides
    for extent, out_stride, source_stride in zip(layout.extents, of_out, of_source, strict=True):
        inner_is_kept = out_stride != 0
        dimensions = kept if inner_is_kept else folded
        dimensions.append(Dimension(extent, source_stride, out_stride))
    if not folded:
        return None
    across = inner_is_kept and kept[-1].source == 1 and kept[-1].out == 1
    read, written = (SOURCE, source.offset + layout.shifts[1]), (OUT, layout.shifts[0])
    planner = _Planner(operator, dtype, parallel_from)
    planner.add(Fold(read, written, tuple(kept), tuple(folded), across))
    return Plan(tuple(planner.steps), tuple(planner.partial_sizes))


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of a reduction: how many steps, and how far apart in source and output."""

    extent: int
    source: int
    out: int = 0


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction as nested loops, each group from the outermost to the innermost.

    Attributes:
        source: where the first element is read.
        out: where the first result is written.
        kept: the dimensions that the outputs have.
        folded: the dimensions that are folded; at least one.
        across: whether the innermost loop is a kept one.
    """

    source: Position
    out: Position
    kept: tuple[Dimension, ...]
    folded: tuple[Dimension, ...]
    across: bool

    def outputs(self) -> int:
        """Return the number of outputs."""
        return size_of(d.extent for d in self.kept)

    def length(self) -> int:
        """Return how many elements go into one output."""
        return size_of(d.extent for d in self.folded)


class _Planner:
    """Makes the steps of a plan.

    Attributes:
        operator: what is folded with.
        dtype: the type of the elements, which partial results have too.
        parallel_from: the number of elements from which all threads are used.
        steps: those made so far.
        partial_sizes: how many results each storage of partial results holds.
    """

    def __init__(self, operator: Operator, dtype: DType, parallel_from: int) -> None:
        self.operator = operator
        self.dtype = dtype
        self.parallel_from = parallel_from
        self.steps: list[Step] = []
        self.partial_sizes: list[int] = []

    def add(self, fold: Fold) -> None:
        """Add a reduction: in two steps where one cannot do it, or would leave threads idle."""
        parts = self._parts(fold)
        if len(fold.folded) > NESTED:
            self._inner_first(fold)
        elif parts > 1:
            self._in_parts(fold, parts)
        else:
            self._at_once(fold)

    def _parts(self, fold: Fold) -> int:
        """Return into how many parts to split a fold."""
        elements = fold.outputs() * fold.length()
        units = fold.outputs() // COLUMNS if fold.across else fold.outputs()
        if elements < self.parallel_from or units >= FEW:
            return 1
        return min(PARTS, elements // SHARE, max(d.extent for d in fold.folded) // 2)

    def _in_parts(self, fold: Fold, parts: int) -> None:
        """Fold the longest folded dimension in parts, and then fold what the parts gave."""
        position, longest = max(enumerate(fold.folded), key=lambda pair: pair[1].extent)
        length, rest = divmod(longest.extent, parts)
        partial = self._partial(fold, parts + (rest > 0))

        def some(extent: int) -> tuple[Dimension, ...]:
            folded = list(fold.folded)
            folded[position] = replace(longest, extent=extent)
            return tuple(folded)

        chunks = Dimension(parts, length * longest.source, partial.outputs)
        self._at_once(partial.filled((chunks,), some(length)))
        if rest:
            start = parts * length * longest.source
            self._at_once(partial.filled((), some(rest), start, parts))
        self._at_once(partial.folded())

    def _inner_first(self, fold: Fold) -> None:
        """Fold the innermost dimensions, and then the others."""
        outer, inner = fold.folded[:-NESTED], fold.folded[-NESTED:]
        partial = self._partial(fold, size_of(d.extent for d in outer))
        lead: list[Dimension] = []
        step = partial.outputs
        for d in reversed(outer):
            lead.insert(0, replace(d, out=step))
            step *= d.extent
        self._at_once(partial.filled(tuple(lead), inner))
        self._at_once(partial.folded())

    def _partial(self, fold: Fold, slots: int) -> _Partial:
        """Add a storage of several results of each output."""
        self.partial_sizes.append(slots * fold.outputs())
        return _Partial(fold, slots, OUT + len(self.partial_sizes))

    def _at_once(self, fold: Fold) -> None:
        """Add a reduction that a kernel can do."""
        if fold.across:
            self._columns(fold)
        elif len(fold.kept) <= 1 and len(fold.folded) == 1 and fold.folded[0].source == 1:
            self._rows(fold)
        else:
            self._runs(fold)

    def _rows(self, fold: Fold) -> None:
        (row,), (read, source_start), (written, out_start) = fold.folded, fold.source, fold.out
        kept = fold.kept[0] if fold.kept else Dimension(1, 0)
        kernel = rows_kernel(self.operator, self.dtype)
        source, out = (read, (source_start, kept.source)), (written, (out_start, kept.out))
        self._add(kernel, kept.extent, fold, (row.extent,), source, out)

    def _runs(self, fold: Fold) -> None:
        kernel = fold_kernel(self.operator, self.dtype, fold.folded[-1].source == 1)
        folded = _padded(fold.folded, NESTED)
        for start, to, kept in _nests(fold, fold.kept, OUTER):
            self._nest(kernel, fold, (), (start, to), (kept, folded))

    def _columns(self, fold: Fold) -> None:
        kernel = columns_kernel(self.operator, self.dtype)
        folded = _padded(fold.folded, NESTED)
        width = fold.kept[-1].extent
        length = min(width, COLUMNS)
        pieces = Dimension(-(-width // length), length, length)
        for start, to, outer in _nests(fold, fold.kept[:-1], OUTER - 1):
            self._nest(kernel, fold, ((width, length),), (start, to), ((*outer, pieces), folded))

    def _nest(
        self,
        kernel: Kernel,
        fold: Fold,
        before: tuple[Any, ...],
        starts: tuple[int, int],
        dims: tuple[tuple[Dimension, ...], tuple[Dimension, ...]],
    ) -> None:
        """Add a call for loops of a fold that start in source and output at `starts`.

        `dims` are those kept, and those folded.
        """
        (source_start, out_start), (kept, folded) = starts, dims
        extents, counts = (tuple(d.extent for d in group) for group in dims)
        strides = tuple(d.source for d in folded)
        source = (fold.source[0], ((source_start, *(d.source for d in kept)), strides))
        out = (fold.out[0], ((out_start, *(d.out for d in kept)),))
        self._add(kernel, size_of(extents), fold, (*before, extents, counts), source, out)

    def _add(
        self,
        kernel: Kernel,
        units: int,
        fold: Fold,
        before: tuple[Any, ...],
        source: tuple[int, tuple[Any, ...]],
        out: tuple[int, tuple[Any, ...]],
    ) -> None:
        parallel = fold.outputs() * fold.length() >= self.parallel_from
        self.steps.append(Step(kernel, units, parallel, before, source, out))


class _Partial:
    """Several results of each output, which are folded once more.

    Attributes:
        whole: the reduction whose results they are.
        slots: how many there are of each output.
        storage: where they are.
        outputs: the number of outputs.
    """

    def __init__(self, whole: Fold, slots: int, storage: int) -> None:
        self.whole = whole
        self.slots = slots
        self.storage = storage
        self.outputs = whole.outputs()
        kept: list[Dimension] = []
        step = 1
        for d in reversed(whole.kept):
            kept.insert(0, replace(d, out=step))
            step *= d.extent
        self.kept = tuple(kept)

    def filled(
        self,
        lead: tuple[Dimension, ...],
        folded: tuple[Dimension, ...],
        shift: int = 0,
        slot: int = 0,
    ) -> Fold:
        """Return the fold that fills slots: those of the dimensions `lead`, from `slot` on."""
        read, start = self.whole.source
        return replace(
            self.whole,
            source=(read, start + shift),
            out=(self.storage, slot * self.outputs),
            kept=(*lead, *self.kept),
            folded=folded,
        )

    def folded(self) -> Fold:
        """Return the fold of all slots into the outputs."""
        kept = tuple(
            Dimension(whole.extent, inner.out, whole.out)
            for whole, inner in zip(self.whole.kept, self.kept, strict=True)
        )
        return Fold(
            (self.storage, 0),
            self.whole.out,
            kept,
            (Dimension(self.slots, self.outputs),),
            bool(kept) and kept[-1].out == 1,
        )


def _padded(dims: tuple[Dimension, ...], count: int) -> tuple[Dimension, ...]:
    """Return `count` dimensions, with extents of 1 in front."""
    return (*(Dimension(1, 0) for _ in range(count - len(dims))), *dims)


def _nests(
    fold: Fold, dims: tuple[Dimension, ...], count: int
) -> Iterator[tuple[int, int, tuple[Dimension, ...]]]:
    """Walk over the outermost kept dimensions, so that `count` are left for the kernel.

    Yields:
        The position in the source, the position in the output, and the dimensions left.
    """
    outer, inner = dims[: max(len(dims) - count, 0)], dims[max(len(dims) - count, 0) :]
    for index in itertools.product(*(range(d.extent) for d in outer)):
        start = fold.source[1] + sum(i * d.source for i, d in zip(index, outer, strict=True))
        to = fold.out[1] + sum(i * d.out for i, d in zip(index, outer, strict=True))
        yield start, to, _padded(inner, count)
