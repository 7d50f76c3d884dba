"""Reductions: choose how to walk over the elements to fold, and share the work.

Memory decides. If the elements that follow each other are folded together (a sum over the last
dimension), each output folds its runs; if they belong to different outputs (a sum over the first),
rows are added to rows. Where few outputs have much to fold, the fold is first split into a fixed
number of shorter ones, which gives every thread something to do and keeps rounding errors small;
the result therefore does not depend on the number of threads.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel, compiled
from mt_fast.generation import codegen
from mt_fast.generation.codegen import NESTED, OUTER
from mt_fast.generation.spelling import TABLE
from mt_fast.primitives.layouts import collapse
from mt_operators import Operator
from mt_tensor.dtypes import DType
from mt_tensor.strides import size_of
from mt_tensor.tensor_data import TensorData

COLUMNS = 4096
"""How many outputs are folded at once when rows are added to rows: they fit the first cache."""

SHARE = 16384
"""A fold is not split into parts of fewer elements than this."""

PARTS = 64
"""A fold is split into at most this many parts."""

FEW = 16
"""With at least this many units of work a fold is not split."""


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
        source: the storage that is read, and its element type.
        start: the position of the first element.
        out: the storage that is written, its element type, and the position of the first element.
        kept: the dimensions that the outputs have.
        folded: the dimensions that are folded; at least one.
        across: whether the innermost loop is a kept one.
    """

    source: tuple[Any, DType]
    start: int
    out: tuple[Any, DType, int]
    kept: tuple[Dimension, ...]
    folded: tuple[Dimension, ...]
    across: bool

    def outputs(self) -> int:
        """Return the number of outputs."""
        return size_of(d.extent for d in self.kept)

    def length(self) -> int:
        """Return how many elements go into one output."""
        return size_of(d.extent for d in self.folded)


def plan(source: TensorData, out: TensorData, dims: tuple[int, ...]) -> Fold | None:
    """Return a reduction of a non-empty view as loops; None if there is nothing to fold."""
    strides = tuple(0 if d in dims else stride for d, stride in enumerate(out.strides))
    # `out` has strides of its own along what is kept, so that no folded dimension merges with it.
    layout = collapse(source.shape, (strides, source.strides))
    kept: list[Dimension] = []
    folded: list[Dimension] = []
    inner_is_kept = False
    for extent, at, to in zip(layout.extents, layout.strides[1], layout.strides[0], strict=True):
        inner_is_kept = to != 0
        (kept if inner_is_kept else folded).append(Dimension(extent, at, to))
    if not folded:
        return None
    across = inner_is_kept and kept[-1].source == 1 and kept[-1].out == 1
    return Fold(
        (source.storage, source.dtype),
        source.offset + layout.shifts[1],
        (out.storage, out.dtype, out.offset + layout.shifts[0]),
        tuple(kept),
        tuple(folded),
        across,
    )


@functools.lru_cache(None)
def fold_kernel(operator: Operator, source: DType, target: DType, contiguous: bool) -> Kernel:
    """Return the kernel that folds runs; see `codegen.fold`."""
    return compiled(codegen.fold(operator, source, target, table=TABLE, contiguous=contiguous))


@functools.lru_cache(None)
def columns_kernel(operator: Operator, source: DType, target: DType) -> Kernel:
    """Return the kernel that folds rows with rows; see `codegen.columns`."""
    return compiled(codegen.columns(operator, source, target, table=TABLE))


def fold_rows(operator: Operator, source: TensorData, count: int) -> Any:
    """Fold the last `count` dimensions of a view that lies in a row and is not empty.

    What `plan` would find out of a small tensor is known beforehand then.

    Returns:
        A new storage, with one element for each row.
    """
    dtype = source.dtype
    length = size_of(source.shape[len(source.shape) - count :])
    rows = source.size // length
    out = np.empty(rows, dtype.numpy)
    kernel = rows_kernel(operator, dtype, dtype)
    kernel.serial(0, rows, length, source.storage, source.offset, length, out, 0, 1)
    return out


@functools.lru_cache(None)
def rows_kernel(operator: Operator, source: DType, target: DType) -> Kernel:
    """Return the kernel that folds rows; see `codegen.fold_rows`."""
    return compiled(codegen.fold_rows(operator, source, target, table=TABLE))


