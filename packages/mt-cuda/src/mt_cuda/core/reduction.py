"""Reduction kernels: fold dimensions with an associative operator.

There are two kernels, for different layouts:

- *rows*: one block for each output. Its threads stride over the elements to fold, and each keeps a
  total. The totals are combined in shared memory in a tree: half of the threads add the totals of
  the other half, until one is left. Suited to contiguous folded elements.
- *columns*: one thread for each output. Suited to contiguous outputs, and to short folds.

A long fold with few outputs would leave most of the GPU idle. It is split into *chunks*, each with
its own blocks, and a second launch combines their results. The order of operations depends on the
sizes only, so results are deterministic.
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
    """The specification of a reduction kernel.

    Attributes:
        name: the name of the operator.
        graph: the traced operator.
        identity: the initial value; None to start with the first element.
        source: the dtype of the input.
        out: the dtype of the output.
        kept: the number of kept dimensions, after merging.
        folded: the number of folded dimensions, after merging.
        index: the integer type of index arithmetic.
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
        """The accumulator type."""
        return computed(self.source)

    def kernel(self, layout: str, body: Lines) -> Kernel:
        """Create a kernel; all reduction kernels have the same parameters."""
        types = "_".join(dict.fromkeys((self.source.name, self.out.name)))
        ranks = f"{self.kept}_{self.folded}{wide_suffix(self.index)}"
        name = f"{self.name}_{types}_{layout}_{ranks}"
        return define(name, self.parameters(), [*combine(self.graph, self.total), *body])

    def parameters(self) -> list[Parameter]:
        """Return the parameters: sizes, layouts, source and output.

        Each of `outputs` results is a fold of `length` elements, in chunks of `span` elements.
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
        """Return the lines that compute the position where the fold of this output starts."""
        sizes = size_names(self.kept, "kept")
        start = position("x_at", stride_names("kept", self.kept), "k")
        return [*take_apart("output", sizes, self.index, "k"), f"start = {start}"]

    def begin(self) -> str:
        """Return the format string of the statement that initializes a total with an element."""
        if self.identity is None:
            return "total = {}"
        return f"total = combine({constant(self.identity, self.total)}, {{}})"

    def element(self, assign: str) -> Lines:
        """Return the lines that read the i-th element, and insert it in the statement `assign`."""
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
    """Generate the kernel in which a block folds the elements of one output.

    Args:
        fold: operator, types and ranks.
        threads: the number of threads per block.
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
    """Generate the kernel in which a thread folds the elements of one output."""
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
