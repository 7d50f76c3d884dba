"""What the kernels of attention share: tiles of queries and keys, and what is multiplied of them.

A block owns some rows, queries or keys, and walks along the others, tile by tile. Of each two tiles
it makes *scores*, how well rows of the one fit rows of the other, and from scores *weights*. With
these it adds rows of the others to its own totals. Both are matrix products with tiles in shared
memory, as in `core/matrix.py`; the weights of all queries and keys together, of which there may be
more than of anything else, exist only as one tile at a time.

Threads form a rectangle: `down` says which rows of the block's own are a thread's, `right` which
rows of the others in scores, and which columns in totals.
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
"""The most elements that queries, keys and values may have."""


@dataclass(frozen=True, slots=True)
class Tile:
    """How a block cuts up its work.

    Attributes:
        own: how many rows of its own it has.
        others: how many of the others are in shared memory at a time.
        width: how many elements of a row there is room for.
        beside: how many threads share a row.
        threads: threads of a block.
        lanes: how many elements are moved at once.
    """

    own: int
    others: int
    width: int
    beside: int
    threads: int
    lanes: int

    @property
    def down(self) -> int:
        """How many rows threads are in."""
        return self.threads // self.beside

    @property
    def rows(self) -> int:
        """How many of the block's rows a thread has."""
        return self.own // self.down

    @property
    def columns(self) -> int:
        """How many of the other rows a thread has, in scores."""
        return self.others // self.beside

    @property
    def groups(self) -> int:
        """How many groups of columns, side by side in memory, a thread has in totals."""
        return self.width // (self.lanes * self.beside)

    @property
    def pitch(self) -> int:
        """How far apart rows are in shared memory: not all in one memory bank."""
        return self.width + self.lanes

    @property
    def weight_pitch(self) -> int:
        """How far apart rows of weights are."""
        return self.others + self.lanes


def choose(width: int, compute: DType, size: Size, *, backward: bool) -> Tile:
    """Return the tile for rows of so many elements, of which shared memory has room for all."""
    lanes = 16 // compute.itemsize
    if size.threads < 32:
        room = next(w for w in (8, 16, 32, 64, 128) if w >= width)
        return Tile(4, 4, room, 2, 4, lanes)
    room = next(w for w in (16, 32, 64, 128) if w >= width)
    bytes_of_row = room * compute.itemsize
    if backward:
        own = others = {1024: 8, 512: 16}.get(bytes_of_row, 32)
    else:
        own, others = {1024: (16, 16), 512: (32, 32)}.get(bytes_of_row, (64, 32))
    beside = min(8, room // lanes)
    return Tile(own, others, room, beside, min(128, own * beside), lanes)


@dataclass(frozen=True, slots=True)
class Form:
    """What a kernel is generated for.

    Attributes:
        dtype: the element type.
        tile: how a block cuts up its work.
        batch: the number of batch dimensions after merging.
        causal: whether query i sees only the keys 0 to i.
        masked: whether there is a mask to be added.
    """

    dtype: DType
    tile: Tile
    batch: int
    causal: bool
    masked: bool

    @property
    def compute(self) -> DType:
        """The type that is computed with."""
        return computed(self.dtype)

    def kernel(
        self, name: str, matrices: tuple[str, ...], rows: tuple[str, ...], body: Lines
    ) -> Kernel:
        """Return the kernel with such a body.

        Args:
            name: what it computes.
            matrices: the operands of shape (*batch, rows, columns), with strides; the mask is one
                more, if there is one.
            rows: the operands that have one number for each query, contiguous.
            body: its lines.
        """
        matrices = (*matrices, "mask") if self.masked else matrices
        strides = [f"{m}_{way}" for m in matrices for way in ("row", "column")]
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

    def room(self, *own: str, others: tuple[str, ...]) -> Lines:
        """Return the shared arrays: tiles of the block's own rows, and of others, and weights."""
        tile, kind = self.tile, self.compute.name
        sizes = {
            **dict.fromkeys(own, tile.own * tile.pitch),
            **dict.fromkeys(others, tile.others * tile.pitch),
            "weights": tile.own * tile.weight_pitch,
        }
        return [f"{name} = cuda.shared.array({size}, {kind})" for name, size in sizes.items()]

    def bring(
        self, into: str, matrix: str, first: str, end: str, width: str, *, scaled: bool = False
    ) -> Lines:
        """Return the lines that bring a tile of a matrix; beyond its edges there are zeros.

        Args:
            into: the shared array.
            matrix: the operand.
            first: the first row of the tile.
            end: how many rows there are.
            width: how many columns there are.
            scaled: whether what is brought is multiplied by the scale.
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

    def fit(self, result: str, own: str, others: str, width: str) -> Lines:
        """Return the lines that set `result` to the products of own rows with others."""
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

    def gather(self, totals: str, others: str, sums: str = "") -> Lines:
        """Return the lines that add rows of others, times weights, to totals; weights to sums."""
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
        """Return the declaration of totals, a thread's part of them; they begin with zeros."""
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

    def each_score(self, query: str, key: str, lines: Lines, otherwise: Lines) -> Lines:
        """Return the loops over a thread's scores.

        Args:
            query: the number of the query, an expression of `own` and `other`, the places of the
                score in the tile.
            key: that of the key.
            lines: what is done where the query sees the key. `row` is the place among weights, and
                `mask` what is to be added, if there is a mask.
            otherwise: what is done where it does not.
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
            *indented(indented(indented(otherwise))),
        ]

    @property
    def added(self) -> str:
        """What is added to a score."""
        return " + added" if self.masked else ""

    def weight(self, place: str = "own") -> str:
        """Return the place of a score among the weights."""
        return f"weights[{self.tile.weight_pitch} * {place} + other]"

    def store(self, totals: str, matrix: str, first: str, end: str, width: str, by: str) -> Lines:
        """Return the lines that store totals in a matrix, each with `by` after it."""
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
    """Return a number as the end of a loop that a compiler may unroll, but need not."""
    return f"index32({count})"


COUNTS = ("matrices", "queries", "keys", "width", "outputs")
"""The numbers of matrices in the batch, of their rows and of the elements of these."""
