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
    return isinstance(value, (tuple, list)) and not isinstance(value, Size)


def leaves_in(value: Any) -> Iterator[Any]:
    """Yield what is in tuples, lists and dictionaries, in order."""
    if _has_leaves(value):
        for each in value:
            yield from leaves_in(each)
    elif type(value) is dict:
        for each in value.values():
            yield from leaves_in(each)
    else:
        yield value


def shape_of(value: Any) -> Any:
    """Return what says how leaves are put together."""
    if _has_leaves(value):
        return (type(value), *map(shape_of, value))
    if type(value) is dict:
        return (dict, *[(key, shape_of(each)) for key, each in value.items()])
    return None


def exchanged_leaves(value: Any, new: Callable[[Any], Any]) -> Any:
    """Return the same structure with each leaf replaced by what a function makes of it."""
    if _has_leaves(value):
        items = [exchanged_leaves(each, new) for each in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if type(value) is dict:
        return {key: exchanged_leaves(each, new) for key, each in value.items()}
    return new(value)


def tensors_in(value: Any) -> list[Tensor]:
    """Return the tensors among leaves."""
    return [each for each in leaves_in(value) if isinstance(each, Tensor)]
