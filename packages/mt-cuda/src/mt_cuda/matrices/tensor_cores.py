"""Products by tensor cores: a warp multiplies 16 × 16 by 16 × 8 numbers of 16 bits at once.

It also multiplies float32 numbers, rounded to TF32, in blocks of 16 × 8 by 8 × 8, if
`set_float32_matmul_precision` allows it.

The source of a kernel has no expressions for the joint operations of a warp. So this kernel is in
C; the one of `product` is its equivalent, with the same blocks and parameters, for all other
machines, and for reading. Only the body of the loop differs:

- Strips are in shared memory as in the matrix, in units of 16 bytes, without conversion.
- `ldmatrix` loads four pieces, each of eight lines of 16 bytes, into the registers of a warp. It
  transposes them if needed, for types of 16 bits; for float32 each thread loads single elements.
- `mma` multiplies and adds. NVIDIA's description of PTX defines which thread holds which elements
  ("Matrix Fragments for mma.m16n8k16" and "m16n8k8"): thread 4 g + t has rows g and g + 8 of a
  result, and of these the columns 2 t and 2 t + 1; of a factor of float32 it has row g and column
  t, and those that are 8 and 4 further on.

A warp owns 64 × 32 elements of the block's tile, and keeps their totals in float32.
"""

from __future__ import annotations

from dataclasses import replace

from mt_cuda.c.translation import to_c
from mt_cuda.core.kernel import Kernel, Lines, define, indented
from mt_cuda.matrices.product import Product, find_groups, parameters, product, strips_of
from mt_cuda.matrices.strips import Strip

TO_FLOAT32 = {
    "float32": "{}",
    "float16": "float_of_half({})",
    "bfloat16": "float_of_bfloat16({})",
}
"""Conversion of an element that is read."""

TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "tf32"}
"""The names of dtypes in instructions."""

FROM_FLOAT32 = {
    "float32": "{}",
    "float16": "half_of_float32({})",
    "bfloat16": "bfloat16_of_float32({})",
}
"""Conversion of a total that is stored."""

BYTES, WARP_ROWS, WARP_COLUMNS = 64, 64, 32
"""The depth of a strip in bytes, and the part of a tile that a warp computes."""

INSTRUCTIONS = """\
DEVICE void load_pieces{suffix}(uint32 *registers, const void *row)
{{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4{option}.shared.b16 {{%0, %1, %2, %3}}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"((uint32)__cvta_generic_to_shared(row))
                 : "memory");
}}
"""

ROUND = """\
DEVICE uint32 rounded(float32 x)
{
    uint32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}
"""

MULTIPLY = """\
DEVICE void multiply_pieces(float32 *totals, const uint32 *a, const uint32 *b)
{{
    asm("mma.sync.aligned.m16n8k{depth}.row.col.f32.{kind}.{kind}.f32 "
        "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
        : "+f"(totals[0]), "+f"(totals[1]), "+f"(totals[2]), "+f"(totals[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}}
"""


def best(form: Product) -> Kernel:
    """Return the kernel of a product, with a native kernel if tensor cores support the product."""
    if fits(form):
        return replace(product(form), native=native(form))
    return product(replace(form, rounded=False))


