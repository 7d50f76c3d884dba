"""Sort rows: sort short runs within a block, then merge pairs of runs until one is left.

Both steps process elements together with their original positions. Equal elements are ordered by
position, so that the order is stable and reproducible.

- *Runs.* A block sorts as many elements as fit its memory, by a sorting network (Batcher, "Sorting
  networks and their applications", 1968): in every step each thread puts two elements in order, and
  the steps do not depend on the elements. Several short rows share a block.
- *Merges.* If a row has several runs, an element's position in the merge of two runs is its
  position in its own run plus the number of elements of the other run that precede it, which a
  binary search finds. All threads search at the same time, without synchronization. Each launch
  halves the number of runs.

A row of two thousand elements takes one launch, and one of a million ten. A radix sort reads every
element fewer times, but takes three launches for each digit of every dtype, and an order of bits
for each dtype category; here all dtypes are compared directly. A nan comes last, or first in
descending order.
"""

from __future__ import annotations

from collections.abc import Sequence

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import computed, load, operand
from mt_cuda.core.kernel import Kernel, Lines, define, indented, numbers, over_grid
from mt_cuda.rows.kernels import RowLayout, rows_along
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData, int64

EACH = 8
"""The number of elements of a block per thread; a step compares half as many pairs."""


def comes_after(descending: bool) -> Lines:
    """Return the source of the function `after`, which tests whether a number comes after another.

    The result is false for numbers that are equal or both nan.
    """
    if descending:
        return ["def after(a, b):", "    return (a < b) | ((b != b) & (a == a))", ""]
    return ["def after(a, b):", "    return (a > b) | ((a != a) & (b == b))", ""]


def runs(dtype: DType, threads: int, descending: bool, last: bool) -> Kernel:
    """Return the kernel that sorts runs whose length is a power of two.

    A block sorts `threads * EACH` elements: several runs of `width` elements.

    Args:
        dtype: the dtype of the elements.
        threads: the number of threads per block, a power of two.
        descending: whether the largest comes first.
        last: whether a run is a whole row, so that only positions are stored.
    """
    compute, count = computed(dtype), threads * EACH
    slot = [
        f"run = cuda.blockIdx.x * ({count} // width) + slot // width",
        "row = min(run // runs, rows - 1)",
        "i = run % runs * width + slot % width",
        "start = row // inner * length * inner + row % inner",
    ]
    pair = [
        f"pair = thread + {threads} * e",
        "low = pair // distance * 2 * distance + pair % distance",
        "high = low + distance",
        "if distance * 2 == merged:  # the second half is read in reverse order",
        "    high = low - pair % distance * 2 + merged - 1",
        "a = keys[low]",
        "b = keys[high]",
        "first = places[low]",
        "second = places[high]",
        "swap = after(a, b) | ((after(b, a) == 0) & (first > second))",
        "if (second < length) & ((first >= length) | swap):",
        "    keys[low] = b",
        "    keys[high] = a",
        "    places[low] = second",
        "    places[high] = first",
    ]
    read = [
        f"slot = thread + {threads} * e",
        *slot,
        "places[slot] = i",
        f"keys[slot] = {load('x[x_at + start + min(i, length - 1) * inner]', dtype, compute)}",
    ]
    keep = [f"sorted[sorted_at + run // runs * length + i] = {_stored('keys[slot]', dtype)}"]
    at = "start + i * inner" if last else "run // runs * length + i"
    write = [
        f"slot = thread + {threads} * e",
        *slot,
        "if (run < rows * runs) & (i < length):",
        f"    out[out_at + {at}] = places[slot]",
        *([] if last else indented(keep)),
    ]
    body = [
        *comes_after(descending),
        f"keys = cuda.shared.array({count}, {compute.name})",
        f"places = cuda.shared.array({count}, int64)",
        "thread = cuda.threadIdx.x",
        f"for e in range({EACH}):",
        *indented(read),
        "cuda.syncthreads()",
        "merged = 2",
        "while merged <= width:",
        "    distance = merged // 2",
        "    while distance > 0:",
        f"        for e in range({EACH // 2}):",
        *indented(indented(indented(pair))),
        "        cuda.syncthreads()",
        "        distance = distance // 2",
        "    merged = merged * 2",
        f"for e in range({EACH}):",
        *indented(write),
    ]
    parameters = [
        *numbers("rows", "length", "inner", "width", "runs"),
        *operand("x", dtype),
        *operand("out", int64),
        *([] if last else operand("sorted", dtype)),
    ]
    name = f"sort_{dtype.name}_{_way(descending)}_{'rows' if last else 'runs'}"
    return define(name, parameters, body, "rows", "length")


