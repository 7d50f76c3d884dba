"""Hooks by the moment at which they are called, in the order in which they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from mt_tensor.extending import RemovableHandle

Hook = Callable[..., Any]


class Hooks:
    """The hooks of one object; what registers them says how they are called."""

    moments: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self._hooks: dict[str, dict[int, Hook]] = {moment: {} for moment in self.moments}

    @classmethod
    def of(cls, owner: Any) -> Self:
        """Return the hooks of an object, which has none at first."""
        if owner._hooks is None:
            vars(owner)["_hooks"] = cls()
        hooks: Self = owner._hooks
        return hooks

    def register(
        self, moment: str, hook: Hook, prepend: bool = False, called: Hook | None = None
    ) -> RemovableHandle:
        """Add a hook after the others of a moment, or before them.

        Args:
            moment: one of `moments`.
            hook: the hook.
            prepend: whether it comes first.
            called: what is called instead, and calls the hook.

        Raises:
            TypeError: the hook cannot be called.
        """
        if not callable(hook):
            raise TypeError(f"a hook is a function; got {hook!r}.")
        hooks = self._hooks[moment]
        earlier = dict(hooks) if prepend else {}
        handle = RemovableHandle(hooks, called or hook)
        for number in earlier:
            hooks[number] = hooks.pop(number)
        return handle

    def at(self, moment: str) -> tuple[Hook, ...]:
        """Return the hooks of a moment: those that are registered meanwhile are not called."""
        return tuple(self._hooks[moment].values())
