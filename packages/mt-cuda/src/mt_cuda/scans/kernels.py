"""Running folds along rows: each element joined with all that come before it.

A fold gives one total for a row, and threads may make it in any shape of tree. Here every element
wants the total of what comes before it, too. Three ways, after what there is to do:

- *serial*: one thread for each row. Good for short rows, and for many that lie side by side.
- *blocks*: one block for each row. It takes a tile of the row after the other. Each thread folds a
  few neighbours; what the threads have is folded in shared memory in as many steps as the logarithm
  of their number (Hillis and Steele, "Data parallel algorithms", 1986); and with what comes before
  them all, the carry, each thread gives its elements their totals.
- *chunks*, in three launches: few long rows are cut, so that all of a GPU has something to do. The
  first launch folds every chunk, the second scans these totals, and in the third they are the
  carries that the chunks begin with.

The order of every sum is fixed by the sizes alone, so results repeat exactly. Floats are added up
and multiplied as float64, and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.kernel import (
    Kernel,
    Lines,
    Parameter,
    define,
    indented,
    load,
    numbers,
    operand,
    store,
)
from mt_cuda.rows.kernels import RowLayout
from mt_cuda.rows.teams import SECTOR
from mt_fast.extending import converted
from mt_tensor import DType, TensorData, float64, int64, uint64

Chunks = Literal["blocks", "totals", "carried"]
"""What blocks do: join whole rows; or make the totals of chunks, or begin with them."""

EACH = 4
"""How many neighbours a thread folds at once."""

SHORT = 16
"""Up to how many elements a row is short."""

LEAST = 2
"""How many tiles a chunk has at least."""


def total_type(dtype: DType) -> DType:
    """Return the type in which elements are joined: the widest of its kind."""
    if dtype.is_floating_point:
        return float64
    return int64 if dtype.is_signed or dtype.kind == "bool" else uint64


@dataclass(frozen=True, slots=True)
class Scan:
    """What is joined, and how.

    A total consists of one number or several, `a0`, `a1` and so on.

    Attributes:
        name: what it computes.
        totals: the types of the numbers of a total.
        identity: the expressions of the total of nothing.
        combine: the statements that return the total of `a0`, `a1`, ... and `b0`, `b1`, ..., in
            this order.
        inputs: the element types of what is read.
        element: the expressions of the total of one element: of `{x0}`, `{x1}`, ... of the inputs,
            and of `i`, its place in the row.
        outputs: the element types of what is written, and for each which number of a total.
    """

    name: str
    totals: tuple[DType, ...]
    identity: tuple[str, ...]
    combine: tuple[str, ...]
    inputs: tuple[DType, ...]
    element: tuple[str, ...]
    outputs: tuple[tuple[DType, int], ...]

    def of_totals(self) -> Scan:
        """Return the scan of what was folded before."""
        every = range(len(self.totals))
        element = tuple(f"{{x{k}}}" for k in every)
        outputs = tuple((dtype, k) for k, dtype in enumerate(self.totals))
        whole = (self.totals, self.identity, self.combine, self.totals)
        return Scan(f"{self.name}_totals", *whole, element, outputs)

    # --- The parts of its kernels ---------------------------------------------------------------

    def functions(self) -> Lines:
        """Return the function that joins two totals."""
        names = ", ".join(self.names("a") + self.names("b"))
        return [f"def combine({names}):", *indented(self.combine), ""]

    def joined(self, into: str, first: str, second: str) -> str:
        """Return the statement that sets one total to that of two."""
        given = ", ".join(self.names(first) + self.names(second))
        return f"{', '.join(self.names(into))} = combine({given})"

    def set(self, total: str, values: Sequence[str]) -> Lines:
        """Return the statements that set a total."""
        return [f"{n} = {value}" for n, value in zip(self.names(total), values, strict=True)]

    def nothing(self, total: str) -> Lines:
        """Return the statements that set a total to that of nothing."""
        typed = zip(self.totals, self.identity, strict=True)
        return self.set(total, [f"{dtype.name}({value})" for dtype, value in typed])

    def read(self, total: str) -> Lines:
        """Return the statements that set a total to that of the element `i`, which is at `at`."""
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
    """Return the kernel in which a thread joins the elements of a row."""
    row = [
        "at = row // inner * length * inner + row % inner",
        *scan.nothing("total"),
        "i = 0",
        "while i < length:",
        *indented(scan.read("one")),
        f"    {scan.joined('total', 'total', 'one')}",
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
    """Return the kernel in which a block joins the elements of a row, or of a chunk of it.

    Args:
        scan: what is joined.
        chunks: whether there are chunks, and what is done with their totals.
        threads: how many threads a block has, a power of two.
    """
    carries = scan.names("carries")
    tile = [
        *_fold_own(scan),
        *_fold_before(scan, threads),
        *([] if chunks == "totals" else _give(scan)),
        *scan.set("whole", [f"{memory}[side + {threads - 1}]" for memory in scan.names("shared")]),
        scan.joined("carry", "carry", "whole"),
        "cuda.syncthreads()",  # for the shared memory is used again by the next tile
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
        *scan.nothing("carry"),
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
    """Return the arrays for so many totals."""
    return [
        f"{each} = cuda.{where}.array({count}, {dtype.name})"
        for each, dtype in zip(scan.names(name), scan.totals, strict=True)
    ]


def _of_own(lines: Lines) -> Lines:
    """Return a loop over the elements of a thread that there are."""
    return [
        f"for e in range({EACH}):",
        f"    i = begin + thread * {EACH} + e",
        "    if i < stop:",
        "        at = start + i * inner",
        *indented(indented(lines)),
    ]


def _fold_own(scan: Scan) -> Lines:
    """Return the lines in which a thread joins its own elements, and keeps every total."""
    kept = zip(scan.names("own"), scan.names("total"), strict=True)
    each = [
        *scan.read("one"),
        scan.joined("total", "total", "one"),
        *(f"{own}[e] = {total}" for own, total in kept),
    ]
    return [*scan.nothing("total"), *_of_own(each)]


def _fold_before(scan: Scan, threads: int) -> Lines:
    """Return the steps after which shared memory has the totals up to every thread, from `side`.

    A step reads one half of the memory and writes the other, so that a barrier is enough.
    """
    shared = scan.names("shared")

    def write(side: int) -> Lines:
        totals = zip(shared, scan.names("total"), strict=True)
        return [f"{memory}[{side} + thread] = {total}" for memory, total in totals]

    lines = [*write(0), "cuda.syncthreads()"]
    side, apart = 0, 1
    while apart < threads:
        lines += [
            f"if thread >= {apart}:",
            *indented(scan.set("left", [f"{each}[{side - apart} + thread]" for each in shared])),
            f"    {scan.joined('total', 'left', 'total')}",
            *write(threads - side),
            "cuda.syncthreads()",
        ]
        side, apart = threads - side, 2 * apart
    return [*lines, f"side = {side}"]


def _give(scan: Scan) -> Lines:
    """Return the lines in which a thread joins what comes before it with each of its own totals."""
    left = [f"{memory}[side + thread - 1]" for memory in scan.names("shared")]
    each = [
        *scan.set("one", [f"{own}[e]" for own in scan.names("own")]),
        scan.joined("one", "before", "one"),
        *scan.write("one"),
    ]
    return [
        *scan.set("before", scan.names("carry")),
        "if thread > 0:",
        *indented(scan.set("left", left)),
        f"    {scan.joined('before', 'carry', 'left')}",
        *_of_own(each),
    ]


def _inputs(scan: Scan) -> list[Parameter]:
    return [each for k, dtype in enumerate(scan.inputs) for each in operand(f"x{k}", dtype)]


def _outputs(scan: Scan) -> list[Parameter]:
    return [each for k, (dtype, _) in enumerate(scan.outputs) for each in operand(f"y{k}", dtype)]


def _name(scan: Scan, way: str) -> str:
    written = (dtype for dtype, _ in scan.outputs)
    types = dict.fromkeys(dtype.name for dtype in (*scan.inputs, *written))
    return "_".join(["scan", scan.name, *types, way])


# --- Launching ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chunked:
    """The launches of a scan whose rows are cut.

    Attributes:
        totals: makes the totals of chunks.
        between: scans them.
        carried: begins with them.
        count: how many totals there are.
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
    """Scan rows: in one launch, or in three where few of them are long.

    Args:
        ops: the backend.
        scan: what is joined.
        layout: how the rows lie, in all operands.
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
    chunks = -(-length // span)  # none of them empty

    def plan(way: Chunks) -> Plan:
        kernel = blocks(scan, way, threads)
        return ops.plan(kernel, (rows, chunks), threads, (rows, length, inner, span))

    if chunks == 1:
        return plan("blocks")
    between = _planned(ops, scan.of_totals(), RowLayout(rows, chunks, rows))
    return Chunked(plan("totals"), between, plan("carried"), chunks * rows)
