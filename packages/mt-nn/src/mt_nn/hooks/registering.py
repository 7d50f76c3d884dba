"""Hooks by the moment at which they are called, in the order in which they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mt_tensor.extending import RemovableHandle

Hook = Callable[..., Any]


class Hooks:
    """The hooks of one object; what registers them says how they are called."""

    moments: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self._hooks: dict[str, dict[int, Hook]] = {moment: {} for moment in self.moments}

    def add(self, moment: str, hook: Hook, prepend: bool) -> RemovableHandle:
        """Add a hook after the others of a moment, or before them."""
        hooks = self._hooks[moment]
        earlier = dict(hooks) if prepend else {}
        handle = RemovableHandle(hooks, hook)
        for number in earlier:
            hooks[number] = hooks.pop(number)
        return handle

    def at(self, moment: str) -> tuple[Hook, ...]:
        """Return the hooks of a moment: those that are registered meanwhile are not called."""
        return tuple(self._hooks[moment].values())
