"""The matrix product, optimized for the hardware.

It computes the same as the kernel of the core, `core/matrix.py`, and in the same way: a block owns
a tile of the result and iterates along the inner dimension, strip by strip; a thread owns part of
the tile and keeps it in registers. The differences serve one goal, that almost every instruction of
the inner loop is a multiply-add:

- Shared memory has room for two strips (double buffering). While one is multiplied, the next is
  loaded from memory into registers, and then stored to the other buffer: so one barrier per strip
  is enough, and no thread waits for memory.
- Accesses move 16 bytes at a time: from memory, if layout and alignment allow it, and always from
  shared memory to registers. A thread's rows and columns therefore come in groups of neighbors,
  with groups of other threads in between.
- Addresses are computed before the loop, which only increments them. Rows beyond the edge read the
  last row, without a condition: their results are not stored. Only the last strips test for the end
  of the inner dimension.
- The inner dimension can be split into parts, each with its own blocks, which store their totals
  one after the other. Another launch adds them.

The rest of a linear map is computed along the way. Totals start with the bias of their column. The
gradient of the bias is the sums of the rows of the left factor, the transposed upstream gradient:
each thread sums the elements that it loads, in registers. After the loop the threads store their
sums to shared memory, as they store strips, and the threads of the first column of tiles add up its
rows.

`outer` means the rows of `a` and the columns of `b`, so that one text serves both.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.elements import load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers
from mt_cuda.core.layout import position, size_names, stride_names, take_apart
from mt_cuda.core.matrix import total_type
from mt_cuda.matrices.strips import Factor, Strip, plus
from mt_cuda.matrices.tiles import Tile, lanes_of
from mt_fast.extending import constant, converted
from mt_tensor import DType


@dataclass(frozen=True, slots=True)
class Product:
    """The parameters of a kernel.

    Attributes:
        dtype: the dtype of the factors.
        out: the dtype of the result, or that of totals if there are several parts.
        tile: how a block computes its part.
        a: the layout of the left factor.
        b: the layout of the right factor.
        wide: whether groups of the contiguous result start at multiples of 16 bytes.
        batch: the number of batch dimensions after merging.
        biased: whether a bias is added to each column.
        summed: whether to also store the sums of the rows of `a`, after the result of each part;
            then there are no batch dimensions.
        rounded: whether float32 factors may be rounded to TF32; this kernel does not round.
    """

    dtype: DType
    out: DType
    tile: Tile
    a: Factor
    b: Factor
    wide: bool
    batch: int
    biased: bool = False
    summed: bool = False
    rounded: bool = False


def product(form: Product) -> Kernel:
    """Return the kernel of `out[part, ..., i, k] = sum over j of a[..., i, j] * b[..., j, k]`.

    Block `(x, y)` computes tile x, counted through rows of tiles, tiles of a matrix and matrices,
    and part y of the inner dimension, which has `span` elements.
    """
    tile, total = form.tile, total_type(form.dtype)
    strips = strips_of(form, tile)
    body = [
        *(line for strip in strips for line in strip.arrays()),
        f"totals = cuda.local.array(({tile.each_rows}, {tile.each_columns}), {total.name})",
        *find_groups(form, strips),
        *(line for strip in strips for line in strip.find_buffer()),
        *_begin(form),
        *_multiply_strips(form, strips),
        *_store(form),
        *(_store_sums(form, strips[0]) if form.summed else []),
    ]
    types = "_".join(dict.fromkeys((form.dtype.name, form.out.name)))
    name = f"product_{types}_{tile}_a_{form.a}_b_{form.b}"
    name += ("_out_wide" if form.wide else "") + f"_batch{form.batch}"
    name += ("_biased" if form.biased else "") + ("_summed" if form.summed else "")
    name += "_rounded" if form.rounded else ""
    return define(name, parameters(form), body, "batches", "rows", "inner", "columns")


def strips_of(form: Product, tile: Tile) -> tuple[Strip, Strip]:
    """Return the strips of both factors."""
    return (
        Strip("a", form.a, form.dtype, tile.rows, "top", "rows", "down", tile),
        Strip("b", form.b, form.dtype, tile.columns, "left", "columns", "right", tile),
    )


def parameters(form: Product) -> list[Parameter]:
    """Return the parameters of the kernel."""
    strides = [f"{m}_{dim}_stride" for m in ("a", "b") for dim in ("outer", "inner")]
    return [
        *numbers("batches", "rows", "inner", "columns", "span", *strides),
        *numbers(*size_names(form.batch)),
        *numbers(*(s for m in ("a", "b") for s in stride_names(m, form.batch))),
        *operand("a", form.dtype),
        *operand("b", form.dtype),
        *(operand("bias", form.dtype) if form.biased else []),
        *operand("out", form.out),
    ]


def find_groups(form: Product, strips: tuple[Strip, Strip]) -> Lines:
    """Return the lines that find a thread's part of the result, and its groups in memory."""
    return [
        *_find_place(form),
        "first = cuda.blockIdx.y * index32(span)",
        "left_over = min(index32(inner) - first, index32(span))",
        *(line for strip in strips for line in strip.find()),
    ]


