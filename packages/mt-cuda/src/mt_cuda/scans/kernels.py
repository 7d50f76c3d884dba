"""Scans along rows: each element combined with all elements before it.

A reduction gives one total per row, which threads may compute in any tree. Here every element needs
the total of the elements before it. There are three ways, depending on the size:

- *serial*: one thread per row, for short rows, and for many rows side by side.
- *blocks*: one block per row, which processes tile after tile of the row. Each thread combines a
  few neighbors; the totals of threads are combined in shared memory in log2(threads) steps (Hillis
  and Steele, "Data parallel algorithms", 1986); and with the total before them all, the carry, each
  thread computes the totals of its elements.
- *chunks*, in three launches: a few long rows are split to occupy the whole GPU. The first launch
  reduces every chunk, the second scans these totals, and in the third they are the carries that the
  chunks start with.

The order of every sum depends on the sizes alone, so results are reproducible. Floats are added and
multiplied as float64, and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers
from mt_cuda.rows.kernels import RowLayout
from mt_cuda.rows.teams import SECTOR
from mt_fast.extending import converted
from mt_tensor import DType, TensorData, float64, int64, uint64

Chunks = Literal["blocks", "totals", "carried"]
"""The result of `blocks`: scans of entire rows, the totals of chunks, or scans of chunks that start
with these totals."""

EACH = 4
"""The number of neighbors that a thread combines at once."""

SHORT = 16
"""The maximum length of a short row."""

LEAST = 2
"""The minimum number of tiles per chunk."""


def total_type(dtype: DType) -> DType:
    """Return the dtype of totals: the widest of the category."""
    if dtype.is_floating_point:
        return float64
    return int64 if dtype.is_signed or dtype.kind == "bool" else uint64


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan: its elements, and how they are combined.

    A total consists of one number or several, `a0`, `a1` and so on.

    Attributes:
        name: the name of the operation.
        totals: the dtypes of the numbers of a total.
        identity: the expressions of the total of zero elements.
        combine: the statements that return the total of `a0`, `a1`, ... and `b0`, `b1`, ..., in
            this order.
        inputs: the dtypes of the inputs.
        element: the expressions of the total of one element: of `{x0}`, `{x1}`, ... of the inputs,
            and of `i`, its position in the row.
        outputs: the dtypes of the outputs, and for each the number of a total to store.
    """

    name: str
    totals: tuple[DType, ...]
    identity: tuple[str, ...]
    combine: tuple[str, ...]
    inputs: tuple[DType, ...]
    element: tuple[str, ...]
    outputs: tuple[tuple[DType, int], ...]

    def of_totals(self) -> Scan:
        """Return the scan of totals of chunks."""
        every = range(len(self.totals))
        element = tuple(f"{{x{k}}}" for k in every)
        outputs = tuple((dtype, k) for k, dtype in enumerate(self.totals))
        settings = (self.totals, self.identity, self.combine, self.totals)
        return Scan(f"{self.name}_totals", *settings, element, outputs)

    # --- The parts of its kernels ---------------------------------------------------------------

    def functions(self) -> Lines:
        """Return the function that combines two totals."""
        names = ", ".join(self.names("a") + self.names("b"))
        return [f"def combine({names}):", *indented(self.combine), ""]

    def combined(self, into: str, first: str, second: str) -> str:
        """Return the statement that sets one total to the combination of two."""
        given = ", ".join(self.names(first) + self.names(second))
        return f"{', '.join(self.names(into))} = combine({given})"

    def set(self, total: str, values: Sequence[str]) -> Lines:
        """Return the statements that set a total."""
        return [f"{n} = {value}" for n, value in zip(self.names(total), values, strict=True)]

    def initialize(self, total: str) -> Lines:
        """Return the statements that set a total to the identity."""
        typed = zip(self.totals, self.identity, strict=True)
        return self.set(total, [f"{dtype.name}({value})" for dtype, value in typed])

    def read(self, total: str) -> Lines:
        """Return the statements that set a total to that of the element `i`, at position `at`."""
        loaded = {
            f"x{k}": load(f"x{k}[x{k}_at + at]", dtype, total_type(dtype))
            for k, dtype in enumerate(self.inputs)
        }
        return self.set(total, [value.format_map(loaded) for value in self.element])

    def write(self, total: str) -> Lines:
        """Return the statements that write a total at `at`."""
        lines = []
        for k, (dtype, number) in enumerate(self.outputs):
            value = converted(f"{total}{number}", self.totals[number], dtype)
            lines.append(f"y{k}[y{k}_at + at] = {store(value, dtype)}")
        return lines

    def names(self, total: str) -> list[str]:
        """Return the names of the numbers of a total, or of arrays of them."""
        return [f"{total}{k}" for k in range(len(self.totals))]


