"""Which tile a product takes, and whether its inner dimension is cut into parts.

A large tile reads each element of memory less often, and a small one leaves fewer multiprocessors
without work; a narrow matrix fits in neither unless the tile is narrow, too. So every tile of a
list, with every sensible number of parts, is given a price by the same short reckoning, and the
cheapest is taken. The prices are in what one multiprocessor could multiply and add meanwhile; they
compare tiles with each other and foretell no times. They were fitted to what an H100 took for each
tile in 28 products of training steps and of squares: what is taken takes 5 % longer than what would
have been best, in the mean, and 19 % at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mt_cuda.core.machine import Size
from mt_tensor import DType

MUCH = 10_000_000
"""Products of elements from which on every multiprocessor shall have work."""

OF_A_BYTE_FROM_CACHE, OF_A_BYTE_OF_PARTS = 2.9, 5.9
"""The prices of a byte that one multiprocessor reads for its strips, and of one of the parts."""

OF_A_GROUP, OF_AN_ELEMENT, OF_A_STRIP = 9.4, 8.3, 19
"""The prices of 16 bytes that a thread reads from shared memory, of an element that it brings
there, and of what it does once a strip."""

OF_WAITING = 640 * 128
"""The price of a strip at least: the next one is on its way from memory for so many cycles, in each
of which a multiprocessor multiplies 128 times. So where there are few blocks, it does not matter
how little these have to do, but how often they wait."""

OF_A_LAUNCH = 3_300_000
"""The price of the second launch, which adds parts up; mostly that of the host's time."""

BUSY = 87
"""Threads from which on a multiprocessor has always something to do."""


@dataclass(frozen=True, slots=True)
class Tile:
    """How a block computes its part of a product; all are powers of two.

    Attributes:
        rows: those of the part.
        columns: those of the part.
        depth: how much of the inner dimension is in shared memory at a time.
        each_rows: the rows that a thread computes.
        each_columns: the columns that a thread computes.
    """

    rows: int
    columns: int
    depth: int
    each_rows: int
    each_columns: int

    def __str__(self) -> str:
        """Name the tile, for the kernel's name."""
        return f"{self.rows}x{self.columns}x{self.depth}_by_{self.each_rows}x{self.each_columns}"

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.rows // self.each_rows * (self.columns // self.each_columns)

    @property
    def strips(self) -> int:
        """How many strips one turn of the loop over them multiplies: two, if that is little."""
        return 2 if self.each_rows * self.each_columns * self.depth <= 512 else 1

    def price(self, rows: int, columns: int) -> float:
        """Return what one position of the inner dimension takes a multiprocessor.

        Args:
            rows: those of the result; a tile that has more reads the last one again, from nearby.
            columns: those of the result; the same.
        """
        each = self.each_rows * self.each_columns
        groups = (self.each_rows + self.each_columns) / 4
        brought = (self.rows + self.columns) / self.threads * OF_AN_ELEMENT
        issued = each + groups + brought + OF_A_STRIP / self.depth
        multiplied = self.threads * max(issued, groups * OF_A_GROUP)
        read = 4 * (min(self.rows, rows) + min(self.columns, columns))
        return max(multiplied, read * OF_A_BYTE_FROM_CACHE)


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
"""Tiles for GPUs; of those with the same price, the first is taken."""

SMALL = (Tile(32, 32, 4, 4, 4),)
"""For machines whose blocks have few threads, such as processors, which would take long to compile
more of them."""

TINY = (Tile(8, 8, 4, 4, 4), Tile(4, 8, 4, 4, 4), Tile(8, 4, 4, 4, 4))
"""For machines whose blocks have fewer threads than a warp: the same in small."""


def lanes_of(dtype: DType) -> int:
    """Return how many elements make 16 bytes."""
    return 16 // dtype.itemsize


@dataclass(frozen=True, slots=True)
class Cut:
    """How a product is cut up.

    Attributes:
        tile: the tile.
        tiles: how many tiles there are in all matrices.
        parts: how many parts of the inner dimension.
        span: how long these are; the last may be shorter.
    """

    tile: Tile
    tiles: int
    parts: int
    span: int

    @property
    def blocks(self) -> int:
        """Blocks of the launch."""
        return self.tiles * self.parts

    def price(self, multiprocessors: int, batches: int, rows: int, columns: int) -> float:
        """Return what the product takes, whose result has these sizes."""
        turns = max(-(-self.blocks // multiprocessors), BUSY / self.tile.threads)
        position = max(turns * self.tile.price(rows, columns), OF_WAITING / self.tile.depth)
        price = self.span * position
        if self.parts > 1:
            moved = 8 * batches * rows * columns * self.parts / multiprocessors
            price += OF_A_LAUNCH + moved * OF_A_BYTE_OF_PARTS
        return price


def choose(shape: tuple[int, int, int, int], total: DType, size: Size) -> Cut:
    """Return how a product is cut up.

    Where more than `MUCH` is to be done, every multiprocessor gets a block, if the shape allows it.

    Args:
        shape: the sizes: matrices, rows, inner, columns.
        total: the type in which products are added up.
        size: of the machine.
    """
    batches, rows, inner, columns = shape
    cuts = [
        cut
        for tile in _tiles(total, size)
        for cut in _cuts(
            tile, batches * _over(rows, tile.rows) * _over(columns, tile.columns), shape, size
        )
    ]
    if batches * rows * inner * columns > MUCH:
        most = max(cut.blocks for cut in cuts)
        cuts = [cut for cut in cuts if cut.blocks >= min(size.enough, most)]
    return min(cuts, key=lambda cut: cut.price(size.enough, batches, rows, columns))


def _tiles(total: DType, size: Size) -> Iterator[Tile]:
    """Yield the tiles for such a machine: of totals that fit into the registers of a thread."""
    for tile in TINY if size.threads < 32 else SMALL if size.threads < 128 else TILES:
        held = tile.each_rows * tile.each_columns * total.itemsize
        if tile.threads <= size.threads and held <= 256:
            yield tile


def _cuts(tile: Tile, tiles: int, shape: tuple[int, int, int, int], size: Size) -> Iterator[Cut]:
    """Yield the whole inner dimension, and parts so many that there are blocks for all."""
    inner = shape[2]
    yield Cut(tile, tiles, 1, inner)
    for times in (1, 2, 4, 8):
        wanted = _over(times * size.enough, tiles)
        strips = max(2, inner // (wanted * tile.depth))  # no part is shorter
        span = strips * tile.depth
        if inner > span:
            yield Cut(tile, tiles, _over(inner, span), span)


def _over(count: int, each: int) -> int:
    """Return how many it takes to hold all."""
    return -(-count // each)
