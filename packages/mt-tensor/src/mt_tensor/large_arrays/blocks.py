"""Parts of large arrays that stay in the processor's cache while they are computed with."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 32768
"""How many elements go through all steps at once. They and what is computed of them fit the second
cache; with fewer, the calls would take longer than the arithmetic."""


def parts(count: int, size: int) -> Iterator[slice]:
    """Yield which of `count` things, of `size` elements each, go together; at least one does."""
    together = max(BLOCK // max(size, 1), 1)
    for first in range(0, count, together):
        yield slice(first, first + together)