def serial(scan: Scan) -> Kernel:
    """Return the kernel in which a thread scans a row."""
    row = [
        "at = row // inner * length * inner + row % inner",
        *scan.initialize("total"),
        "i = 0",
        "while i < length:",
        *indented(scan.read("one")),
        f"    {scan.combined('total', 'total', 'one')}",
        *indented(scan.write("total")),
        "    at += inner",
        "    i += 1",
    ]
    body = [
        *scan.functions(),
        "row = cuda.grid(1)",
        "step = cuda.gridsize(1)",
        "while row < rows:",
        *indented(row),
        "    row += step",
    ]
    parameters = [*numbers("rows", "length", "inner"), *_inputs(scan), *_outputs(scan)]
    return define(_name(scan, "serial"), parameters, body, "rows", "length")


def blocks(scan: Scan, chunks: Chunks, threads: int) -> Kernel:
    """Return the kernel in which a block scans a row, or a chunk of it.

    Args:
        scan: the scan.
        chunks: whether there are chunks, and whether to compute their totals or start with them.
        threads: the number of threads per block, a power of two.
    """
    carries = scan.names("carries")
    tile = [
        *_fold_own(scan),
        *_fold_before(scan, threads),
        *([] if chunks == "totals" else _give(scan)),
        *scan.set("whole", [f"{memory}[side + {threads - 1}]" for memory in scan.names("shared")]),
        scan.combined("carry", "carry", "whole"),
        "cuda.syncthreads()",  # the next tile reuses the shared memory
        f"begin += {threads * EACH}",
    ]
    body = [
        *scan.functions(),
        *_arrays(scan, "shared", "shared", 2 * threads),
        *_arrays(scan, "local", "own", EACH),
        "thread = cuda.threadIdx.x",
        "row = cuda.blockIdx.x",
        "chunk = cuda.blockIdx.y",
        "start = row // inner * length * inner + row % inner",
        "begin = chunk * span",
        "stop = min(length, begin + span)",
        *scan.initialize("carry"),
    ]
    if chunks == "carried":
        before = [f"{name}[{name}_at + (chunk - 1) * rows + row]" for name in carries]
        body += ["if chunk > 0:", *indented(scan.set("carry", before))]
    body += ["while begin < stop:", *indented(tile)]
    if chunks == "totals":
        kept = zip(carries, scan.names("carry"), strict=True)
        body += [
            "if thread == 0:",
            *(f"    {name}[{name}_at + chunk * rows + row] = {total}" for name, total in kept),
        ]
    parameters = [
        *numbers("rows", "length", "inner", "span"),
        *_inputs(scan),
        *([] if chunks == "totals" else _outputs(scan)),
    ]
    if chunks != "blocks":
        for name, dtype in zip(carries, scan.totals, strict=True):
            parameters += operand(name, dtype)
    return define(_name(scan, chunks), parameters, body, "rows", "length")


def _arrays(scan: Scan, where: str, name: str, count: int) -> Lines:
    """Return the declarations of arrays for `count` totals."""
    return [
        f"{each} = cuda.{where}.array({count}, {dtype.name})"
        for each, dtype in zip(scan.names(name), scan.totals, strict=True)
    ]


def _of_own(lines: Lines) -> Lines:
    """Return a loop over a thread's elements that are in the row."""
    return [
        f"for e in range({EACH}):",
        f"    i = begin + thread * {EACH} + e",
        "    if i < stop:",
        "        at = start + i * inner",
        *indented(indented(lines)),
    ]


def _fold_own(scan: Scan) -> Lines:
    """Return the lines in which a thread scans its own elements, and keeps every total."""
    kept = zip(scan.names("own"), scan.names("total"), strict=True)
    each = [
        *scan.read("one"),
        scan.combined("total", "total", "one"),
        *(f"{own}[e] = {total}" for own, total in kept),
    ]
    return [*scan.initialize("total"), *_of_own(each)]


