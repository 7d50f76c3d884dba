"""Hooks of optimizers: functions that are called around steps, and around saving and loading.

- `register_step_pre_hook(hook)`: `hook(optimizer, args, kwargs)`, with the optimizer as the first
  of `args`, returns None, or a tuple of new arguments and keyword arguments of `step`.
- `register_step_post_hook(hook)`: `hook(optimizer, args, kwargs)`; the result is ignored.
- `register_state_dict_pre_hook(hook)`: `hook(optimizer)`, before `state_dict` reads the state.
- `register_state_dict_post_hook(hook)`: `hook(optimizer, state)` returns None, or a new state.
- `register_load_state_dict_pre_hook(hook)`: `hook(optimizer, state)` returns None, or a new state.
- `register_load_state_dict_post_hook(hook)`: `hook(optimizer)`, after loading.

With `prepend=True` a hook is called before those registered earlier. Every method returns a handle,
whose `remove()` unregisters the hook. Copies of an optimizer have no hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff.core.registration import register_methods
from mt_nn.core.optimizer import Optimizer
from mt_nn.hooks.registering import Hook, Hooks
from mt_tensor.extending import RemovableHandle


class OptimizerHooks(Hooks):
    """The hooks of one optimizer."""

    def run(
        self,
        step: Callable[..., Any],
        optimizer: Optimizer,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call `step`, and the hooks around it."""
        arguments: tuple[Any, ...] = (optimizer, *args)
        for hook in self.at("before step"):
            changed = hook(optimizer, arguments, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise TypeError(
                    "a step pre-hook must return None or a tuple of arguments and keyword "
                    f"arguments; {changed!r} was returned."
                )
            arguments, kwargs = changed
        loss = step(*arguments, **kwargs)
        for hook in self.at("after step"):
            hook(optimizer, arguments, kwargs)
        return loss

    def call(self, moment: str, optimizer: Optimizer) -> None:
        """Call the hooks of a moment with the optimizer."""
        for hook in self.at(moment):
            hook(optimizer)

    def changed(self, moment: str, optimizer: Optimizer, state: Any) -> Any:
        """Return a state, as replaced by the hooks of a moment."""
        for hook in self.at(moment):
            changed = hook(optimizer, state)
            state = state if changed is None else changed
        return state


class Methods:
    """The methods that `register_methods` adds; for type checkers, a base class of `Optimizer`."""

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, called before each step.

        The hook may return new arguments.
        """
        return OptimizerHooks.of(self).register("before step", hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, called after each step."""
        return OptimizerHooks.of(self).register("after step", hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer)`, called before `state_dict`."""
        return OptimizerHooks.of(self).register("saving", hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer, state)`, called after `state_dict`.

        The hook may return a new state.
        """
        return OptimizerHooks.of(self).register("saved", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state)`, called before a state is loaded.

        The hook may return a new one.
        """
        return OptimizerHooks.of(self).register("loading", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer)`, called after a state has been loaded."""
        return OptimizerHooks.of(self).register("loaded", hook, prepend)

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except for the hooks, which are not copied."""
        return {name: value for name, value in vars(self).items() if name != "_hooks"}


register_methods(Optimizer, Methods)
