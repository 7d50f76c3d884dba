"""Kernels of reductions that read elements in place, and the choice among them.

If adjacent elements belong to different outputs (a sum over the first dimension), whole rows are
added to rows. Elements of any other layout are reduced one output at a time, with up to three
dimensions. With more, the core copies them to rows first.
"""

from __future__ import annotations

import functools

from mt_fast.core.kernel import compiled
from mt_fast.core.reductions import BLOCK, FoldText, fold_rows, fold_text
from mt_fast.core.rendering import converted
from mt_fast.core.source import OUTER, Source, function, indented
from mt_fast.folds.plans import NESTED, Dimension, Fold, Step, nested_step, padded
from mt_operators import Operator
from mt_tensor import DType

COLUMNS = 4096
"""The number of outputs to compute at once when rows are added to rows; they fit in L1 cache."""

ROWS = 4
"""The number of rows to add to them at a time."""

ARGUMENTS = ("kept", "folded", "source_data", "source_layout", "strides", "out_data", "out_layout")
"""The arguments of a reduction over nested loops: the sizes of kept and reduced dimensions, and the
two views. Their layouts hold the strides of kept dimensions, `strides` the source's strides of
reduced dimensions."""


# --- Rows with rows ---------------------------------------------------------------------------


@functools.lru_cache(None)
def columns(operator: Operator, dtype: DType) -> Source:
    """Return the kernel that reduces rows with rows; a unit is a piece of a row of outputs.

    A piece fits in the L1 cache. Several rows of the source are added to it at a time, so that it
    is loaded and stored less often.
    """
    text = fold_text(operator, dtype)
    begin, first = text.begin("row[i]")
    body = [
        "n, length = width",
        "for unit in range(lo, hi):",
        "    index = unravel(unit, kept)",
        "    first = index[3] * length",
        "    count = min(length, n - first)",
        "    source_first = position(source_layout, index)",
        "    out_first = position(out_layout, index)",
        "    total = out_data[out_first : out_first + count]",
        "    row = source_data[source_first : source_first + count]",
        "    for i in range(count):",
        *indented(begin, 2),
        f"        total[i] = {converted('acc', text.acc_dtype, dtype)}",
        "    for j0 in range(folded[0]):",
        "        for j1 in range(folded[1]):",
        "            run_first = source_first + j0 * strides[0] + j1 * strides[1]",
        f"            done = {first} if j0 == 0 and j1 == 0 else 0",
        f"            rest = (folded[2] - done) % {ROWS}",
        f"            for j in range(done, folded[2] - rest, {ROWS}):",
        *indented(_columns_of_rows(text, ROWS), 4),
        "            for j in range(folded[2] - rest, folded[2]):",
        *indented(_columns_of_rows(text, 1), 4),
    ]
    name = f"{operator.name}_{dtype.name}_columns"
    return function(name, ("width", *ARGUMENTS), body)


def _columns_of_rows(text: FoldText, count: int) -> list[str]:
    """Return the statements that add `count` rows, from the j-th on, to a row of outputs."""
    rows = [f"row{k}" for k in range(count)]
    return [
        "row_first = run_first + j * strides[2]",
        *(
            line
            for row in rows
            for line in (
                f"{row} = source_data[row_first : row_first + count]",
                "row_first += strides[2]",
            )
        ),
        "for i in range(count):",
        *indented(text.resume("total[i]")),
        *(line for row in rows for line in indented(text.each(f"{row}[i]"))),
        *indented(text.end()),
        f"    total[i] = {converted('acc', text.acc_dtype, text.dtype)}",
    ]


def _columns(fold: Fold, parallel: bool) -> Step:
    kernel = compiled(columns(fold.operator, fold.dtype))
    width = fold.kept[-1].size
    length = min(width, COLUMNS)
    pieces = Dimension(-(-width // length), length, length)
    kept = (*padded(fold.kept[:-1], OUTER - 1), pieces)
    return nested_step(kernel, fold, parallel, ((width, length),), kept)


# --- Scattered elements -----------------------------------------------------------------------


@functools.lru_cache(None)
def fold_source(operator: Operator, dtype: DType, contiguous: bool) -> Source:
    """Return the kernel that reduces up to three dimensions for each output; a unit is one output.

    Each run is reduced in blocks, as in `fold_rows`.
    """
    text = fold_text(operator, dtype)
    element = "row[i]" if contiguous else "source_data[row_first + i * step]"
    begin, first = text.begin("row[0]" if contiguous else "source_data[row_first]")
    cut = ["row = source_data[row_first : row_first + count]"] if contiguous else []
    body = [
        "n, step = folded[2], strides[2]",
        "for unit in range(lo, hi):",
        "    index = unravel(unit, kept)",
        "    source_first = position(source_layout, index)",
        f"    total = {converted('source_data[source_first]', dtype, text.acc_dtype)}",
        "    begun = False",
        "    for j0 in range(folded[0]):",
        "        for j1 in range(folded[1]):",
        "            run_first = source_first + j0 * strides[0] + j1 * strides[1]",
        f"            for first in range(0, n, {BLOCK}):",
        f"                count = min({BLOCK}, n - first)",
        "                row_first = run_first + first * step",
        *indented(cut, 4),
        *indented(begin, 4),
        f"                for i in range({first}, count):",
        *indented(text.each(element), 5),
        *indented(text.end(), 4),
        "                if begun:",
        *indented(text.step("total"), 5),
        "                else:",
        "                    total = acc",
        "                    begun = True",
        f"    out_data[position(out_layout, index)] = {converted('total', text.acc_dtype, dtype)}",
    ]
    suffix = "fold" if contiguous else "fold_strided"
    name = f"{operator.name}_{dtype.name}_{suffix}"
    return function(name, ARGUMENTS, body, text.fastmath)


def _scattered(fold: Fold, parallel: bool) -> Step:
    kernel = compiled(fold_source(fold.operator, fold.dtype, fold.folded[-1].source == 1))
    return nested_step(kernel, fold, parallel, (), padded(fold.kept, OUTER))


# --- All --------------------------------------------------------------------------------------


def step_of(fold: Fold, parallel: bool) -> Step | None:
    """Return the call of a kernel for a reduction; None if there are too many dimensions."""
    if len(fold.kept) > OUTER or len(fold.folded) > NESTED:
        return None
    if fold.across:
        return _columns(fold, parallel)
    if len(fold.kept) <= 1 and len(fold.folded) == 1 and fold.folded[0].source == 1:
        return _rows(fold, parallel)
    return _scattered(fold, parallel)


def _rows(fold: Fold, parallel: bool) -> Step:
    (row,), (read, source_start), (written, out_start) = fold.folded, fold.source, fold.out
    kept = fold.kept[0] if fold.kept else Dimension(1, 0)
    kernel = compiled(fold_rows(fold.operator, fold.dtype))
    source, out = (read, (source_start, kept.source)), (written, (out_start, kept.out))
    return Step(kernel, kept.size, parallel, (row.size,), source, out)
