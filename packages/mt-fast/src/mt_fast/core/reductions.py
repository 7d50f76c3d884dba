"""Reduce rows of memory with an operator: the reduction primitive.

Each output is the reduction of one row, computed by any thread. If the elements of an output are
not contiguous, they are copied to rows first, unless `folds/` has registered a kernel that reduces
them in place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from mt_fast.core.kernel import compiled
from mt_fast.core.loops import CACHE_SIZE, MIN_ROWS
from mt_fast.core.lowering import TABLE
from mt_fast.core.movement import copied
from mt_fast.core.rendering import computation_type, constant, converted, render, traced
from mt_fast.core.source import Source, function, indented
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Operator
from mt_operators.core.graph import Graph
from mt_tensor import DType, TensorData, bool_
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import reduce_shape

BLOCK = 4096
"""The number of elements per partial result; blocks keep rounding errors small."""

REASSOCIATE = frozenset(("reassoc", "contract", "nsz"))
"""Flags that let LLVM reorder additions, which vectorizing a sum requires; nan is preserved."""


class FoldText:
    """Generate the statements of a reduction with an operator.

    A *run*, such as a block of neighbors, is folded before its result is combined with others. The
    variable `acc` is its accumulator.

    Attributes:
        graph: the traced operator.
        dtype: the dtype of elements and results.
        computed: the dtype in which the operator is computed.
        acc_dtype: the dtype of `acc`.
        identity: the initial value of a sum or product; None for other operators.
        fastmath: LLVM's fast-math flags.
    """

    def __init__(self, operator: Operator, dtype: DType) -> None:
        self.graph: Graph = traced(operator.value, TABLE)
        self.dtype = dtype
        self.computed = computation_type((dtype,))
        last = self.graph.expressions[-1]
        self.acc_dtype = bool_ if last.is_bool else self.computed
        step = last.operation if len(self.graph.expressions) == 3 else ""
        starts = {"add": constant(0, self.computed), "mul": constant(1, self.computed)}
        floats = self.computed.kind == "float"
        self.identity = starts.get(step)
        self.fastmath = REASSOCIATE if self.identity and floats else frozenset()

    def begin(self, first: str) -> tuple[list[str], int]:
        """Return the statements that start a run, and the position of the next element in it.

        Starting with the first element is always correct. Starting with the identity, if possible,
        keeps the loop aligned to the start of the run.
        """
        if self.identity:
            return [f"acc = {self.identity}"], 0
        return [f"acc = {converted(first, self.dtype, self.acc_dtype)}"], 1

    def resume(self, total: str) -> list[str]:
        """Return the statements that continue from an earlier result."""
        return [f"acc = {converted(total, self.dtype, self.acc_dtype)}"]

    def each(self, element: str) -> list[str]:
        """Return the statements that fold one element of a run."""
        return self.step("acc", (element, self.dtype))

    def end(self) -> list[str]:
        """Return the statements after a run."""
        return []

    def step(self, total: str, right: tuple[str, DType] | None = None) -> list[str]:
        """Return the statements of `total = operator(total, right)`; `right` is `acc` if None."""
        rendered = render(self.graph, ("left", "right"), self.computed, (self.acc_dtype,), TABLE)
        return [
            f"left = {converted(total, self.acc_dtype, self.computed)}",
            f"right = {converted(*(right or ('acc', self.acc_dtype)), self.computed)}",
            *rendered.statements,
            f"{total} = {rendered.results[0]}",
        ]


TEXTS: dict[str, type[FoldText]] = {}
"""Subclasses for reductions of floats, by the name of the operator (`folds/`)."""


def fold_text(operator: Operator, dtype: DType) -> FoldText:
    """Return the statement generator for an operator and a dtype."""
    chosen = TEXTS.get(operator.name, FoldText) if dtype.kind == "float" else FoldText
    return chosen(operator, dtype)


@functools.lru_cache(None)
def fold_rows(operator: Operator, dtype: DType) -> Source:
    """Generate the kernel that reduces equally spaced, contiguous rows; a unit is a row.

    A row is reduced in blocks, and the results of the blocks are combined: a single chain of
    float32 additions would lose precision.
    """
    text = fold_text(operator, dtype)
    begin, first = text.begin("row[0]")
    fold = [f"for i in range({first}, count):", *indented(text.each("row[i]"))]
    block = [*begin, *fold, *text.end()]
    body = [
        "for unit in range(lo, hi):",
        "    row_first = source_start + unit * row_step",
        f"    count = min({BLOCK}, n)",
        "    row = source_data[row_first : row_first + count]",
        *indented(block),
        "    total = acc",
        f"    for block in range({BLOCK}, n, {BLOCK}):",
        f"        count = min({BLOCK}, n - block)",
        "        row = source_data[row_first + block : row_first + block + count]",
        *indented(block, 2),
        *indented(text.step("total"), 2),
        f"    out_data[out_start + unit * step] = {converted('total', text.acc_dtype, dtype)}",
    ]
    arguments = ("n", "source_data", "source_start", "row_step", "out_data", "out_start", "step")
    return function(f"{operator.name}_{dtype.name}_fold_rows", arguments, body, text.fastmath)


@functools.lru_cache(CACHE_SIZE)
def planned(
    operator: Operator, source: Layout, dims: tuple[int, ...], keepdim: bool, parallel_from: int
) -> Callable[[TensorData], TensorData]:
    """Return the cached function that reduces views of one layout.

    Args:
        operator: the operator.
        source: the layout; not empty, and not of a 16-bit dtype.
        dims: the dimensions to reduce.
        keepdim: whether to keep them, with size 1.
        parallel_from: the number of elements from which all threads are used.
    """
    shape, dtype = source.shape, source.dtype
    result = row_major(reduce_shape(shape, dims, keepdim), dtype)
    count, parallel = result.size, source.size >= parallel_from
    kept = [d for d in range(len(shape)) if d not in dims]
    order = [d for d in (*kept, *dims) if shape[d] > 1]
    is_rows = source.row_major and order == sorted(order)
    if not is_rows or (parallel and count < MIN_ROWS):
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
        return TensorData.of_storage(out, result)

    return reduce
