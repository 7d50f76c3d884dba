"""Choose how to walk over the elements of a reduction.

The layout decides. If the elements of each output are neighbors (a sum over the last dimension),
each output folds its row. If neighbors belong to different outputs (a sum over the first), rows are
added to rows. Elements of any other layout are copied to rows first, unless `folds/` has registered
a kernel for them. `folds/` also splits a reduction with few outputs into parts for all threads.

The choice is a `Plan`, a few calls of kernels, which depends on shapes and strides alone. It is
cached, because making it takes longer than adding ten thousand numbers.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_fast.core import reduction_source as texts
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.layouts import REMEMBERED, collapse
from mt_fast.core.loop_source import OUTER
from mt_fast.core.lowering import TABLE
from mt_fast.core.reduction_source import NESTED
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Operator
from mt_tensor import DType, TensorData
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import folded_shape, size_of

COLUMNS = 4096
"""How many outputs are folded at once when rows are added to rows: they fit the L1 cache."""

FEW = 16
"""With fewer outputs than this, threads would have too little to share."""

SOURCE, OUT = 0, 1
"""The storages of a plan. Those of partial results follow."""


@functools.lru_cache(None)
def rows_kernel(operator: Operator, dtype: DType) -> Kernel:
    """Return the kernel that folds rows."""
    return compiled(texts.fold_rows(operator, dtype, dtype, table=TABLE))


@functools.lru_cache(None)
def columns_kernel(operator: Operator, dtype: DType) -> Kernel:
    """Return the kernel that folds rows with rows."""
    return compiled(texts.columns(operator, dtype, dtype, table=TABLE))


def fold_rows(operator: Operator, source: TensorData, count: int, parallel_from: int) -> Any:
    """Fold the last `count` dimensions of a view that is contiguous and not empty, without a plan.

    Args:
        operator: the operator to fold with.
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
    """A call of a kernel, but for the storages among its arguments.

    Attributes:
        kernel: the kernel.
        units: the number of units of work.
        parallel: whether all threads share them.
        before: the arguments before the storage that is read.
        source: the number of that storage, and the arguments after it.
        out: the number of the storage that is written, and the arguments after it.
    """

    kernel: Kernel
    units: int
    parallel: bool
    before: tuple[Any, ...]
    source: tuple[int, tuple[Any, ...]]
    out: tuple[int, tuple[Any, ...]]

    def run(self, storages: list[Any]) -> None:
        """Call the kernel."""
        (read, source), (written, out) = self.source, self.out
        views = (storages[read], *source, storages[written], *out)
        self.kernel.run(self.units, self.parallel, *self.before, *views)


@dataclass(frozen=True, slots=True)
class Plan:
    """A reduction as a few calls of kernels.

    Attributes:
        steps: the calls.
        partial_sizes: for each storage of partial results, its size.
    """

    steps: tuple[Step, ...]
    partial_sizes: tuple[int, ...] = ()

    def run(self, source: Any, out: Any) -> None:
        """Reduce the elements of a storage, and write to another."""
        storages = [source, out, *[np.empty(size, out.dtype) for size in self.partial_sizes]]
        for step in self.steps:
            step.run(storages)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of a reduction: its size, and its strides in source and output."""

    size: int
    source: int
    out: int = 0


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction as nested loops, each group from the outermost to the innermost.

    Attributes:
        operator: the operator to fold with.
        dtype: the dtype of elements and results.
        source: the number of the storage that is read, and the position of the first element.
        out: the number of the storage that is written, and the position of the first result.
        kept: the dimensions of the outputs.
        folded: the dimensions that are folded; at least one.
        across: whether the innermost loop is over contiguous outputs.
    """

    operator: Operator
    dtype: DType
    source: tuple[int, int]
    out: tuple[int, int]
    kept: tuple[Dimension, ...]
    folded: tuple[Dimension, ...]
    across: bool

    def outputs(self) -> int:
        """Return the number of outputs."""
        return size_of(d.size for d in self.kept)

    def elements(self) -> int:
        """Return the number of elements that are folded."""
        return self.outputs() * size_of(d.size for d in self.folded)