def merges(dtype: DType, descending: bool, last: bool) -> Kernel:
    """Return the kernel that merges runs of `width` elements, two by two.

    Args:
        dtype: the dtype of the elements.
        descending: whether the largest comes first.
        last: whether rows are sorted afterwards, so that only positions are stored.
    """
    compute = computed(dtype)
    other = load("x[x_at + begin + middle]", dtype, compute)
    keep = ["sorted[sorted_at + row * length + place] = x[x_at + i]"]
    at = "row // inner * length * inner + row % inner + place * inner"
    element = [
        "row = i // length",
        "own = i % length // width",
        "begin = row * length + min(length, (own + 1 - own % 2 * 2) * width)",
        "low = int64(0)",
        "high = min(row * length + length - begin, width)",
        f"key = {load('x[x_at + i]', dtype, compute)}",
        "while low < high:  # count the elements of the other run that precede this element",
        "    middle = (low + high) // 2",
        f"    other = {other}",
        "    before = after(key, other)",
        "    if own % 2 == 1:  # it comes after equal elements",
        "        before = after(other, key) == 0",
        "    if before:",
        "        low = middle + 1",
        "    else:",
        "        high = middle",
        "place = i % length - own % 2 * width + low",
        f"out[out_at + {at if last else 'row * length + place'}] = places[places_at + i]",
        *([] if last else keep),
    ]
    parameters = [
        *numbers("n", "length", "inner", "width"),
        *operand("x", dtype),
        *operand("places", int64),
        *operand("out", int64),
        *([] if last else operand("sorted", dtype)),
    ]
    name = f"merge_{dtype.name}_{_way(descending)}{'_last' if last else ''}"
    return define(name, parameters, [*comes_after(descending), *over_grid(element)])


def _way(descending: bool) -> str:
    return "descending" if descending else "ascending"


def _stored(value: str, dtype: DType) -> str:
    """Return the expression that converts a key back to the storage type."""
    if dtype.kind == "bool":
        return f"uint8({value})"
    return f"{dtype.name}({value})"


# --- Launching ----------------------------------------------------------------------------------


def sort_rows(
    ops: CudaOps, x: TensorData, layout: RowLayout, out: TensorData, descending: bool
) -> None:
    """Store, for each position of sorted rows, the original position of its element.

    Args:
        ops: the backend.
        x: a contiguous view of the rows.
        layout: the layout of the rows, in both views; there is at least one element.
        out: contiguous and int64.
        descending: whether the largest comes first.
    """
    key = ("sort", x.dtype, layout.rows, layout.length, layout.inner, descending)
    plans: Sequence[Plan] = ops.remembered(key, lambda: _planned(ops, x.dtype, layout, descending))
    given: tuple[TensorData, ...] = (x,)
    for plan in plans[:-1]:
        places, ordered = ops.empty((x.size,), int64), ops.empty((x.size,), x.dtype)
        ops.launch(plan, (*given, places, ordered))
        given = (ordered, places)
    ops.launch(plans[-1], (*given, out))


def _planned(ops: CudaOps, dtype: DType, layout: RowLayout, descending: bool) -> tuple[Plan, ...]:
    rows, length, inner = layout.numbers()
    threads = ops.machine.size.threads
    width = 2
    while width < min(length, threads * EACH):
        width *= 2
    count = -(-length // width)
    last = count == 1
    grid = (-(-rows * count // (threads * EACH // width)), 1)
    values = (rows, length, inner, width, count)
    plans = [ops.plan(runs(dtype, threads, descending, last), grid, threads, values)]
    while width < length:
        kernel = merges(dtype, descending, 2 * width >= length)
        plans.append(ops.plan_over_grid(kernel, rows * length, (length, inner, width)))
        width *= 2
    return tuple(plans)


def argsort(x: Tensor, dim: int, descending: bool) -> Tensor:
    """Return the indices that sort along a dimension; equal elements keep their order."""
    out = new(x, dtype=int64)
    if x.numel():
        layout = rows_along(x.shape, dim) if x.ndim else RowLayout(1, 1)
        sort_rows(ops_of(x), elements_of(x), layout, out, descending)
    return tensor_of(out, x)


KERNELS = {"argsort": argsort}
"""For `mt_tensor.extending.register_kernels`."""
