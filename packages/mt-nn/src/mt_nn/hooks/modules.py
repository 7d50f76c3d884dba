"""Hooks of modules: functions that get, and may replace, inputs, outputs and their gradients.

    handle = layer.register_forward_hook(lambda module, args, output: print(output.shape))
    handle.remove()

- `register_forward_pre_hook(hook)`: `hook(module, args)` returns None, or new arguments of
  `forward`: a tuple, or a single one.
- `register_forward_hook(hook)`: `hook(module, args, output)` returns None, or a new output.
- `register_full_backward_pre_hook(hook)`: `hook(module, grad_outputs)` returns None, or new
  gradients of the outputs: a tuple of the same length, or a single one.
- `register_full_backward_hook(hook)`: `hook(module, grad_inputs, grad_outputs)` is called once in
  `backward()` for each call of the module, with None for each argument that is not a tensor or
  requires no gradient. It returns None, or new gradients of the inputs.

Backward hooks need outputs that are a tensor, or a tuple or list of tensors; others are a warning.

With `prepend=True` a hook is called before those registered earlier. With `with_kwargs=True` a
forward hook gets the dictionary of keyword arguments after the tuple of positional ones, and a
pre-hook returns both. Every method returns a handle, whose `remove()` unregisters the hook.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff.core.registration import register_methods
from mt_nn.core.module import Module
from mt_nn.hooks.backward import BackwardPass
from mt_nn.hooks.registering import Hook, Hooks
from mt_tensor import is_grad_enabled
from mt_tensor.extending import RemovableHandle


class ModuleHooks(Hooks):
    """The hooks of one module."""

    def run(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run `forward`, and the hooks around it."""
        for hook in self.at("before forward"):
            args, kwargs = hook(module, args, kwargs)
        backward = None
        before, after = self._hooks["before backward"], self._hooks["after backward"]
        if is_grad_enabled() and (before or after):
            backward = BackwardPass(module, before, after)
            args = backward.hook_inputs(args)
        output = module.forward(*args, **kwargs)
        for hook in self.at("after forward"):
            changed = hook(module, args, kwargs, output)
            output = output if changed is None else changed
        return output if backward is None else backward.hook_output(output)


def _before_forward(hook: Callable[..., Any], with_kwargs: bool) -> Callable[..., Any]:
    def before(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        changed = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if changed is None:
            return args, kwargs
        if not with_kwargs:
            return (changed if isinstance(changed, tuple) else (changed,)), kwargs
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise TypeError(
                "a forward pre-hook with with_kwargs=True must return None or a tuple of arguments "
                f"and keyword arguments; {changed!r} was returned."
            )
        return changed

    return before


def _after_forward(hook: Callable[..., Any], with_kwargs: bool) -> Callable[..., Any]:
    def after(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        inputs = (args, kwargs) if with_kwargs else (args,)
        return hook(module, *inputs, output)

    return after


class HookMethods:
    """The methods that `register_methods` adds to `Module`."""

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Register `hook(module, args)`, called before each `forward`.

        The hook may return new arguments.
        """
        called = _before_forward(hook, with_kwargs)
        return ModuleHooks.of(self).register("before forward", hook, prepend, called)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Register `hook(module, args, output)`, called after each `forward`.

        The hook may return a new output.
        """
        called = _after_forward(hook, with_kwargs)
        return ModuleHooks.of(self).register("after forward", hook, prepend, called)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(module, grad_outputs)`, called before the module's backward pass."""
        return ModuleHooks.of(self).register("before backward", hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(module, grad_inputs, grad_outputs)`, called after the backward pass."""
        return ModuleHooks.of(self).register("after backward", hook, prepend)

    register_backward_hook = register_full_backward_hook


register_methods(Module, HookMethods)