def _find_place(form: Product) -> Lines:
    """Return the lines that find a block's tile, and a thread's part of it.

    The threads of a warp form a rectangle of 4 by 8, if there are enough of them: they read 4 and 8
    groups of the rows of both strips, instead of 1 and 32.
    """
    tile = form.tile
    beside = tile.columns // tile.each_columns
    if beside % 8 == 0 and tile.rows // tile.each_rows % 4 == 0:
        own = [
            f"down = thread // {4 * beside} * 4 + thread % 32 // 8",
            f"right = thread // 32 % {beside // 8} * 8 + thread % 8",
        ]
    else:
        own = [f"down = thread // {beside}", f"right = thread % {beside}"]
    batch = "index32(cuda.blockIdx.x) // across // along"
    size = "(rows * columns + rows)" if form.summed else "rows * columns"
    return [
        "thread = cuda.threadIdx.x",
        *own,
        f"across = (index32(columns) + {tile.columns - 1}) // {tile.columns}",
        f"along = (index32(rows) + {tile.rows - 1}) // {tile.rows}",
        f"left = cuda.blockIdx.x % across * {tile.columns}",
        f"top = cuda.blockIdx.x // across % along * {tile.rows}",
        f"matrix = {batch}",
        *take_apart("matrix", size_names(form.batch), "index32"),
        *(f"{m}_start = {position(f'{m}_at', stride_names(m, form.batch))}" for m in ("a", "b")),
        f"out_start = out_at + (cuda.blockIdx.y * batches + matrix) * {size}",
    ]


def _begin(form: Product) -> Lines:
    """Return the lines that initialize a thread's totals: in part 0, with the bias."""
    total = total_type(form.dtype)
    zero = constant(0, total)
    lanes, *_ = _groups(form)
    _, beside = _apart(form)
    begin = f"{lanes} * right + k // {lanes} * {beside} + k % {lanes}"
    biases = [
        f"    column = min(left + {begin}, index32(columns) - 1)",
        "    if cuda.blockIdx.y == 0:",
        f"        begin = {load('bias[bias_at + column]', form.dtype, total)}",
    ]
    return [
        f"for k in range({form.tile.each_columns}):",
        f"    begin = {zero}",
        *(biases if form.biased else []),
        f"    for i in range({form.tile.each_rows}):",
        "        totals[i, k] = begin",
    ]


