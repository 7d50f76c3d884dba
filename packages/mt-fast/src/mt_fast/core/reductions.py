"""Fold rows of memory with an operator: the reduction primitive.

Each output folds a row of its own, which any thread may do. Where the elements of an output do not
lie in a row, they are copied to rows first, unless `folds/` has registered how to fold them where
they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from mt_fast.core.kernel import compiled
from mt_fast.core.loops import REMEMBERED
from mt_fast.core.lowering import TABLE
from mt_fast.core.movement import copied
from mt_fast.core.rendering import computation_type, constant, converted, render, traced
from mt_fast.core.source import Source, function, indented
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Operator
from mt_operators.core.graph import Graph
from mt_tensor import DType, TensorData, bool_
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import folded_shape

FEW = 16
"""With fewer rows to fold than this, threads would have too little to share."""

BLOCK = 4096
"""How many elements are folded into one partial result, which keeps the rounding errors small."""

REASSOCIATE = frozenset(("reassoc", "contract", "nsz"))
"""Flags that let LLVM add in another order, which vectorizing a sum needs; nan survives."""


class FoldText:
    """The statements that fold elements with an operator.

    A *run* is folded before its result joins others: a block of neighbors, for example. The
    variable `part` holds the result so far.

    Attributes:
        graph: the traced operator.
        dtype: the dtype of elements and results.
        computed: the dtype that the operator computes in.
        held: the dtype of `part`.
        identity: what a sum or product starts with; None for other operators.
        fastmath: LLVM's fast-math flags.
    """

    def __init__(self, operator: Operator, dtype: DType) -> None:
        self.graph: Graph = traced(operator.value, TABLE)
        self.dtype = dtype
        self.computed = computation_type((dtype,))
        last = self.graph.expressions[-1]
        self.held = bool_ if last.is_bool else self.computed
        step = last.operation if len(self.graph.expressions) == 3 else ""
        starts = {"add": constant(0, self.computed), "mul": constant(1, self.computed)}
        floats = self.computed.kind == "float"
        self.identity = starts.get(step)
        self.fastmath = REASSOCIATE if self.identity and floats else frozenset()

    def begin(self, first: str) -> tuple[list[str], int]:
        """Return the statements that start a run, and the position of the next element in it.

        Starting with the first element is always correct. If the identity can come first, the loop
        begins at the start of the run, which is better aligned.
        """
        if self.identity:
            return [f"part = {self.identity}"], 0
        return [f"part = {converted(first, self.dtype, self.held)}"], 1

    def resume(self, total: str) -> list[str]:
        """Return the statements that continue from an earlier result."""
        return [f"part = {converted(total, self.dtype, self.held)}"]

    def each(self, element: str) -> list[str]:
        """Return the statements that fold one element of a run."""
        return self.step("part", (element, self.dtype))

    def end(self) -> list[str]:
        """Return the statements after a run."""
        return []

    def step(self, total: str, right: tuple[str, DType] | None = None) -> list[str]:
        """Return the statements of `total = operator(total, right)`; by default of `part`."""
        rendered = render(self.graph, ("left", "right"), self.computed, (self.held,), TABLE)
        return [
            f"left = {converted(total, self.held, self.computed)}",
            f"right = {converted(*(right or ('part', self.held)), self.computed)}",
            *rendered.statements,
            f"{total} = {rendered.results[0]}",
        ]


TEXTS: dict[str, type[FoldText]] = {}
"""Other statements for operators, by name, where they fold floats (`folds/`)."""


def fold_text(operator: Operator, dtype: DType) -> FoldText:
    """Return the statements that fold elements of a dtype."""
    chosen = TEXTS.get(operator.name, FoldText) if dtype.kind == "float" else FoldText
    return chosen(operator, dtype)


@functools.lru_cache(None)
def fold_rows(operator: Operator, dtype: DType) -> Source:
    """Return the kernel that folds contiguous rows, equally far apart; a unit is a row.

    A row is folded in blocks, and the blocks' results are folded in turn: one long chain of float32
    additions would lose digits.
    """
    how = fold_text(operator, dtype)
    begin, first = how.begin("row[0]")
    fold = [f"for i in range({first}, count):", *indented(how.each("row[i]"))]
    block = [*begin, *fold, *how.end()]
    body = [
        "for unit in range(lo, hi):",
        "    row_first = source_start + unit * apart",
        f"    count = min({BLOCK}, n)",
        "    row = source_data[row_first : row_first + count]",
        *indented(block),
        "    total = part",
        f"    for block in range({BLOCK}, n, {BLOCK}):",
        f"        count = min({BLOCK}, n - block)",
        "        row = source_data[row_first + block : row_first + block + count]",
        *indented(block, 2),
        *indented(how.step("total"), 2),
        f"    out_data[out_start + unit * step] = {converted('total', how.held, dtype)}",
    ]
    arguments = ("n", "source_data", "source_start", "apart", "out_data", "out_start", "step")
    return function(f"{operator.name}_{dtype.name}_fold_rows", arguments, body, how.fastmath)


@functools.lru_cache(REMEMBERED)
def planned(
    operator: Operator, source: Layout, dims: tuple[int, ...], keepdim: bool, parallel_from: int
) -> Callable[[TensorData], TensorData]:
    """Return the function that reduces views of one layout.

    Args:
        operator: the operator to fold with.
        source: the layout; it is not empty, and not of 16 bits.
        dims: the dimensions to fold.
        keepdim: whether they stay, with size 1.
        parallel_from: the number of elements from which all threads are used.
    """
    shape, dtype = source.shape, source.dtype
    result = row_major(folded_shape(shape, dims, keepdim), dtype)
    count, parallel = result.size, source.size >= parallel_from
    kept = [d for d in range(len(shape)) if d not in dims]
    is_rows = source.row_major and kept == [*range(len(kept))]
    if not is_rows or (parallel and count < FEW):
        special = SPECIAL_CASES.get("reduce")
        run = special and special(operator, source, dims, result, parallel_from)
        if run is not None:
            return run  # type: ignore[no-any-return]
    length, start = source.size // count, source.offset if is_rows else 0
    kernel = compiled(fold_rows(operator, dtype))
    fold: Callable[..., None] = kernel.run if parallel else kernel.serial
    first, second = (count, True) if parallel else (0, count)

    def reduce(view: TensorData) -> TensorData:
        if not is_rows:
            last = view.permute(*kept, *dims)
            view = copied(last, row_major(last.shape, dtype), parallel)
        out = np.empty(count, dtype.numpy)
        fold(first, second, length, view.storage, start, length, out, 0, 1)
        return TensorData.in_rows(out, result)

    return reduce
