"""Hooks around saving and loading the state dictionaries of modules.

- `register_state_dict_pre_hook(hook)`: `hook(module, prefix, keep_vars)`, before the state of the
  module is read.
- `register_state_dict_post_hook(hook)`: `hook(module, state, prefix, metadata)`, when the state of
  the module and its submodules is in `state`, which it may change.
- `register_load_state_dict_pre_hook(hook)`: `hook(module, state, prefix, metadata, strict, missing,
  unexpected, errors)`, before the state of the module is read from `state`, a copy that it may
  change. It may add names to the lists, and messages to `errors`.
- `register_load_state_dict_post_hook(hook)`: `hook(module, keys)`, when all values are loaded. It
  may change the lists `keys.missing_keys` and `keys.unexpected_keys`, and with `strict=True`, names
  in them are an error afterwards.

The hooks of a module are called before those of its submodules, or after them if they are post
hooks. Every method returns a handle, whose `remove()` unregisters the hook. The state is loaded
completely or, if there is an error before the post hooks, not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mt_operators
from mt_autodiff.core.registration import register_methods
from mt_nn.core.extensions import extends, extension
from mt_nn.core.module import Module
from mt_nn.hooks.modules import ModuleHooks
from mt_nn.hooks.registering import Hook
from mt_operators import IncompatibleKeys, StateDictError
from mt_tensor.extending import RemovableHandle


class StateHookMethods:
    """The methods that `register_methods` adds to `Module`."""

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, prefix, keep_vars)`, called before the module is saved."""
        return ModuleHooks.of(self).register("saving", hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, state, prefix, metadata)`, called after the module is saved."""
        called = _without_result("register_state_dict_post_hook", hook)
        return ModuleHooks.of(self).register("saved", hook, called=called)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """Register a hook after saving that may also return another state dictionary."""
        return ModuleHooks.of(self).register("saved", hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, state, prefix, ...)`, called before the module is loaded."""
        return ModuleHooks.of(self).register("loading", hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        """Register a hook before loading, which gets the module only if `with_module`."""
        called = hook if with_module else lambda _, *arguments: hook(*arguments)
        return ModuleHooks.of(self).register("loading", hook, called=called)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, keys)`, called after the module and its submodules are loaded."""
        called = _without_result("register_load_state_dict_post_hook", hook)
        return ModuleHooks.of(self).register("loaded", hook, called=called)


register_methods(Module, StateHookMethods)


def _without_result(method: str, hook: Hook) -> Callable[..., None]:
    """Return a function that calls a hook, and raises TypeError unless it returns None."""

    def called(*arguments: Any) -> None:
        result = hook(*arguments)
        if result is not None:
            raise TypeError(
                f"a hook of {method}() must return None and change its arguments instead; "
                f"{result!r} was returned."
            )

    return called


# --- Saving ---------------------------------------------------------------------------------------


@extends("saving with hooks")
def state_dict(
    module: Module,
    prefix: str = "",
    *,
    destination: dict[str, Any] | None = None,
    keep_vars: bool = False,
) -> dict[str, Any]:
    """Return the values of parameters and persistent buffers by name, and call the hooks.

    Args:
        module: the module.
        prefix: the start of all names.
        destination: a dictionary to which the values are added; a new one by default.
        keep_vars: whether to return the parameters themselves, instead of detached tensors.
    """
    state = {} if destination is None else destination
    for hook in _hooks(module, "saving"):
        hook(module, prefix, keep_vars)
    for name, member in module._saved_members().items():
        is_member = isinstance(member, mt_operators.Parameter | mt_operators.Buffer)
        state[prefix + name] = member.value if keep_vars and is_member else member.state()
    for name, child in module._modules.items():
        state_dict(child, f"{prefix}{name}.", destination=state, keep_vars=keep_vars)  # type: ignore[arg-type]
    for hook in _hooks(module, "saved"):
        changed = hook(module, state, prefix, {"version": getattr(module, "_version", 1)})
        state = state if changed is None else changed
    return state


# --- Loading --------------------------------------------------------------------------------------


@extends("loading with hooks")
def load_state_dict(
    module: Module, state_dict: Any, strict: bool, assign: bool
) -> IncompatibleKeys:
    """Load a state dictionary, and call the hooks; see `Module.load_state_dict`."""
    if not isinstance(state_dict, Mapping) or not all(isinstance(name, str) for name in state_dict):
        return mt_operators.Module.load_state_dict(module, state_dict, strict)  # raises an error
    state, keys = dict(state_dict), IncompatibleKeys([], [])
    errors: list[str] = []
    versions = getattr(state_dict, "_metadata", None) or {}
    _call_before_loading(module, state, "", versions, assign, (*keys, errors))
    members = dict(module._saved_holders())
    keys.missing_keys.extend(name for name in members if name not in state)
    keys.unexpected_keys.extend(name for name in state if name not in members)
    if errors or not any(_hooks(each, "loaded") for each in module.modules()):
        _check(module, keys if strict else (), errors)
    mt_operators.Module.load_state_dict(module, state, strict=False)
    if assign:
        extension("assignment of a state dictionary")(module, state)
    _call_after_loading(module, keys)
    _check(module, keys if strict else ())
    return keys


def _call_before_loading(
    module: Any,
    state: dict[str, Any],
    prefix: str,
    versions: Mapping[str, Any],
    assign: bool,
    lists: tuple[list[str], ...],
) -> None:
    """Call the hooks before loading, each with the part of the state of its module."""
    metadata = dict(versions.get(prefix[:-1], {}))
    if assign:
        metadata["assign_to_params_buffers"] = True
    for hook in _hooks(module, "loading"):
        hook(module, state, prefix, metadata, True, *lists)
    for name, child in module._modules.items():
        start = f"{prefix}{name}."
        part = {name: state.pop(name) for name in [*state] if name.startswith(start)}
        _call_before_loading(child, part, start, versions, assign, lists)
        state.update(part)


def _call_after_loading(module: Any, keys: IncompatibleKeys) -> None:
    for child in module._modules.values():
        _call_after_loading(child, keys)
    for hook in _hooks(module, "loaded"):
        hook(module, keys)


def _hooks(module: Any, moment: str) -> tuple[Hook, ...]:
    """Return the hooks of a module at a moment."""
    return () if module._hooks is None else module._hooks.at(moment)


def _check(module: Module, keys: IncompatibleKeys | tuple[()], errors: Sequence[str] = ()) -> None:
    """Raise StateDictError if names are missing or unexpected, or hooks report errors."""
    kinds = zip(("missing", "unexpected"), keys, strict=False)
    problems = [*errors, *(f"{kind}: {', '.join(names)}" for kind, names in kinds if names)]
    if problems:
        raise StateDictError(
            f"the state dictionary does not fit {type(module).__name__} ({'; '.join(problems)}). "
            "Load it into the architecture it was saved from, or pass strict=False to ignore names "
            "that do not fit."
        )
