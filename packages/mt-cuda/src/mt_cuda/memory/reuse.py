"""A cache of freed memory, since an allocation by the driver takes longer than a launch.

Everything runs on one stream, in order. All work that uses a block which the host has freed was
launched before any work that uses it next, so a freed block can be reused at once. A training
program allocates the same sizes again and again. Sizes are rounded up, to a multiple of 512 bytes
or by an eighth at most, so that blocks fit more often.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.tables import GPU

SMALLEST = 512
"""The minimum size of a block in bytes; the driver rounds up to it, too."""


class Block:
    """A block of memory, which is cached when it is garbage-collected.

    Attributes:
        handle: the address.
        size: the size in bytes.
    """

    __slots__ = ("__weakref__", "_buffer", "_kept", "handle", "size")

    def __init__(self, handle: int, size: int, buffer: Any, kept: list[tuple[int, Any]]) -> None:
        self.handle = handle
        self.size = size
        self._buffer = buffer
        self._kept = kept

    def __del__(self) -> None:
        """Return the buffer to the cache."""
        self._kept.append((self.handle, self._buffer))


class Reuse:
    """A memory resource of `cuda.core` with a cache of freed buffers.

    Attributes:
        resource: the underlying memory resource.
    """

    def __init__(self, resource: Any) -> None:
        self.resource = resource
        self._kept: dict[int, list[tuple[int, Any]]] = {}

    def allocate(self, size: int, stream: Any) -> Block:
        """Return a block of at least `size` bytes, from the cache if possible."""
        size = rounded(size)
        kept = self._kept.setdefault(size, [])
        try:
            handle, buffer = kept.pop()
        except IndexError:
            buffer = self.resource.allocate(size, stream=stream)
            handle = int(buffer.handle)
        return Block(handle, size, buffer, kept)

    def forget(self) -> None:
        """Drop all cached buffers."""
        for kept in self._kept.values():
            kept.clear()


def rounded(size: int) -> int:
    """Round a size up to one of eight sizes between a power of two and the next.

    The result is a multiple of `SMALLEST`.

    >>> rounded(1), rounded(1025), rounded(9000), rounded(16384)
    (512, 1536, 9216, 16384)
    """
    step = max(SMALLEST, 1 << max((size - 1).bit_length() - 4, 0))
    return -(-size // step) * step


GPU["pool"] = Reuse
