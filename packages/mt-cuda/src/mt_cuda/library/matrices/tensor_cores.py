"""Products of 16-bit numbers by tensor cores: a warp multiplies 16 × 16 by 16 × 8 at once.

The text of a kernel has no words for what a warp does together. So this kernel is in C; the one of
`product` is its twin, with the same blocks and parameters, for every other machine to run, and for
people to read. What it has of its own is the inside of the loop:

- Strips lie in shared memory as they lie in the matrix, 16 bytes after 16, without being converted.
- `ldmatrix` brings four pieces of 8 × 8 into the registers of a warp, turned round where needed.
- `mma` multiplies and adds. Which thread holds which elements is said in NVIDIA's description of
  PTX ("Matrix Fragments for mma.m16n8k16"): thread 4 g + t has of a result rows g and g + 8, and of
  these the columns 2 t and 2 t + 1.

A warp owns 64 × 32 elements of the block's tile, and keeps their totals in float32.
"""

from __future__ import annotations

from dataclasses import replace

from mt_cuda.kernel import Kernel, Lines, define, indented
from mt_cuda.library.c.translation import to_c
from mt_cuda.library.matrices.product import Product, find_groups, parameters, product, strips_of
from mt_cuda.library.matrices.strips import Strip

TO_FLOAT32 = {"float16": "float_of_half({})", "bfloat16": "float_of_bfloat16({})"}
"""How an element is read."""

TYPES = {"float16": "f16", "bfloat16": "bf16"}
"""The element types, and what instructions call them."""

FROM_FLOAT32 = {
    "float32": "{}",
    "float16": "half_of_float32({})",
    "bfloat16": "bfloat16_of_float32({})",
}
"""How a total is stored."""

DEPTH, WARP_ROWS, WARP_COLUMNS = 32, 64, 32
"""How deep a strip is, and the part of a tile that is a warp's."""

INSTRUCTIONS = """\
DEVICE void load_pieces{turned}(uint32 *registers, const float16 *row)
{{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4{option}.shared.b16 {{%0, %1, %2, %3}}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"((uint32)__cvta_generic_to_shared(row))
                 : "memory");
}}
"""

MULTIPLY = """\
DEVICE void multiply_pieces(float32 *totals, const uint32 *a, const uint32 *b)
{{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32 "
        "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
        : "+f"(totals[0]), "+f"(totals[1]), "+f"(totals[2]), "+f"(totals[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}}
"""


def best(form: Product) -> Kernel:
    """Return the kernel of a product, with one for tensor cores if it is of that kind."""
    return replace(product(form), native=native(form)) if fits(form) else product(form)


