"""Reduction kernels: folding dimensions with an associative operator.

Element by element no thread had to know of another; here, for the first time, threads work
together, in shared memory. Two shapes of work, after the layout of what is folded:

- *rows*: one block for each output. Its threads stride over the elements to fold, each keeps a
  total, and the totals are folded in shared memory in a tree: half of the threads take over the
  totals of the other half, until one is left. Good where the folded elements follow each other.
- *columns*: one thread for each output. Good where neighbouring outputs lie side by side, and for
  short folds.

A long fold with few outputs would leave most of the GPU idle. Then the fold is cut into *chunks*,
each with blocks of its own, and a second launch folds their results. Nothing depends on which
thread is faster: the order of folding is fixed by the sizes alone, so results repeat exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.device import combine
from mt_cuda.core.elements import computed, load, operand, store, stored_type
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers
from mt_cuda.core.layout import position, size_names, stride_names, take_apart, wide_suffix
from mt_fast.core.rendering import constant, converted
from mt_operators.core.graph import Graph, Number
from mt_tensor import DType


@dataclass(frozen=True, slots=True)
class Fold:
    """What a reduction kernel is generated for.

    Attributes:
        name: the name of the operator.
        graph: the traced operator.
        identity: what the fold begins with; None to begin with the first element.
        source: the dtype that is read.
        out: the dtype that is written.
        kept: the number of dimensions that stay, after merging.
        folded: the number of dimensions that are folded, after merging.
        index: the type in which indices are taken apart.
    """

    name: str
    graph: Graph
    identity: Number | None
    source: DType
    out: DType
    kept: int
    folded: int
    index: str

    @property
    def total(self) -> DType:
        """The type in which totals are kept."""
        return computed(self.source)

    def kernel(self, way: str, body: Lines) -> Kernel:
        """Put a kernel together; all reduction kernels have the same parameters."""
        types = "_".join(dict.fromkeys((self.source.name, self.out.name)))
        ranks = f"{self.kept}_{self.folded}{wide_suffix(self.index)}"
        name = f"{self.name}_{types}_{way}_{ranks}"
        return define(name, self.parameters(), [*combine(self.graph, self.total), *body])

    def parameters(self) -> list[Parameter]:
        """Return the parameters: sizes, layouts, source and output.

        `outputs` results are folded from `length` elements each; a chunk folds `span` of them.
        """
        return [
            *numbers("outputs", "length", "span"),
            *numbers(*size_names(self.kept, "kept"), *size_names(self.folded, "folded")),
            *numbers(*stride_names("kept", self.kept), *stride_names("folded", self.folded)),
            *numbers(*stride_names("out", self.kept), "out_chunk_stride"),
            *operand("x", self.source),
            *operand("y", self.out),
        ]

    def first(self) -> Lines:
        """Return the lines that find where the source of this output begins."""
        sizes = size_names(self.kept, "kept")
        start = position("x_at", stride_names("kept", self.kept), "k")
        return [*take_apart("output", sizes, self.index, "k"), f"start = {start}"]

    def begin(self) -> str:
        """Return the statement that begins a total with an element, which takes the braces."""
        if self.identity is None:
            return "total = {}"
        return f"total = combine({constant(self.identity, self.total)}, {{}})"

    def element(self, assign: str) -> Lines:
        """Return the lines that read the i-th element of the fold and use it in `assign`."""
        sizes = size_names(self.folded, "folded")
        at = position("start", stride_names("folded", self.folded), "f")
        return [
            *take_apart("i", sizes, self.index, "f"),
            assign.format(load(f"x[{at}]", self.source, self.total)),
        ]

    def last(self, total: str) -> str:
        """Return the line that stores the total of this output and chunk."""
        at = position("y_at", stride_names("out", self.kept), "k")
        value = store(converted(total, self.total, self.out), self.out)
        return f"y[{at} + chunk * out_chunk_stride] = {value}"


def rows(fold: Fold, threads: int) -> Kernel:
    """Return the kernel in which a block folds the elements of one output.

    Args:
        fold: operator, types and ranks.
        threads: how many threads a block has.
    """
    shared = stored_type(fold.total)
    body = [
        f"totals = cuda.shared.array({threads}, {shared})",
        "thread = cuda.threadIdx.x",
        "output = cuda.blockIdx.x",
        "chunk = cuda.blockIdx.y",
        *fold.first(),
        "i = chunk * span",
        "stop = min(length, i + span)",
        f"live = min({threads}, stop - i)  # threads that have something to fold",
        "i += thread",
        "if thread < live:",
        *indented(fold.element(fold.begin())),
        f"    i += {threads}",
        "    while i < stop:",
        *indented(indented(fold.element("total = combine(total, {})"))),
        f"        i += {threads}",
        "    totals[thread] = total",
        "cuda.syncthreads()",
        "while live > 1:",
        "    kept = (live + 1) // 2",
        "    if thread + kept < live:",
        "        totals[thread] = combine(totals[thread], totals[thread + kept])",
        "    cuda.syncthreads()",
        "    live = kept",
        "if thread == 0:",
        f"    {fold.last('totals[0]')}",
    ]
    return fold.kernel("rows", body)


def columns(fold: Fold) -> Kernel:
    """Return the kernel in which a thread folds the elements of one output."""
    body = [
        "chunk = cuda.blockIdx.y",
        "output = cuda.grid(1)",
        "step = cuda.gridsize(1)",
        "while output < outputs:",
        *indented(fold.first()),
        "    i = chunk * span",
        "    stop = min(length, i + span)",
        *indented(fold.element(fold.begin())),
        "    i += 1",
        "    while i < stop:",
        *indented(indented(fold.element("total = combine(total, {})"))),
        "        i += 1",
        f"    {fold.last('total')}",
        "    output += step",
    ]
    return fold.kernel("columns", body)
