"""Tiles of queries and keys, and the products of tiles: the common parts of the kernels.

A block owns some rows, queries or keys, and iterates over the others, tile by tile. For each pair
of tiles it computes *scores*, the products of their rows, and from scores *weights*. With these it
adds rows of the others to its own totals. Both are matrix products with tiles in shared memory, as
in `core/matrix.py`; the weights of all queries and keys, which may be the largest array of all,
exist only one tile at a time.

Threads form a rectangle: `down` is a thread's position among the block's own rows, `right` its
position among the other rows in scores, and among the columns in totals.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers
from mt_cuda.core.layout import position, size_names, stride_names, take_apart
from mt_cuda.core.machine import Size
from mt_fast.extending import constant, converted
from mt_tensor import DType

WIDEST = 128
"""The maximum size of the last dimension of queries, keys and values."""


@dataclass(frozen=True, slots=True)
class Tile:
    """How a block splits its work.

    Attributes:
        own: the number of its own rows.
        others: the number of other rows in shared memory at a time.
        width: the number of elements of a row in shared memory, with padding.
        beside: the number of threads that share a row.
        threads: the number of threads per block.
        lanes: the number of elements that are moved at once.
    """

    own: int
    others: int
    width: int
    beside: int
    threads: int
    lanes: int

    @property
    def down(self) -> int:
        """The number of rows of threads."""
        return self.threads // self.beside

    @property
    def rows(self) -> int:
        """The number of own rows per thread."""
        return self.own // self.down

    @property
    def columns(self) -> int:
        """The number of other rows per thread, in scores."""
        return self.others // self.beside

    @property
    def groups(self) -> int:
        """The number of groups of adjacent columns per thread, in totals."""
        return self.width // (self.lanes * self.beside)

    @property
    def pitch(self) -> int:
        """The distance between rows in shared memory, padded to avoid bank conflicts."""
        return self.width + self.lanes

    @property
    def weight_pitch(self) -> int:
        """The distance between rows of weights."""
        return self.others + self.lanes


def choose(width: int, compute: DType, size: Size, *, backward: bool) -> Tile:
    """Return the tile for rows of `width` elements that fits into shared memory."""
    lanes = 16 // compute.itemsize
    if size.threads < 32:
        padded = next(w for w in (8, 16, 32, 64, 128) if w >= width)
        return Tile(4, 4, padded, 2, 4, lanes)
    padded = next(w for w in (16, 32, 64, 128) if w >= width)
    bytes_of_row = padded * compute.itemsize
    if backward:
        own = others = {1024: 8, 512: 16}.get(bytes_of_row, 32)
    else:
        own, others = {1024: (16, 16), 512: (32, 32)}.get(bytes_of_row, (64, 32))
    beside = min(8, padded // lanes)
    return Tile(own, others, padded, beside, min(128, own * beside), lanes)


@dataclass(frozen=True, slots=True)
class Form:
    """The parameters of a kernel.

    Attributes:
        dtype: the dtype of the elements.
        tile: how a block splits its work.
        batch: the number of batch dimensions after merging.
        causal: whether query i attends only to the keys 0 to i.
        masked: whether there is an additive mask.
    """

    dtype: DType
    tile: Tile
    batch: int
    causal: bool
    masked: bool

    @property
    def compute(self) -> DType:
        """The dtype of computations."""
        return computed(self.dtype)

    def kernel(
        self, name: str, matrices: tuple[str, ...], rows: tuple[str, ...], body: Lines
    ) -> Kernel:
        """Return the kernel with this body.

        Args:
            name: the name of the operation.
            matrices: the operands of shape (*batch, rows, columns), with strides; the mask is
                added, if there is one.
            rows: the contiguous operands with one number per query.
            body: its lines.
        """
        matrices = (*matrices, "mask") if self.masked else matrices
        strides = [f"{m}_{dim}" for m in matrices for dim in ("row", "column")]
        batches = [s for m in matrices for s in stride_names(m, self.batch)]
        starts = [
            f"{m}_start = {position(f'{m}_at', stride_names(m, self.batch))}" for m in matrices
        ]
        body = [
            *(f"n_{number} = index32({number})" for number in COUNTS),
            "thread = cuda.threadIdx.x",
            f"down = thread // {self.tile.beside}",
            f"right = thread % {self.tile.beside}",
            "matrix = cuda.blockIdx.x % n_matrices",
            *take_apart("matrix", size_names(self.batch), "index32"),
            *starts,
            *body,
        ]
        tile = self.tile
        full = f"attention_{name}_{self.dtype.name}_{tile.own}x{tile.others}x{tile.width}"
        full += "_causal" * self.causal + "_masked" * self.masked + f"_batch{self.batch}"
        parameters = [
            *numbers(*COUNTS, *size_names(self.batch), *strides, *batches),
            Parameter("scale", self.compute.name),
            *(p for m in matrices for p in operand(m, self.dtype)),
            *(p for m in rows for p in operand(m, self.compute)),
        ]
        return define(full, parameters, body, "matrices", "queries", "keys", "width")

    # --- Tiles in shared memory -----------------------------------------------------------------

    def arrays(self, *own: str, others: tuple[str, ...]) -> Lines:
        """Return the declarations of shared arrays: tiles of own and of other rows, and weights."""
        tile, kind = self.tile, self.compute.name
        sizes = {
            **dict.fromkeys(own, tile.own * tile.pitch),
            **dict.fromkeys(others, tile.others * tile.pitch),
            "weights": tile.own * tile.weight_pitch,
        }
        return [f"{name} = cuda.shared.array({size}, {kind})" for name, size in sizes.items()]

    def load_tile(
        self, into: str, matrix: str, first: str, end: str, width: str, *, scaled: bool = False
    ) -> Lines:
        """Return the lines that load a tile of a matrix, with zeros beyond its edges.

        Args:
            into: the shared array.
            matrix: the operand.
            first: the first row of the tile.
            end: the number of rows.
            width: the number of columns.
            scaled: whether to multiply the elements by the scale.
        """
        tile = self.tile
        rows = tile.own if into.startswith("own") else tile.others
        at = f"{matrix}_start + ({first} + row) * {matrix}_row + column * {matrix}_column"
        value = load(f"{matrix}[{at}]", self.dtype, self.compute)
        return [
            f"for i in range({times(rows * tile.width // tile.threads)}):",
            f"    row = (thread + {tile.threads} * i) // {tile.width}",
            f"    column = (thread + {tile.threads} * i) % {tile.width}",
            f"    element = {constant(0, self.compute)}",
            f"    if ({first} + row < {end}) & (column < {width}):",
            f"        element = {value}{' * scale' if scaled else ''}",
            f"    {into}[{tile.pitch} * row + column] = element",
        ]

    # --- Products of tiles ----------------------------------------------------------------------

    def multiply(self, result: str, own: str, others: str, width: str) -> Lines:
        """Return the lines that set `result` to the dot products of own rows and other rows."""
        tile = self.tile
        rows, columns = range(tile.rows), range(tile.columns)
        return [
            *self.clear(result, tile.columns),
            f"for j in range(({width} + {tile.lanes - 1}) // {tile.lanes}):",
            *(
                f"    a{i} = load{tile.lanes}({own}, {tile.pitch} * (down + {tile.down * i})"
                f" + {tile.lanes} * j)"
                for i in rows
            ),
            *(
                f"    b{k} = load{tile.lanes}({others}, {tile.pitch} * (right + {tile.beside * k})"
                f" + {tile.lanes} * j)"
                for k in columns
            ),
            f"    for e in range({tile.lanes}):",
            *(f"        {result}[{i}, {k}] += a{i}[e] * b{k}[e]" for i in rows for k in columns),
        ]

    def accumulate(self, totals: str, others: str, sums: str = "") -> Lines:
        """Return the lines that add weighted other rows to `totals`, and weights to `sums`."""
        tile = self.tile
        rows, groups = range(tile.rows), range(tile.groups)
        return [
            f"for j in range({times(tile.others // tile.lanes)}):",
            *(
                f"    a{i} = load{tile.lanes}(weights, "
                f"{tile.weight_pitch} * (down + {tile.down * i}) + {tile.lanes} * j)"
                for i in rows
            ),
            f"    for e in range({tile.lanes}):",
            *(f"        {sums}[{i}] += a{i}[e]" for i in rows if sums),
            *(
                f"        b{g} = load{tile.lanes}({others}, {tile.pitch} * ({tile.lanes} * j + e)"
                f" + {tile.lanes} * (right + {tile.beside * g}))"
                for g in groups
            ),
            f"        for c in range({tile.lanes}):",
            *(
                f"            {totals}[{i}, c + {tile.lanes * g}] += a{i}[e] * b{g}[c]"
                for i in rows
                for g in groups
            ),
        ]

    def totals(self, name: str) -> Lines:
        """Return the declaration of a thread's part of totals, initialized with zeros."""
        shape = f"({self.tile.rows}, {self.tile.groups * self.tile.lanes})"
        return [
            f"{name} = cuda.local.array({shape}, {self.compute.name})",
            *self.clear(name, self.tile.groups * self.tile.lanes),
        ]

    def scores(self, *names: str) -> Lines:
        """Return the declarations of a thread's part of scores."""
        shape = f"({self.tile.rows}, {self.tile.columns})"
        return [f"{name} = cuda.local.array({shape}, {self.compute.name})" for name in names]

    def clear(self, name: str, columns: int) -> Lines:
        """Return the lines that set an array of a thread to zero."""
        return [
            f"for i in range({self.tile.rows}):",
            f"    for k in range({columns}):",
            f"        {name}[i, k] = {constant(0, self.compute)}",
        ]

    # --- Element by element ---------------------------------------------------------------------

    def each_score(self, query: str, key: str, lines: Lines, masked_lines: Lines) -> Lines:
        """Return the loops over a thread's scores.

        Args:
            query: the number of the query, an expression of `own` and `other`, the position of the
                score in the tile.
            key: the number of the key, likewise.
            lines: the statements if the query sees the key. `added` is the element of the mask, if
                there is one.
            masked_lines: the statements if it does not.
        """
        tile = self.tile
        seen = (
            "(query_here < n_queries) & (key_here < n_keys)"
            + " & (key_here <= query_here)" * self.causal
        )
        at = "mask_start + query_here * mask_row + key_here * mask_column"
        added = [f"added = {load(f'mask[{at}]', self.dtype, self.compute)}"] if self.masked else []
        return [
            f"for i in range({tile.rows}):",
            f"    for k in range({tile.columns}):",
            f"        own = down + {tile.down} * i",
            f"        other = right + {tile.beside} * k",
            f"        query_here = {query}",
            f"        key_here = {key}",
            f"        if {seen}:",
            *indented(indented(indented([*added, *lines]))),
            "        else:",
            *indented(indented(indented(masked_lines))),
        ]

    @property
    def added(self) -> str:
        """The suffix that adds the mask to a score."""
        return " + added" if self.masked else ""

    def weight(self, place: str = "own") -> str:
        """Return the expression of the weight of a score; `place` is its row in the tile."""
        return f"weights[{self.tile.weight_pitch} * {place} + other]"

    def store(self, totals: str, matrix: str, first: str, end: str, width: str, by: str) -> Lines:
        """Return the lines that store totals in a matrix; `by` is appended to each expression."""
        tile = self.tile
        value = converted(f"{totals}[i, c]{by}", self.compute, self.dtype)
        at = f"{matrix}_start + row * {matrix}_row + column * {matrix}_column"
        return [
            f"for i in range({tile.rows}):",
            f"    row = {first} + down + {tile.down} * i",
            f"    if row < {end}:",
            f"        for c in range({tile.groups * tile.lanes}):",
            f"            column = c // {tile.lanes} * {tile.beside * tile.lanes}"
            f" + {tile.lanes} * right + c % {tile.lanes}",
            f"            if column < {width}:",
            f"                {matrix}[{at}] = {store(value, self.dtype)}",
        ]


def times(count: int) -> str:
    """Return the end of a loop as an expression; a loop to an integer literal is unrolled."""
    return f"index32({count})"


COUNTS = ("matrices", "queries", "keys", "width", "outputs")
"""The names of the sizes: the matrices of the batch, the rows of queries and of keys, the elements
of a query or key, and those of a value."""
