"""Arguments and results as rows of leaves: what is in tuples, lists and dictionaries, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mt_tensor.core.dtypes import DType
from mt_tensor.core.tensor import Tensor
from mt_tensor.size import Size

PLAIN = (bool, int, float, complex, str, bytes, type(None), DType, Size)
"""Leaves that never change, and are equal where they are the same."""


def _has_leaves(value: Any) -> bool:
    kind = type(value)
    return kind is list or kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields"))


def leaves_in(value: Any) -> Iterator[Any]:
    """Yield what is in tuples, lists and dictionaries, in order, with keys that are not plain."""
    if _has_leaves(value):
        for each in value:
            yield from leaves_in(each)
    elif type(value) is dict:
        for key, each in value.items():
            if not isinstance(key, PLAIN):
                yield key
            yield from leaves_in(each)
    else:
        yield value


def structure_of(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Return what says how leaves are put together, and which container is given twice."""
    seen = {} if seen is None else seen
    if not _has_leaves(value) and type(value) is not dict:
        return None
    known = seen.get(id(value))
    if known is not None:
        return known
    seen[id(value)] = len(seen)
    if type(value) is dict:
        keys = [key if isinstance(key, PLAIN) else None for key in value]  # the others are leaves
        return (
            dict,
            *[(key, structure_of(x, seen)) for key, x in zip(keys, value.values(), strict=True)],
        )
    return (type(value), *[structure_of(each, seen) for each in value])


Copies = dict[int, tuple[Any, Any]]
"""Lists and dictionaries with their copies, by the identity of what was copied."""


def map_leaves(value: Any, new: Callable[[Any], Any], copies: Copies | None = None) -> Any:
    """Return the same structure with each leaf replaced by what a function makes of it.

    Args:
        value: the structure.
        new: the function.
        copies: takes the lists and dictionaries of the result, so that what is given twice is one.
    """
    copies = {} if copies is None else copies
    if id(value) in copies:
        return copies[id(value)][1]
    if _has_leaves(value):
        items = [map_leaves(each, new, copies) for each in value]
        kind = type(value)
        made: Any = kind(*items) if hasattr(kind, "_fields") else kind(items)
    elif type(value) is dict:
        made = {
            key if isinstance(key, PLAIN) else new(key): map_leaves(each, new, copies)
            for key, each in value.items()
        }
    else:
        return new(value)
    if not isinstance(value, tuple):
        copies[id(value)] = value, made
    return made


def tensors_in(value: Any) -> list[Tensor]:
    """Return the tensors among leaves."""
    return [each for each in leaves_in(value) if isinstance(each, Tensor)]