@functools.lru_cache(REMEMBERED)
def planned(
    operator: Operator, source: Layout, dims: tuple[int, ...], parallel_from: int
) -> Plan | None:
    """Return how to reduce a view to a contiguous one.

    It is None if there is nothing to fold, or if the elements must be copied to rows first.

    Args:
        operator: the operator to fold with.
        source: the layout of the view, which is not empty.
        dims: the dimensions to fold.
        parallel_from: the number of elements from which all threads are used.
    """
    shape, dtype = source.shape, source.dtype
    results = row_major(folded_shape(shape, dims, True), dtype).strides
    to = tuple([0 if d in dims else stride for d, stride in enumerate(results)])
    # `out` has strides of its own along kept dimensions, so that no folded one merges with them.
    layout = collapse(shape, (to, source.strides))
    kept: list[Dimension] = []
    folded: list[Dimension] = []
    for size, out_stride, source_stride in zip(layout.sizes, *layout.strides, strict=True):
        (kept if out_stride else folded).append(Dimension(size, source_stride, out_stride))
    if not folded:
        return None
    of_out, of_source = (strides[-1] for strides in layout.strides)
    across = of_out == of_source == 1
    read, written = (SOURCE, source.offset + layout.shifts[1]), (OUT, layout.shifts[0])
    fold = Fold(operator, dtype, read, written, tuple(kept), tuple(folded), across)
    split = SPECIAL_CASES.get("split")
    plan: Plan | None = split(fold, parallel_from) if split is not None else None
    if plan is None:
        steps = steps_of(fold, fold.elements() >= parallel_from)
        plan = Plan(tuple(steps)) if steps else None
    return plan


def steps_of(fold: Fold, parallel: bool) -> list[Step] | None:
    """Return the calls of one kernel that do a reduction; None if there is no kernel for it."""
    if fold.across and len(fold.folded) <= NESTED:
        return _columns(fold, parallel)
    if len(fold.kept) <= 1 and len(fold.folded) == 1 and fold.folded[0].source == 1:
        return [_rows(fold, parallel)]
    special = SPECIAL_CASES.get("fold")
    return special(fold, parallel) if special is not None else None


def _rows(fold: Fold, parallel: bool) -> Step:
    (row,), (read, source_start), (written, out_start) = fold.folded, fold.source, fold.out
    kept = fold.kept[0] if fold.kept else Dimension(1, 0)
    kernel = rows_kernel(fold.operator, fold.dtype)
    source, out = (read, (source_start, kept.source)), (written, (out_start, kept.out))
    return Step(kernel, kept.size, parallel, (row.size,), source, out)


def _columns(fold: Fold, parallel: bool) -> list[Step]:
    kernel = columns_kernel(fold.operator, fold.dtype)
    folded = padded(fold.folded, NESTED)
    width = fold.kept[-1].size
    length = min(width, COLUMNS)
    pieces = Dimension(-(-width // length), length, length)
    return [
        nested_step(kernel, fold, parallel, ((width, length),), starts, ((*outer, pieces), folded))
        for starts, outer in nests(fold, fold.kept[:-1], OUTER - 1)
    ]


def nested_step(
    kernel: Kernel,
    fold: Fold,
    parallel: bool,
    before: tuple[Any, ...],
    starts: tuple[int, int],
    dims: tuple[tuple[Dimension, ...], tuple[Dimension, ...]],
) -> Step:
    """Return a call for nested loops over kept and folded dimensions, which begin at `starts`."""
    (source_start, out_start), (kept, folded) = starts, dims
    sizes, counts = (tuple(d.size for d in group) for group in dims)
    strides = tuple(d.source for d in folded)
    source = (fold.source[0], ((source_start, *(d.source for d in kept)), strides))
    out = (fold.out[0], ((out_start, *(d.out for d in kept)),))
    return Step(kernel, size_of(sizes), parallel, (*before, sizes, counts), source, out)


def padded(dims: tuple[Dimension, ...], count: int) -> tuple[Dimension, ...]:
    """Return `count` dimensions, with sizes of 1 in front."""
    return (*(Dimension(1, 0) for _ in range(count - len(dims))), *dims)


def nests(
    fold: Fold, dims: tuple[Dimension, ...], count: int
) -> Iterator[tuple[tuple[int, int], tuple[Dimension, ...]]]:
    """Walk over the outermost kept dimensions, so that `count` are left for the kernel.

    Yields:
        The positions in source and output, and the remaining dimensions.
    """
    outer, inner = dims[: max(len(dims) - count, 0)], dims[max(len(dims) - count, 0) :]
    for index in itertools.product(*(range(d.size) for d in outer)):
        start = fold.source[1] + sum(i * d.source for i, d in zip(index, outer, strict=True))
        to = fold.out[1] + sum(i * d.out for i, d in zip(index, outer, strict=True))
        yield (start, to), padded(inner, count)
