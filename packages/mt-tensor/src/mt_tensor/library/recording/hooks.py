"""Watching gradients on their way: hooks, and gradients of tensors that are no leaves."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from mt_autodiff import NoGradientError
from mt_tensor.public import attribute, method
from mt_tensor.recording.graph import Hook, RemovableHandle
from mt_tensor.tensor import Tensor

_registering = threading.Lock()


@method
def register_hook(self: Tensor, hook: Hook) -> RemovableHandle:
    """Call a function with this tensor's gradient, each time that it is complete.

    What the hook returns, a tensor of the same shape, goes on in the gradient's place; None
    leaves it as it is. Several hooks are called in the order in which they were registered. A
    hook must not change its argument in place: others may share it.

    Args:
        self: the tensor.
        hook: a function of the gradient.

    Returns:
        A handle, whose `remove()` takes the hook away.

    Raises:
        NoGradientError: the tensor does not require grad, so that it would never be called.
        TypeError: `hook` cannot be called.
    """
    if not self.requires_grad:
        raise NoGradientError(
            "a hook on a tensor that does not require grad would never be called: call "
            "requires_grad_() first."
        )
    _check_callable(hook)
    node = self.history
    if node is None:
        return _registered(self, "_hooks", hook)
    return _registered(node, "hooks", hook)


@method
def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Any], None]
) -> RemovableHandle:
    """Call a function with this leaf, each time that a gradient has been added to its `grad`.

    Raises:
        NoGradientError: the tensor does not require grad, or is no leaf.
        TypeError: `hook` cannot be called.
    """
    if not self.requires_grad or not self.is_leaf:
        raise NoGradientError(
            "only leaves that require grad accumulate gradients; on others, register_hook() "
            "sees the gradient pass."
        )
    _check_callable(hook)
    return _registered(self, "_after_accumulation", hook)


@method
def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this tensor in `grad`, though it is no leaf.

    Raises:
        NoGradientError: the tensor does not require grad.
    """
    if not self.requires_grad:
        raise NoGradientError("a tensor that does not require grad gets no gradient to retain.")
    node = self.history
    if node is not None:
        node.retained = weakref.ref(self)


@attribute
def retains_grad(self: Tensor) -> bool:
    """Whether `grad` of this tensor, which is no leaf, is kept."""
    node = self.history
    return node is not None and node.retained is not None and node.retained() is self


def _registered(place: Any, name: str, hook: Callable[..., Any]) -> RemovableHandle:
    """Enter a hook after the others that an attribute holds, or as the first of them."""
    with _registering:
        if getattr(place, name) is None:
            setattr(place, name, {})
    return RemovableHandle(getattr(place, name), hook)


def _check_callable(hook: Any) -> None:
    if not callable(hook):
        raise TypeError(f"a hook is a function of the gradient; {hook!r} was given.")
