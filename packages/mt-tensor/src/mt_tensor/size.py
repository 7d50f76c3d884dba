"""`Size`, the type of shapes that users get, as `torch.Size`.

Inside this package, shapes are plain tuples. A Size is a tuple with a method `numel`, whose slices
and sums are Sizes too.
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
    """The size of each dimension of a tensor."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        """Convert integers to a Size; other values raise TypeError."""
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
    """Convert a tuple to a Size; return other values unchanged."""
    return _new(Size, value) if value.__class__ is tuple else value


@extends("shape for users")
def size_from(shape: tuple[int, ...]) -> Size:
    """Convert a tuple of integers to a Size without checks."""
    return _new(Size, shape)
