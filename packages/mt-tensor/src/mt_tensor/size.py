"""`Size`: a shape as users see it, torch's `torch.Size`.

Inside this package a shape is a plain tuple. Users get a Size: a tuple that also counts the
elements, and whose slices and sums are Sizes again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from mt_tensor.core.extensions import extends

_new = tuple.__new__
_get_item = tuple.__getitem__


class Size(tuple[int, ...]):
    """The size of each dimension.

    >>> Size([2, 3, 4])[:2].numel()
    6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        """Return integers as a Size; other values raise TypeError."""
        return _new(cls, map(operator.index, sizes))

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, key: Any) -> Any:
        item = _get_item(self, key)
        return item if key.__class__ is int else _as_size(item)

    def __add__(self, other: Any) -> Any:
        return _as_size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return _new(Size, other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Any:
        return _as_size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)


def _as_size(value: Any) -> Any:
    """Return a tuple as a Size, and anything else as it is."""
    return _new(Size, value) if value.__class__ is tuple else value


@extends("shape for users")
def size_from(shape: tuple[int, ...]) -> Size:
    """Return a tuple of integers as a Size, unchecked."""
    return _new(Size, shape)