class Reducer:
    """Runs reductions with one operator.

    Attributes:
        operator: the operator.
        empty: returns a new storage, from size and dtype.
        parallel_from: the number of elements from which all threads are used.
    """

    def __init__(
        self, operator: Operator, empty: Callable[[int, DType], Any], parallel_from: int
    ) -> None:
        self.operator = operator
        self.empty = empty
        self.parallel_from = parallel_from

    def run(self, fold: Fold) -> None:
        """Run a reduction: in two steps where one cannot do it, or would leave threads idle."""
        parts = self._parts(fold)
        if len(fold.folded) > NESTED:
            self._inner_first(fold)
        elif parts > 1:
            self._in_parts(fold, parts)
        elif fold.across:
            self._columns(fold)
        else:
            self._runs(fold)

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
        partial = _Partial(fold, parts + (rest > 0), self.empty)

        def some(extent: int) -> tuple[Dimension, ...]:
            folded = list(fold.folded)
            folded[position] = replace(longest, extent=extent)
            return tuple(folded)

        chunks = Dimension(parts, length * longest.source, partial.outputs)
        self.run_once(partial.filled((chunks,), some(length)))
        if rest:
            start = parts * length * longest.source
            self.run_once(partial.filled((), some(rest), start, parts))
        self.run_once(partial.folded())

    def _inner_first(self, fold: Fold) -> None:
        """Fold the innermost dimensions, and then the others."""
        outer, inner = fold.folded[:-NESTED], fold.folded[-NESTED:]
        partial = _Partial(fold, size_of(d.extent for d in outer), self.empty)
        lead: list[Dimension] = []
        step = partial.outputs
        for d in reversed(outer):
            lead.insert(0, replace(d, out=step))
            step *= d.extent
        self.run_once(partial.filled(tuple(lead), inner))
        self.run_once(partial.folded())

    def run_once(self, fold: Fold) -> None:
        """Run a reduction that a kernel can do, in one step."""
        (self._columns if fold.across else self._runs)(fold)

    def _rows(self, fold: Fold) -> None:
        (row,), (source, dtype), (target, stored, to) = fold.folded, fold.source, fold.out
        kept = fold.kept[0] if fold.kept else Dimension(1, 0)
        kernel = rows_kernel(self.operator, dtype, stored)
        views = (source, fold.start, kept.source, target, to, kept.out)
        kernel.run(kept.extent, self._parallel(fold), row.extent, *views)

    def _runs(self, fold: Fold) -> None:
        if len(fold.kept) <= 1 and len(fold.folded) == 1 and fold.folded[0].source == 1:
            self._rows(fold)
            return
        source, dtype = fold.source
        target, stored, _ = fold.out
        kernel = fold_kernel(self.operator, dtype, stored, fold.folded[-1].source == 1)
        folded = _padded(fold.folded, NESTED)
        counts, strides = tuple(d.extent for d in folded), tuple(d.source for d in folded)
        for start, to, kept in _nests(fold, fold.kept, OUTER):
            extents = tuple(d.extent for d in kept)
            at = (start, *(d.source for d in kept))
            layout = (to, *(d.out for d in kept))
            views = (source, at, strides, target, layout)
            kernel.run(size_of(extents), self._parallel(fold), extents, counts, *views)

    def _columns(self, fold: Fold) -> None:
        source, dtype = fold.source
        target, stored, _ = fold.out
        kernel = columns_kernel(self.operator, dtype, stored)
        folded = _padded(fold.folded, NESTED)
        counts, strides = tuple(d.extent for d in folded), tuple(d.source for d in folded)
        width = fold.kept[-1].extent
        length = min(width, COLUMNS)
        pieces = Dimension(-(-width // length), length, length)
        for start, to, outer in _nests(fold, fold.kept[:-1], OUTER - 1):
            kept = (*outer, pieces)
            extents = tuple(d.extent for d in kept)
            at = (start, *(d.source for d in kept))
            layout = (to, *(d.out for d in kept))
            views = (source, at, strides, target, layout)
            arguments = ((width, length), extents, counts, *views)
            kernel.run(size_of(extents), self._parallel(fold), *arguments)

    def _parallel(self, fold: Fold) -> bool:
        return fold.outputs() * fold.length() >= self.parallel_from


class _Partial:
    """Room for several results of each output, which are folded once more.

    Attributes:
        outputs: the number of outputs.
    """

    def __init__(self, whole: Fold, slots: int, empty: Callable[[int, DType], Any]) -> None:
        self.whole = whole
        self.slots = slots
        self.outputs = whole.outputs()
        self.dtype = whole.out[1]
        self.storage = empty(slots * self.outputs, self.dtype)
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
        return replace(
            self.whole,
            start=self.whole.start + shift,
            out=(self.storage, self.dtype, slot * self.outputs),
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
            (self.storage, self.dtype),
            0,
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
        start = fold.start + sum(i * d.source for i, d in zip(index, outer, strict=True))
        to = fold.out[2] + sum(i * d.out for i, d in zip(index, outer, strict=True))
        yield start, to, _padded(inner, count)
