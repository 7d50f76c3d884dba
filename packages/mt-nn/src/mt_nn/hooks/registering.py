"""`Hooks`: the hooks of an object, by the moment at which they are called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Self

from mt_tensor.extending import RemovableHandle

Hook = Callable[..., Any]


class Hooks:
    """Base class of the hooks of one object; subclasses define when and how they are called."""

    def __init__(self) -> None:
        self._hooks: dict[str, dict[int, Hook]] = defaultdict(dict)

    @classmethod
    def of(cls, owner: Any) -> Self:
        """Return the hooks of an object; create an empty collection at the first call."""
        if owner._hooks is None:
            vars(owner)["_hooks"] = cls()
        hooks: Self = owner._hooks
        return hooks

    def register(
        self, moment: str, hook: Hook, prepend: bool = False, called: Hook | None = None
    ) -> RemovableHandle:
        """Add a hook after the other hooks of a moment, or before them.

        Args:
            moment: when to call it.
            hook: the hook.
            prepend: whether to add it before the others.
            called: a function that calls the hook, to register instead of the hook.

        Raises:
            TypeError: the hook is not callable.
        """
        if not callable(hook):
            raise TypeError(f"a hook must be a function; got {hook!r}.")
        hooks = self._hooks[moment]
        earlier = dict(hooks) if prepend else {}
        handle = RemovableHandle(hooks, called or hook)
        for number in earlier:
            hooks[number] = hooks.pop(number)
        return handle

    def remove(self, moment: str, hook: Hook) -> None:
        """Remove a function, the argument `called` of `register` or else `hook`, if registered."""
        hooks = self._hooks[moment]
        for number in [number for number, each in hooks.items() if each is hook]:
            del hooks[number]

    def at(self, moment: str) -> tuple[Hook, ...]:
        """Return a copy of the hooks of a moment, since hooks may register others."""
        return tuple(self._hooks[moment].values())