def _store_sums(form: Product, a: Strip) -> Lines:
    """Return the lines that add the threads' sums of each row of `a`, and store them."""
    tile, total = form.tile, total_type(form.dtype)
    rounds = max(1, tile.rows // tile.threads)
    own = f"thread + r * {tile.threads}"
    lines = [
        f"row = top + {own}",
        "if row < rows:",
        f"    own_sum = {constant(0, total)}",
        f"    for j in range({tile.depth}):",
        f"        own_sum += a_get[{a.pitch} * j + {own} - {lanes_of(total)} * down]",
        "    out[out_start + rows * columns + row] = own_sum",
    ]
    guard = [f"if {own} < {tile.rows}:"]
    inside = [*guard, *indented(lines)] if tile.threads > tile.rows else lines
    return [
        "cuda.syncthreads()",
        *a.take_sums(),
        *a.put(),
        "cuda.syncthreads()",
        "if left == 0:",
        *indented([f"for r in range({rounds}):", *indented(inside)]),
    ]


def _multiply_strips(form: Product, strips: tuple[Strip, Strip]) -> Lines:
    """Return the loops over strips: one is multiplied while the next is loaded.

    While the next strip is complete, no conditions are needed, so the last ones have a separate
    loop. Two short strips make one iteration of the first loop: then the buffer of each is a
    constant for the compiler.
    """
    tile, depth = form.tile, form.tile.depth
    switch, put = (
        [line for strip in strips for line in getattr(strip, what)()] for what in ("switch", "put")
    )
    fetch, fetch_inside = (
        [line for strip in strips for line in strip.fetch(complete)] for complete in (True, False)
    )
    multiply = _multiply(form, strips)
    add = strips[0].add_to_sums() if form.summed else []
    clear = strips[0].clear() if form.summed else []  # missing elements add 0
    return [
        *(line for strip in strips for line in strip.clear()),
        *fetch_inside,
        *(strips[0].begin_sums() if form.summed else []),
        *put,
        "cuda.syncthreads()",
        f"while left_over >= {(tile.strips + 1) * depth}:",
        f"    for _ in range({tile.strips}):",
        f"        left_over -= {depth}",
        *indented(indented(fetch)),
        f"        for j in range({depth}):",
        *indented(indented(indented(multiply))),
        *indented(indented([*add, *switch, *put])),
        "        cuda.syncthreads()",
        "while left_over > 0:",
        f"    here = min(left_over, {depth})",
        "    left_over -= here",
        "    if left_over > 0:",
        *indented(indented([*clear, *fetch_inside])),
        "    for j in range(here):",
        *indented(indented(multiply)),
        "    if left_over > 0:",
        *indented(indented([*add, *switch, *put])),
        "        cuda.syncthreads()",
    ]


def _groups(form: Product) -> tuple[int, range, range]:
    """Return the size of a group, and the starts of a thread's groups in its part."""
    lanes = lanes_of(total_type(form.dtype))
    return lanes, range(0, form.tile.each_rows, lanes), range(0, form.tile.each_columns, lanes)


def _apart(form: Product) -> tuple[int, int]:
    """Return the distance between a thread's groups in the tile: in rows, in columns."""
    _, rows, columns = _groups(form)
    return form.tile.rows // len(rows), form.tile.columns // len(columns)


def _multiply(form: Product, strips: tuple[Strip, Strip]) -> Lines:
    """Return the lines that add the products at inner position `j` to a thread's totals."""
    lanes, rows, columns = _groups(form)
    adds = [
        f"totals[i{plus(i)}, k{plus(k)}] += a_part{i // lanes}[i] * b_part{k // lanes}[k]"
        for i in rows
        for k in columns
    ]
    a, b = strips
    return [
        *a.get(form.tile.each_rows),
        *b.get(form.tile.each_columns),
        f"for i in range({lanes}):",
        f"    for k in range({lanes}):",
        *indented(indented(adds)),
    ]


def _store(form: Product) -> Lines:
    """Return the lines that store a thread's totals, except beyond the edges."""
    total = total_type(form.dtype)
    lanes, rows, columns = _groups(form)
    below, beside = _apart(form)
    lines = []
    for g, i in enumerate(rows):
        lines += [
            f"for i in range({lanes}):",
            f"    row = top + {lanes} * down + i{plus(g * below)}",
            "    if row < rows:",
        ]
        for h, k in enumerate(columns):
            begin = f"left + {lanes} * right{plus(h * beside)}"
            at = "out_start + row * columns + column"
            if form.wide:
                values = ", ".join(f"totals[i{plus(i)}, {k + e}]" for e in range(lanes))
                found = [
                    f"column = {begin}",
                    "if column < columns:",
                    f"    store{lanes}(out, {at}, ({values}))",
                ]
            else:
                value = converted(f"totals[i{plus(i)}, k{plus(k)}]", total, form.out)
                found = [
                    f"for k in range({lanes}):",
                    f"    column = {begin} + k",
                    "    if column < columns:",
                    f"        out[{at}] = {store(value, form.out)}",
                ]
            lines += indented(indented(found))
    return lines
