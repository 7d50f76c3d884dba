"""Choose the tile of a product, and the number of parts of its inner dimension.

A large tile reads each element of memory less often, and a small one leaves fewer multiprocessors
idle; a narrow matrix needs a narrow tile. So the cost of every tile of a list, with every sensible
number of parts, is estimated by one formula, and the cheapest is used. The unit of costs is a
multiply-add of one multiprocessor; they compare tiles with each other and do not predict times.
They were fitted to the times of an H100 for each tile in 28 products of training steps and of
squares: the chosen tile takes 5 % longer than the best one on average, and 19 % at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mt_cuda.core.machine import Size
from mt_tensor import DType

LARGE_PRODUCT = 10_000_000
"""The number of multiply-adds above which every multiprocessor must have work."""

CACHE_BYTE_COST, PARTS_BYTE_COST = 2.9, 5.9
"""The costs of a byte that one multiprocessor reads for its strips, and of a byte of the parts."""

GROUP_COST, ELEMENT_COST, STRIP_COST = 9.4, 8.3, 19
"""The costs of 16 bytes that a thread reads from shared memory, of an element that it stores there,
and of the overhead of a strip."""

LATENCY_COST = 640 * 128
"""The least cost of a strip: the latency of loading the next one, in cycles, times the 128
multiply-adds of a multiprocessor per cycle. With few blocks, the number of strips matters, and not
the work for each."""

LAUNCH_COST = 3_300_000
"""The cost of the second launch, which adds the parts: mostly the time of the host."""

BUSY_THREADS = 87
"""The number of threads that keep a multiprocessor busy."""


@dataclass(frozen=True, slots=True)
class Tile:
    """The sizes of a block's part of a product, all of them powers of two.

    Attributes:
        rows: the rows of the part.
        columns: the columns of the part.
        depth: the size of the inner dimension in shared memory at a time.
        each_rows: the rows per thread.
        each_columns: the columns per thread.
    """

    rows: int
    columns: int
    depth: int
    each_rows: int
    each_columns: int

    def __str__(self) -> str:
        """Return the tile's part of a kernel's name."""
        return f"{self.rows}x{self.columns}x{self.depth}_by_{self.each_rows}x{self.each_columns}"

    @property
    def threads(self) -> int:
        """The number of threads per block."""
        return self.rows // self.each_rows * (self.columns // self.each_columns)

    @property
    def strips(self) -> int:
        """The number of strips per iteration of the loop: two, if they are short."""
        return 2 if self.each_rows * self.each_columns * self.depth <= 512 else 1

    def cost(self, rows: int, columns: int) -> float:
        """Return the cost of one position of the inner dimension for a multiprocessor.

        Args:
            rows: the rows of the result; a tile that has more reads the last one again, from the
                cache.
            columns: the columns of the result; the same.
        """
        each = self.each_rows * self.each_columns
        groups = (self.each_rows + self.each_columns) / 4
        brought = (self.rows + self.columns) / self.threads * ELEMENT_COST
        issued = each + groups + brought + STRIP_COST / self.depth
        multiplied = self.threads * max(issued, groups * GROUP_COST)
        read = 4 * (min(self.rows, rows) + min(self.columns, columns))
        return max(multiplied, read * CACHE_BYTE_COST)


TILES = (
    Tile(128, 128, 16, 8, 8),
    Tile(128, 64, 16, 8, 8),
    Tile(64, 128, 16, 8, 8),
    Tile(64, 64, 16, 8, 8),
    Tile(128, 32, 16, 8, 8),
    Tile(32, 128, 16, 8, 8),
    Tile(64, 32, 16, 8, 8),
    Tile(32, 64, 16, 8, 8),
    Tile(32, 64, 16, 4, 8),
    Tile(64, 32, 16, 4, 8),
    Tile(32, 32, 16, 4, 8),
    Tile(128, 16, 16, 8, 4),
    Tile(16, 128, 16, 4, 8),
    Tile(256, 8, 8, 8, 4),
    Tile(8, 256, 8, 4, 8),
    Tile(8, 64, 16, 4, 4),
    Tile(64, 8, 16, 4, 4),
)
"""Tiles for GPUs; of those with the same cost, the first is chosen."""

SMALL = (Tile(32, 32, 4, 4, 4),)
"""Tiles for machines whose blocks have few threads, such as CPUs, which would take long to compile
larger ones."""

TINY = (Tile(8, 8, 4, 4, 4), Tile(4, 8, 4, 4, 4), Tile(8, 4, 4, 4, 4))
"""Tiles for machines whose blocks have fewer threads than a warp."""


def lanes_of(dtype: DType) -> int:
    """Return the number of elements in 16 bytes."""
    return 16 // dtype.itemsize


@dataclass(frozen=True, slots=True)
class Cut:
    """How a product is split.

    Attributes:
        tile: the tile.
        tiles: the number of tiles in all matrices.
        parts: the number of parts of the inner dimension.
        span: the size of a part; the last may be smaller.
    """

    tile: Tile
    tiles: int
    parts: int
    span: int

    @property
    def blocks(self) -> int:
        """The number of blocks of the launch."""
        return self.tiles * self.parts

    def cost(self, multiprocessors: int, batches: int, rows: int, columns: int) -> float:
        """Return the cost of a product whose result has these sizes."""
        turns = max(-(-self.blocks // multiprocessors), BUSY_THREADS / self.tile.threads)
        position = max(turns * self.tile.cost(rows, columns), LATENCY_COST / self.tile.depth)
        cost = self.span * position
        if self.parts > 1:
            moved = 8 * batches * rows * columns * self.parts / multiprocessors
            cost += LAUNCH_COST + moved * PARTS_BYTE_COST
        return cost


def choose(shape: tuple[int, int, int, int], total: DType, size: Size) -> Cut:
    """Return how to split a product.

    Above `LARGE_PRODUCT`, every multiprocessor has a block, if the shape allows it.

    Args:
        shape: the sizes: matrices, rows, inner, columns.
        total: the dtype of the sums.
        size: the size of the machine.
    """
    batches, rows, inner, columns = shape
    cuts = [cut for tile in _tiles(total, size) for cut in _cuts(tile, shape, size)]
    if batches * rows * inner * columns > LARGE_PRODUCT:
        most = max(cut.blocks for cut in cuts)
        cuts = [cut for cut in cuts if cut.blocks >= min(size.enough, most)]
    return min(cuts, key=lambda cut: cut.cost(size.enough, batches, rows, columns))


def _tiles(total: DType, size: Size) -> Iterator[Tile]:
    """Yield the tiles for a machine, except those whose totals exceed a thread's registers."""
    for tile in TINY if size.threads < 32 else SMALL if size.threads < 128 else TILES:
        total_bytes = tile.each_rows * tile.each_columns * total.itemsize
        if tile.threads <= size.threads and total_bytes <= 256:
            yield tile


def _cuts(tile: Tile, shape: tuple[int, int, int, int], size: Size) -> Iterator[Cut]:
    """Yield the whole inner dimension, and splits with enough parts to occupy the machine."""
    batches, rows, inner, columns = shape
    tiles = batches * -(-rows // tile.rows) * -(-columns // tile.columns)
    yield Cut(tile, tiles, 1, inner)
    for times in (1, 2, 4, 8):
        wanted = -(-times * size.enough // tiles)
        strips = max(2, inner // (wanted * tile.depth))  # the least depth of a part
        span = strips * tile.depth
        if inner > span:
            yield Cut(tile, tiles, -(-inner // span), span)