def fits(form: Product) -> bool:
    """Whether it is one for tensor cores: 16-bit numbers in groups, and tiles of whole warps."""
    tile = form.tile
    return (
        form.dtype.name in TYPES
        and form.a.wide
        and form.b.wide
        and tile.rows % WARP_ROWS == 0
        and tile.columns % WARP_COLUMNS == 0
        and tile.threads == 32 * (tile.rows // WARP_ROWS) * (tile.columns // WARP_COLUMNS)
    )


def native(form: Product) -> str:
    """Return the kernel in C; for a product that `fits`."""
    a, b = strips = strips_of(form, replace(form.tile, depth=DEPTH))
    head = to_c(define(product(form).name, parameters(form), find_groups(form, strips)))
    body = [
        *_declare(a),
        *_declare(b),
        "index32 lane = thread % 32;",
        f"index32 warps = {form.tile.columns // WARP_COLUMNS};  // beside each other",
        f"index32 warp_row = thread / 32 / warps * {WARP_ROWS};",
        f"index32 warp_column = thread / 32 % warps * {WARP_COLUMNS};",
        "index32 shelf = 0;",
        *_begin(form),
        *_fetch(a),
        *_fetch(b),
        *_shelve(a),
        *_shelve(b),
        "BARRIER;",
        "while (left_over > 0) {",
        f"    bool more = left_over > {DEPTH};",
        f"    left_over = more ? left_over - {DEPTH} : 0;",
        "    if (more) {",
        *indented(indented([*_fetch(a), *_fetch(b)])),
        "    }",
        *indented(_multiply(a, b)),
        *indented(_add_to_sums(form, a) if form.summed else []),
        "    if (more) {",
        "        shelf = 1 - shelf;",
        *indented(indented([*_shelve(a), *_shelve(b)])),
        "        BARRIER;",
        "    }",
        "}",
        *_store(FROM_FLOAT32[form.out.name]),
        *(_store_sums(form) if form.summed else []),
    ]
    functions = [
        INSTRUCTIONS.format(turned="", option=""),
        INSTRUCTIONS.format(turned="_turned", option=".trans"),
        MULTIPLY.format(kind=TYPES[form.dtype.name]),
    ]
    text = head.rstrip().removesuffix("}") + "\n".join([*indented(body), "}", ""])
    return "\n".join([*functions, text])


def _pitch(strip: Strip) -> int:
    """Return the length of a line of a strip.

    It is 16 bytes longer than needed, so that eight lines begin in different banks.
    """
    return (DEPTH if strip.factor.by_inner else strip.width) + strip.lanes


def _size(strip: Strip) -> int:
    """Return the elements of a strip in shared memory."""
    return _pitch(strip) * (strip.width if strip.factor.by_inner else DEPTH)


def _declare(strip: Strip) -> Lines:
    return [
        f"SHARED LANES float16 {strip.name}_strips[{2 * _size(strip)}];",
        f"uint4 {strip.name}_next[{len(strip.rounds)}];",
    ]


def _begin(form: Product) -> Lines:
    """Return the lines that declare a thread's totals, and give them what they begin with."""
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
    """Return the lines that read a thread's groups; beyond the end there are zeros."""
    m, lines = strip.name, []
    for r, (inner, outer) in enumerate(strip.rounds):
        inside, pointer = f"{m}_inner + {inner} < left_over", strip.pointer(outer)
        lines += [
            f"{m}_next[{r}] = {inside} ? *(const uint4 *){pointer} : uint4{{}};",
            f"{pointer} += {m}_step;",
        ]
    return lines


def _shelve(strip: Strip) -> Lines:
    """Return the lines that put a thread's groups into the strip that nobody reads now."""
    m, lines = strip.name, []
    for r, (inner, outer) in enumerate(strip.rounds):
        place = _place(strip, f"{m}_outer + {outer}", f"{m}_inner + {inner}")
        lines.append(f"*(uint4 *)({place}) = {m}_next[{r}];")
    return lines


def _place(strip: Strip, outer: str, inner: str) -> str:
    """Return the address of an element in shared memory."""
    line, along = (outer, inner) if strip.factor.by_inner else (inner, outer)
    start = f"{strip.name}_strips + shelf * {_size(strip)}"
    return f"{start} + ({line}) * {_pitch(strip)} + {along}"


def _multiply(a: Strip, b: Strip) -> Lines:
    """Return the loop that multiplies two strips, 16 positions of the inner dimension at a time.

    Of the four pieces of `a`, the second is below the first, and the last two are beside these; of
    `b` the second is behind the first, and the last two belong to the next eight columns.
    """
    low, high = "lane % 8 + lane / 8 % 2 * 8", "lane / 16 * 8"
    row = f"warp_row + i * 16 + {low}"
    column = f"warp_column + k * 8 + lane % 8 + {high}"
    a_place = _place(a, row, f"j + {high}")
    b_place = _place(b, column, "j + lane / 8 % 2 * 8")
    if not a.factor.by_inner:  # a line is an inner position, and the lanes go through lines
        a_place = _place(a, "warp_row + i * 16 + lane / 8 % 2 * 8", f"j + lane % 8 + {high}")
    if not b.factor.by_inner:
        b_place = _place(b, f"warp_column + k * 8 + {high}", f"j + {low}")
    return [
        "UNROLL",
        f"for (index32 j = 0; j < {DEPTH}; j += 16) {{",
        "    uint32 a_part[4][4], b_part[4][2];",
        "    UNROLL",
        "    for (index32 i = 0; i < 4; i++) {",
        f"        load_pieces{'' if a.factor.by_inner else '_turned'}(a_part[i], {a_place});",
        "    }",
        "    UNROLL",
        "    for (index32 k = 0; k < 4; k += 2) {",
        f"        load_pieces{'' if b.factor.by_inner else '_turned'}(b_part[k], {b_place});",
        "    }",
        "    UNROLL",
        "    for (index32 i = 0; i < 4; i++) {",
        "        UNROLL",
        "        for (index32 k = 0; k < 4; k++) {",
        "            multiply_pieces(totals[i][k], a_part[i], b_part[k]);",
        "        }",
        "    }",
        "}",
    ]


def _each_total(lines: Lines) -> Lines:
    """Return the loops over a thread's totals, whose rows and columns they name."""
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
    """Return the lines with which a thread stores its totals, as far as there are elements."""
    total = converted.format("totals[i][k][e]")
    return _each_total(
        [
            "if (row < rows && column < columns) {",
            f"    out[out_start + row * columns + column] = {total};",
            "}",
        ]
    )


def _own_rows(form: Product, lines: Lines) -> Lines:
    """Return the loop over the rows of the tile that a thread adds up: see `product`."""
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
    """Return the lines that add a strip to the sums of its rows; beyond the end there are zeros."""
    element = TO_FLOAT32[form.dtype.name].format(f"*({_place(a, 'own', 'j')})")
    return _own_rows(
        form, [f"for (index32 j = 0; j < {DEPTH}; j++) {{", f"    sums[r] += {element};", "}"]
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
