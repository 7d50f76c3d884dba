"""Dictionaries of hooks by number, in the order in which they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_tensor.extending import RemovableHandle


def registered(
    hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool
) -> RemovableHandle:
    """Add a hook after the others, or before them."""
    earlier = dict(hooks) if prepend else {}
    handle = RemovableHandle(hooks, hook)
    for number in earlier:
        hooks[number] = hooks.pop(number)
    return handle
