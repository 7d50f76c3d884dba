"""Memory that is used again without asking the driver, which takes longer to answer than to launch.

Everything runs on one stream, in order. Whatever still reads or writes a piece of memory that the
host has forgotten was launched before whatever the piece is used for next. So it can be handed out
at once. A program that trains asks for the same sizes again and again; others are rounded up, by an
eighth at most, so that pieces fit more often.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.tables import GPU

SMALLEST = 512
"""Bytes of a piece at least, which the driver rounds up to as well."""


class Block:
    """A piece of memory; when it is forgotten, it is kept for the next who wants as much.

    Attributes:
        handle: the address.
        size: bytes.
    """

    __slots__ = ("__weakref__", "_buffer", "_kept", "handle", "size")

    def __init__(self, handle: int, size: int, buffer: Any, kept: list[tuple[int, Any]]) -> None:
        self.handle = handle
        self.size = size
        self._buffer = buffer
        self._kept = kept

    def __del__(self) -> None:
        """Keep what the driver has given."""
        self._kept.append((self.handle, self._buffer))


class Reuse:
    """A memory resource of `cuda.core`, and what it has given and nobody uses.

    Attributes:
        resource: the resource.
    """

    def __init__(self, resource: Any) -> None:
        self.resource = resource
        self._kept: dict[int, list[tuple[int, Any]]] = {}

    def allocate(self, size: int, stream: Any) -> Block:
        """Return a piece that is kept, or else a new one."""
        size = rounded(size)
        kept = self._kept.get(size)
        if kept is None:
            kept = self._kept.setdefault(size, [])
        try:
            handle, buffer = kept.pop()
        except IndexError:
            buffer = self.resource.allocate(size, stream=stream)
            handle = int(buffer.handle)
        return Block(handle, size, buffer, kept)

    def forget(self) -> None:
        """Let go of all that is kept."""
        for kept in self._kept.values():
            kept.clear()


def rounded(size: int) -> int:
    """Return one of eight sizes between a power of two and the next, not below a size in bytes.

    >>> rounded(1), rounded(1025), rounded(9000), rounded(16384)
    (512, 1536, 9216, 16384)
    """
    step = max(SMALLEST, 1 << max((size - 1).bit_length() - 4, 0))
    return -(-size // step) * step


GPU["pool"] = Reuse