def fits(form: Product) -> bool:
    """Return whether tensor cores support the product.

    The dtype must be supported, both factors must be read 16 bytes at a time, and the tile must
    consist of complete warps.
    """
    tile = form.tile
    return (
        (form.rounded or (form.dtype.name in TYPES and form.dtype.is_narrow))
        and form.a.wide
        and form.b.wide
        and tile.rows % WARP_ROWS == 0
        and tile.columns % WARP_COLUMNS == 0
        and tile.threads == 32 * (tile.rows // WARP_ROWS) * (tile.columns // WARP_COLUMNS)
    )


def native(form: Product) -> str:
    """Return the kernel in C, for a product that `fits`."""
    depth = BYTES // form.dtype.itemsize
    a, b = strips = strips_of(form, replace(form.tile, depth=depth))
    head = to_c(define(product(form).name, parameters(form), find_groups(form, strips)))
    body = [
        *_declare(a),
        *_declare(b),
        "index32 lane = thread % 32;",
        f"index32 warps = {form.tile.columns // WARP_COLUMNS};  // beside each other",
        f"index32 warp_row = thread / 32 / warps * {WARP_ROWS};",
        f"index32 warp_column = thread / 32 % warps * {WARP_COLUMNS};",
        "index32 buffer = 0;",
        *_begin(form),
        *_fetch(a),
        *_fetch(b),
        *_put(a),
        *_put(b),
        "BARRIER;",
        "while (left_over > 0) {",
        f"    bool more = left_over > {depth};",
        f"    left_over = more ? left_over - {depth} : 0;",
        "    if (more) {",
        *indented(indented([*_fetch(a), *_fetch(b)])),
        "    }",
        *indented(_multiply(a, b)),
        *indented(_add_to_sums(form, a) if form.summed else []),
        "    if (more) {",
        "        buffer = 1 - buffer;",
        *indented(indented([*_put(a), *_put(b)])),
        "        BARRIER;",
        "    }",
        "}",
        *_store(FROM_FLOAT32[form.out.name]),
        *(_store_sums(form) if form.summed else []),
    ]
    functions = [
        INSTRUCTIONS.format(suffix="", option=""),
        INSTRUCTIONS.format(suffix="_transposed", option=".trans"),
        *([ROUND] if form.rounded else []),
        MULTIPLY.format(kind=TYPES[form.dtype.name], depth=BYTES // 2 // form.dtype.itemsize),
    ]
    text = head.rstrip().removesuffix("}") + "\n".join([*indented(body), "}", ""])
    return "\n".join([*functions, text])


def _pitch(strip: Strip) -> int:
    """Return the length of a line of a strip.

    It has padding, so that simultaneous reads are from different banks: eight lines of 16 bytes, or
    eight numbers of 32 bits from each of four lines.
    """
    return strip.tile.depth + strip.lanes if strip.factor.by_inner else strip.width + 8


def _size(strip: Strip) -> int:
    """Return the number of elements of a strip in shared memory."""
    return _pitch(strip) * (strip.width if strip.factor.by_inner else strip.tile.depth)


def _declare(strip: Strip) -> Lines:
    return [
        f"SHARED LANES {_kept(strip)} {strip.name}_strips[{2 * _size(strip)}];",
        f"uint4 {strip.name}_next[{len(strip.rounds)}];",
    ]


def _kept(strip: Strip) -> str:
    """Return the type of a strip's elements in shared memory, float16 for all 16-bit dtypes."""
    return "float16" if strip.dtype.is_narrow else "float32"


def _begin(form: Product) -> Lines:
    """Return the lines that declare and initialize a thread's totals."""
    rounds = max(1, form.tile.rows // form.tile.threads)
    sums = [f"float32 sums[{rounds}] = {{}};"] if form.summed else []
    bias = TO_FLOAT32[form.dtype.name].format("bias[bias_at + min(column, (index32)columns - 1)]")
    biases = [
        "if (BLOCK_Y == 0) {",
        *indented(_each_total([f"totals[i][k][e] = {bias};"])),
        "}",
    ]
    return ["float32 totals[4][4][4] = {};", *sums, *(biases if form.biased else [])]


def _fetch(strip: Strip) -> Lines:
    """Return the lines that load a thread's groups; beyond the end they are zeros."""
    m, lines = strip.name, []
    for r, (inner, outer) in enumerate(strip.rounds):
        inside, pointer = f"{m}_inner + {inner} < left_over", strip.pointer(outer)
        lines += [
            f"{m}_next[{r}] = {inside} ? *(const uint4 *){pointer} : uint4{{}};",
            f"{pointer} += {m}_step;",
        ]
    return lines


def _put(strip: Strip) -> Lines:
    """Return the lines that store a thread's groups to the strip that is not being read."""
    m, lines = strip.name, []
    for r, (inner, outer) in enumerate(strip.rounds):
        place = _place(strip, f"{m}_outer + {outer}", f"{m}_inner + {inner}")
        lines.append(f"*(uint4 *)({place}) = {m}_next[{r}];")
    return lines


def _place(strip: Strip, outer: str, inner: str) -> str:
    """Return the address of an element in shared memory."""
    line, along = (outer, inner) if strip.factor.by_inner else (inner, outer)
    start = f"{strip.name}_strips + buffer * {_size(strip)}"
    return f"{start} + ({line}) * {_pitch(strip)} + {along}"


def _multiply(a: Strip, b: Strip) -> Lines:
    """Return the loop that multiplies two strips, one instruction's inner size at a time.

    Of the four pieces of `a`, the second is below the first, and the last two are next to these; of
    `b` the second follows the first along the inner dimension, and the last two belong to the next
    eight columns.
    """
    of_a = _load(a, "a_part + i * 4", "warp_row + i * 16", ("lane / 8 % 2", "lane / 16"))
    of_b = _load(b, "b_part + k * 2", "warp_column + k * 8", ("lane / 16", "lane / 8 % 2"))
    return [
        "UNROLL",
        f"for (index32 j = 0; j < {a.tile.depth}; j += {2 * a.lanes}) {{",
        "    uint32 a_part[16], b_part[8];",
        "    UNROLL",
        "    for (index32 i = 0; i < 4; i++) {",
        *indented(indented(of_a)),
        "    }",
        "    UNROLL",
        "    for (index32 k = 0; k < 4; k += 2) {",
        *indented(indented(of_b)),
        "    }",
        "    UNROLL",
        "    for (index32 i = 0; i < 4; i++) {",
        "        UNROLL",
        "        for (index32 k = 0; k < 4; k++) {",
        "            multiply_pieces(totals[i][k], a_part + i * 4, b_part + k * 2);",
        "        }",
        "    }",
        "}",
    ]


def _load(strip: Strip, registers: str, first: str, piece: tuple[str, str]) -> Lines:
    """Return the lines that load four pieces of a strip into a warp's registers.

    Args:
        strip: the strip.
        registers: the four registers of a thread.
        first: the first line or column of the pieces in the outer direction.
        piece: the piece whose address a thread computes, in the outer and inner direction: that of
            its lane; with `r` in place of `lane / 8` it is the piece of register `r`.
    """
    lanes, (outer, inner) = strip.lanes, piece
    if strip.factor.by_inner:
        place = _place(strip, f"{first} + {outer} * 8 + lane % 8", f"j + {inner} * {lanes}")
        lines = [f"load_pieces({registers}, {place});"]
        if not strip.dtype.is_narrow:
            value = f"rounded(__uint_as_float(({registers})[r]))"
            lines += _four([f"({registers})[r] = {value};"])
        return lines
    if strip.dtype.is_narrow:  # a line is an inner position, and lanes iterate over lines
        place = _place(strip, f"{first} + {outer} * 8", f"j + {inner} * {lanes} + lane % 8")
        return [f"load_pieces_transposed({registers}, {place});"]
    outer, inner = (each.replace("lane / 8", "r").replace("lane / 16", "r / 2") for each in piece)
    place = _place(strip, f"{first} + {outer} * 8 + lane / 4", f"j + {inner} * 4 + lane % 4")
    return _four([f"({registers})[r] = rounded(*({place}));"])


def _four(lines: Lines) -> Lines:
    return ["UNROLL", "for (index32 r = 0; r < 4; r++) {", *indented(lines), "}"]


def _each_total(lines: Lines) -> Lines:
    """Return the loops over a thread's totals, with their `row` and `column`."""
    return [
        "UNROLL",
        "for (index32 i = 0; i < 4; i++) {",
        "    UNROLL",
        "    for (index32 k = 0; k < 4; k++) {",
        "        UNROLL",
        "        for (index32 e = 0; e < 4; e++) {",
        "            index32 row = top + warp_row + i * 16 + lane / 4 + e / 2 * 8;",
        "            index32 column = left + warp_column + k * 8 + lane % 4 * 2 + e % 2;",
        *indented(indented(indented(lines))),
        "        }",
        "    }",
        "}",
    ]


def _store(converted: str) -> Lines:
    """Return the lines that store a thread's totals, except beyond the edges."""
    total = converted.format("totals[i][k][e]")
    return _each_total(
        [
            "if (row < rows && column < columns) {",
            f"    out[out_start + row * columns + column] = {total};",
            "}",
        ]
    )


def _own_rows(form: Product, lines: Lines) -> Lines:
    """Return the loop over the rows of the tile that a thread sums: see `product`."""
    threads, rows = form.tile.threads, form.tile.rows
    return [
        "UNROLL",
        f"for (index32 r = 0; r < {max(1, rows // threads)}; r++) {{",
        f"    index32 own = thread + r * {threads};",
        f"    if (left == 0 && own < {rows}) {{",
        *indented(indented(lines)),
        "    }",
        "}",
    ]


def _add_to_sums(form: Product, a: Strip) -> Lines:
    """Return the lines that add a strip to the sums of its rows; elements beyond the end are 0."""
    element = TO_FLOAT32[form.dtype.name].format(f"*({_place(a, 'own', 'j')})")
    return _own_rows(
        form,
        [f"for (index32 j = 0; j < {a.tile.depth}; j++) {{", f"    sums[r] += {element};", "}"],
    )


def _store_sums(form: Product) -> Lines:
    """Return the lines that store the sums of a thread's rows."""
    return _own_rows(
        form,
        [
            "if (top + own < rows) {",
            "    out[out_start + rows * columns + top + own] = sums[r];",
            "}",
        ],
    )