def _fold_before(scan: Scan, threads: int) -> Lines:
    """Return the lines that scan the totals of threads in shared memory; results start at `side`.

    A step reads one half of the memory and writes the other, so that one barrier is enough.
    """
    shared = scan.names("shared")

    def write(side: int) -> Lines:
        totals = zip(shared, scan.names("total"), strict=True)
        return [f"{memory}[{side} + thread] = {total}" for memory, total in totals]

    lines = [*write(0), "cuda.syncthreads()"]
    side, distance = 0, 1
    while distance < threads:
        lines += [
            f"if thread >= {distance}:",
            *indented(scan.set("left", [f"{each}[{side - distance} + thread]" for each in shared])),
            f"    {scan.combined('total', 'left', 'total')}",
            *write(threads - side),
            "cuda.syncthreads()",
        ]
        side, distance = threads - side, 2 * distance
    return [*lines, f"side = {side}"]


def _give(scan: Scan) -> Lines:
    """Return the lines that combine the total before a thread with each of its own totals."""
    left = [f"{memory}[side + thread - 1]" for memory in scan.names("shared")]
    each = [
        *scan.set("one", [f"{own}[e]" for own in scan.names("own")]),
        scan.combined("one", "before", "one"),
        *scan.write("one"),
    ]
    return [
        *scan.set("before", scan.names("carry")),
        "if thread > 0:",
        *indented(scan.set("left", left)),
        f"    {scan.combined('before', 'carry', 'left')}",
        *_of_own(each),
    ]


def _inputs(scan: Scan) -> list[Parameter]:
    return [each for k, dtype in enumerate(scan.inputs) for each in operand(f"x{k}", dtype)]


def _outputs(scan: Scan) -> list[Parameter]:
    return [each for k, (dtype, _) in enumerate(scan.outputs) for each in operand(f"y{k}", dtype)]


def _name(scan: Scan, part: str) -> str:
    written = (dtype for dtype, _ in scan.outputs)
    types = dict.fromkeys(dtype.name for dtype in (*scan.inputs, *written))
    return "_".join(["scan", scan.name, *types, part])


# --- Launching ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chunked:
    """The launches of a scan whose rows are split.

    Attributes:
        totals: the launch that computes the totals of chunks.
        between: the launch that scans these totals, or launches if there are many.
        carried: the launch that scans the chunks, starting with the scanned totals.
        count: the number of totals.
    """

    totals: Plan
    between: Plan | Chunked
    carried: Plan
    count: int


def run(
    ops: CudaOps,
    scan: Scan,
    layout: RowLayout,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
) -> None:
    """Scan rows: in one launch, or in three for a few long rows.

    Args:
        ops: the backend.
        scan: the scan.
        layout: the layout of the rows, in all operands.
        inputs: contiguous views.
        outputs: contiguous views, which are overwritten.
    """
    if layout.rows and layout.length:
        key = (scan, layout.rows, layout.length, layout.inner)
        launches = ops.remembered(key, lambda: _planned(ops, scan, layout))
        _launch(ops, scan, launches, inputs, outputs)


def _launch(
    ops: CudaOps,
    scan: Scan,
    launches: Plan | Chunked,
    inputs: Sequence[TensorData],
    outputs: Sequence[TensorData],
) -> None:
    if isinstance(launches, Plan):
        ops.launch(launches, (*inputs, *outputs))
        return
    totals, carries = (
        [ops.empty((launches.count,), dtype) for dtype in scan.totals] for _ in range(2)
    )
    ops.launch(launches.totals, (*inputs, *totals))
    _launch(ops, scan.of_totals(), launches.between, totals, carries)
    ops.launch(launches.carried, (*inputs, *outputs, *carries))


def _planned(ops: CudaOps, scan: Scan, layout: RowLayout) -> Plan | Chunked:
    size, (rows, length, inner) = ops.machine.size, layout.numbers()
    threads = size.threads
    many = inner >= SECTOR and rows >= SECTOR * size.parallel
    if length <= SHORT or many:
        grid = (min(-(-rows // threads), size.resident), 1)
        return ops.plan(serial(scan), grid, threads, (rows, length, inner))
    most = length // (threads * EACH * LEAST)
    span = -(-length // max(1, min(size.parallel // rows, most)))
    chunks = -(-length // span)  # no chunk is empty

    def plan(part: Chunks) -> Plan:
        kernel = blocks(scan, part, threads)
        return ops.plan(kernel, (rows, chunks), threads, (rows, length, inner, span))

    if chunks == 1:
        return plan("blocks")
    between = _planned(ops, scan.of_totals(), RowLayout(rows, chunks, rows))
    return Chunked(plan("totals"), between, plan("carried"), chunks * rows)
