"""Fold elements of any layout, up to three dimensions at a time, without a copy."""

from __future__ import annotations

import functools

from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.loop_source import OUTER
from mt_fast.core.lowering import TABLE
from mt_fast.core.reduction_source import ARGUMENTS, BLOCK, NESTED, FoldText
from mt_fast.core.reductions import Fold, Step, nested_step, nests, padded
from mt_fast.core.rendering import Table, converted
from mt_fast.core.source import Source, function, indented
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Operator
from mt_tensor import DType


def fold_source(
    operator: Operator, source: DType, target: DType, *, table: Table, contiguous: bool
) -> Source:
    """Return the kernel that folds up to three dimensions for each output; a unit is one output.

    Each run is folded in blocks, as `fold_rows` does.
    """
    how = FoldText(operator, source, target, table)
    part, total = ("part", how.held), ("total", how.held)
    element = "row[i]" if contiguous else "source_data[row_first + i * step]"
    begin, first = how.begin("row[0]" if contiguous else "source_data[row_first]")
    cut = ["row = source_data[row_first : row_first + count]"] if contiguous else []
    body = [
        "n, step = folded[2], strides[2]",
        "for unit in range(lo, hi):",
        "    index = unravel(unit, kept)",
        "    source_first = position(source_layout, index)",
        f"    total = {how.start('source_data[source_first]')}",
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
        *indented(how.each(element), 5),
        *indented(how.end(), 4),
        "                if begun:",
        *indented(how.step(total, part, total), 5),
        "                else:",
        "                    total = part",
        "                    begun = True",
        f"    out_data[position(out_layout, index)] = {converted('total', how.held, target)}",
    ]
    suffix = "fold" if contiguous else "fold_strided"
    name = f"{operator.name}_{source.name}_{suffix}"
    return function(name, ARGUMENTS, body, how.fastmath)


@functools.cache
def fold_kernel(operator: Operator, dtype: DType, contiguous: bool) -> Kernel:
    """Return the kernel that folds runs of elements, which may be neighbors."""
    return compiled(fold_source(operator, dtype, dtype, table=TABLE, contiguous=contiguous))


def scattered_steps(fold: Fold, parallel: bool) -> list[Step] | None:
    """Return the steps of a reduction; None if too many dimensions are folded."""
    if len(fold.folded) > NESTED:
        return None
    kernel = fold_kernel(fold.operator, fold.dtype, fold.folded[-1].source == 1)
    folded = padded(fold.folded, NESTED)
    return [
        nested_step(kernel, fold, parallel, (), starts, (kept, folded))
        for starts, kept in nests(fold, fold.kept, OUTER)
    ]


SPECIAL_CASES["fold"] = scattered_steps
