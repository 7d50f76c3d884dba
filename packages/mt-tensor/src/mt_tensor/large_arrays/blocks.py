"""Split large arrays into blocks that fit into the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

from mt_tensor.core.numpy_backend import BLOCK


def parts(count: int, size: int) -> Iterator[slice]:
    """Yield slices of `count` rows of `size` elements each, one per block of at least one row."""
    rows = max(BLOCK // max(size, 1), 1)
    for first in range(0, count, rows):
        yield slice(first, first + rows)
