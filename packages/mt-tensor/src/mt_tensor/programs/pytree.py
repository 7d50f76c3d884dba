"""Nested tuples, lists and dictionaries, and the leaves in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mt_tensor.core.dtypes import DType
from mt_tensor.errors import CompileError
from mt_tensor.size import Size

PLAIN = (bool, int, float, complex, str, bytes, type(None), DType, Size)
"""Immutable leaves that are compared by value."""


def exact_key(constant: Any) -> Any:
    """Return a key that distinguishes equal constants, such as 0.0, -0.0 and False."""
    kind = type(constant)
    if isinstance(constant, (int, str, bytes)):
        return kind, constant
    if isinstance(constant, (float, slice)):
        return kind, repr(constant)  # nan is equal to itself
    return kind, constant, repr(constant)


def flattened(value: Any) -> list[Any]:
    """Return the leaves of nested containers.

    Raises:
        CompileError: a container contains itself.
    """
    try:
        return list(leaves_in(value))
    except RecursionError:
        raise CompileError(
            "a list or dictionary that a compiled function is given or reads contains itself: make "
            "it an object."
        ) from None


def _is_sequence(value: Any) -> bool:
    kind = type(value)
    return kind is list or kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields"))


def leaves_in(value: Any) -> Iterator[Any]:
    """Yield the leaves of nested containers, in order, and dictionary keys that are not plain."""
    if _is_sequence(value):
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
    """Return a key of the containers of a value: their types, keys, nesting and identity."""
    seen = {} if seen is None else seen
    is_dict = type(value) is dict
    if not is_dict and not _is_sequence(value):
        return None
    known = seen.get(id(value))
    if known is not None:
        return known
    seen[id(value)] = len(seen)
    if not is_dict:
        return (type(value), *[structure_of(each, seen) for each in value])
    keys = [exact_key(key) if isinstance(key, PLAIN) else None for key in value]  # or leaves
    items = zip(keys, value.values(), strict=True)
    return (dict, *[(key, structure_of(each, seen)) for key, each in items])


Copies = dict[int, tuple[Any, Any]]
"""Lists and dictionaries with their copies, by the identity of the original."""


def map_leaves(value: Any, new: Callable[[Any], Any], copies: Copies | None = None) -> Any:
    """Return a copy of nested containers in which each leaf is replaced.

    Args:
        value: the containers.
        new: returns the replacement of a leaf.
        copies: the copies of lists and dictionaries that exist; new ones are added.
    """
    copies = {} if copies is None else copies
    if id(value) in copies:
        return copies[id(value)][1]
    if _is_sequence(value):
        items = [map_leaves(each, new, copies) for each in value]
        kind = type(value)
        copy: Any = kind(*items) if hasattr(kind, "_fields") else kind(items)
    elif type(value) is dict:
        copy = {
            key if isinstance(key, PLAIN) else new(key): map_leaves(each, new, copies)
            for key, each in value.items()
        }
    else:
        return new(value)
    if not isinstance(value, tuple):
        copies[id(value)] = value, copy
    return copy
