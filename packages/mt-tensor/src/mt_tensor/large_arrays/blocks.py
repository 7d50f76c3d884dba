"""Split large arrays into blocks that fit into the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

from mt_tensor.core.numpy_backend import BLOCK


def parts(count: int, size: int) -> Iterator[slice]:
    """Split `count` rows of `size` elements into blocks, and yield the slice of rows of each."""
    rows = max(BLOCK // max(size, 1), 1)
    for first in range(0, count, rows):
        yield slice(first, first + rows)
