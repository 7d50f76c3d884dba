"""Hooks of optimizers: functions that are called around steps, and around saving and loading.

They are to an optimizer what those of `Module` are to a module. `Optimizer`, in the next file,
calls them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mt_nn.core.module import registered
from mt_tensor.extending import RemovableHandle

Hook = Callable[..., Any]

_MOMENTS = ("step_before", "step_after", "saving", "saved", "loading", "loaded")


def with_step_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method `step` that calls the hooks, unless a subclass does so around it."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, after = self._hooks["step_before"], self._hooks["step_after"]
        if not (before or after) or type(self).step is not hooked:
            return step(self, *args, **kwargs)
        arguments: tuple[Any, ...] = (self, *args)
        for hook in tuple(before.values()):
            changed = hook(self, arguments, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise TypeError(
                    "a hook before a step returns None or a tuple of arguments and keyword "
                    f"arguments; {changed!r} was returned."
                )
            arguments, kwargs = changed
        loss = step(*arguments, **kwargs)
        for hook in tuple(after.values()):
            hook(self, arguments, kwargs)
        return loss

    return hooked


class OptimizerHooks:
    """The hooks of an optimizer. They are no part of its state, nor of copies of it."""

    _hooks: dict[str, dict[int, Hook]]

    def __init__(self) -> None:
        """Start without hooks."""
        self._hooks = {moment: {} for moment in _MOMENTS}

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the steps of a subclass that has its own call the hooks, too."""
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = with_step_hooks(cls.step)  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes but the hooks, for copies."""
        return {name: value for name, value in vars(self).items() if name != "_hooks"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take attributes."""
        OptimizerHooks.__init__(self)
        vars(self).update(state)

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call a function before each step.

        Args:
            hook: called with the optimizer, the tuple of the arguments of `step`, of which the
                first is the optimizer, too, and the dictionary of its keyword arguments. It returns
                None, or a tuple of both that `step` is given instead.

        Returns:
            A handle, whose `remove()` takes the hook away.

        Raises:
            TypeError: `hook` cannot be called; or by `step`, it does not return what it must.
        """
        return self._registered("step_before", hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call a function after each step, as those before it; what it returns does not count."""
        return self._registered("step_after", hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call a function with the optimizer before `state_dict` looks at it.

        Args:
            hook: what it returns does not count.
            prepend: whether it comes before the hooks that are there already, not after them.

        Returns:
            A handle, whose `remove()` takes the hook away.

        Raises:
            TypeError: `hook` cannot be called.
        """
        return self._registered("saving", hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call a function with the optimizer and what `state_dict` made; it may return another.

        See `register_state_dict_pre_hook` for the rest.
        """
        return self._registered("saved", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call a function with the optimizer and a state to load; it may return another.

        See `register_state_dict_pre_hook` for the rest.
        """
        return self._registered("loading", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call a function with the optimizer after it has loaded a state.

        See `register_state_dict_pre_hook` for the rest.
        """
        return self._registered("loaded", hook, prepend)

    def _registered(self, moment: str, hook: Hook, prepend: bool = False) -> RemovableHandle:
        if not callable(hook):
            raise TypeError(
                f"a hook is a function that is called with the optimizer; got {hook!r}."
            )
        return registered(self._hooks[moment], hook, prepend)

    def _call_hooks(self, moment: str) -> None:
        for hook in tuple(self._hooks[moment].values()):
            hook(self)

    def _changed_by_hooks(self, moment: str, state: Any) -> Any:
        for hook in tuple(self._hooks[moment].values()):
            changed = hook(self, state)
            state = state if changed is None else changed
        return state
