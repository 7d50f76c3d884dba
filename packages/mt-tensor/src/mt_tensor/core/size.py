"""`Size`: a shape as users see it, torch's `torch.Size`.

Inside this package a shape is a plain tuple, as in `strides.py`. Users get the same numbers as a
Size: a tuple that also counts the elements, and whose slices and sums are Sizes again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

_new = tuple.__new__
_get_item = tuple.__getitem__


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
        item = _get_item(self, key)
        return item if key.__class__ is int else _as_size(item)

    def __add__(self, other: Any) -> Any:
        """Return the extents of both, one after the other."""
        return _as_size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        """Return the extents of both, one after the other."""
        return _new(Size, other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Any:
        """Return the extents so many times."""
        return _as_size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        """Pickle the extents."""
        return Size, (tuple(self),)


def _as_size(value: Any) -> Any:
    """Return a tuple as a Size, and anything else (an extent, NotImplemented) as it is."""
    return _new(Size, value) if value.__class__ is tuple else value


def size_from(shape: tuple[int, ...]) -> Size:
    """Return a tuple of integers as a Size; they are not checked."""
    return _new(Size, shape)
