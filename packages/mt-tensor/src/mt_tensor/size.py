"""`Size`: a shape as users see it, torch's `torch.Size`.

A small type first: that in which layouts and tensors show their shape. It is a tuple, and is shown,
compared and hashed as one; what is cut out of it or made of two is one again. Layouts keep one
beside their shape, so that asking a tensor for it makes none.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

_new = tuple.__new__
_cut = tuple.__getitem__


class Size(tuple[int, ...]):
    """The extent of each dimension.

    >>> Size([2, 3, 4])[:2].numel()
    6

    Args:
        extents: integers.

    Raises:
        TypeError: one is no integer.
    """

    __slots__ = ()

    def __new__(cls, extents: Iterable[Any] = ()) -> Size:
        """Return integers as a Size."""
        return _new(cls, map(operator.index, extents))

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, key: Any) -> Any:
        """Return one extent, or those of a slice as a Size."""
        found = _cut(self, key)
        return found if key.__class__ is int else _sized(found)

    def __add__(self, other: Any) -> Any:
        """Return the extents of both, one after the other."""
        return _sized(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        """Return the extents of both, one after the other."""
        return _new(Size, other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Any:
        """Return the extents so many times."""
        return _sized(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        """Pickle the extents."""
        return Size, (tuple(self),)


def _sized(found: Any) -> Any:
    return _new(Size, found) if found.__class__ is tuple else found


def size_from(shape: tuple[int, ...]) -> Size:
    """Return a shape as a Size, without looking at it."""
    return _new(Size, shape)
