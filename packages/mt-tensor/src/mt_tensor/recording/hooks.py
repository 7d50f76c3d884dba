"""Gradient hooks, and retained gradients of tensors that are not leaves.

The hooks of a leaf or a node are in its attribute `_hooks`, which backpropagation calls with each
gradient.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any, Self

from mt_autodiff import NoGradientError
from mt_tensor.core.graph import Node
from mt_tensor.core.tensor import Tensor
from mt_tensor.recording.functions import checked_gradient

Hook = Callable[[Any], Any]
"""A function called with a complete gradient; it may return a replacement."""


class Hooks:
    """The hooks of a variable, a leaf or a node.

    Attributes:
        gradient_hooks: by number, functions to call with the complete gradient.
        post_accumulate_hooks: by number, functions to call with a leaf after each update of `grad`.
        lock: the lock for updating `grad` and calling these functions.
        retained: for a node, the tensor that retains its gradient in `grad`, or None.
    """

    __slots__ = ("gradient_hooks", "lock", "post_accumulate_hooks", "retained")

    def __init__(self) -> None:
        self.gradient_hooks: dict[int, Hook] = {}
        self.post_accumulate_hooks: dict[int, Callable[[Any], None]] = {}
        self.lock = threading.RLock()
        self.retained: weakref.ReferenceType[Tensor] | None = None

    @staticmethod
    def of(variable: Any) -> Hooks:
        """Return the hooks of a variable, creating them if there are none."""
        with _creating:
            if variable._hooks is None:
                variable._hooks = Hooks()
            found: Hooks = variable._hooks
            return found

    def apply(self, variable: Any, gradient: Any) -> Any:
        """Call the hooks in the order of registration; each may replace the gradient."""
        for hook in tuple(self.gradient_hooks.values()):
            replaced = hook(gradient)
            if replaced is not None:
                gradient = checked_gradient(replaced, variable)
        if self.gradient_hooks:
            gradient._owned = False  # a hook may refer to it
        return gradient

    def accumulate(self, variable: Any, gradient: Any) -> None:
        """Add to `grad`, and call the post-accumulate hooks, while holding the lock."""
        if isinstance(variable, Node):
            tensor = None if self.retained is None else self.retained()
        else:
            tensor = variable
        if tensor is not None:
            with self.lock:
                tensor.add_to_grad(gradient)
                for hook in tuple(self.post_accumulate_hooks.values()):
                    hook(tensor)

    def retains(self, tensor: Tensor) -> bool:
        """Return whether this tensor retains its gradient."""
        return self.retained is not None and self.retained() is tensor

    def transfer(self, tensor: Tensor, node: Node | None) -> None:
        """Transfer `retain_grad` to the new node of a tensor."""
        if self.retains(tensor):
            if node is not None:
                Hooks.of(node).retained = self.retained
            self.retained = None


_creating = threading.Lock()
_numbers = itertools.count()


class RemovableHandle:
    """A handle of a registered hook, which `remove()` removes.

    Used in a `with` statement, it removes the hook at the end of the block.
    """

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        """Add a hook."""
        self._hooks = hooks
        self._number = next(_numbers)
        hooks[self._number] = hook

    def remove(self) -> None:
        """Remove the hook, if it has not been removed."""
        self._hooks.pop(self._number, None)

    def __enter__(self) -> Self:
        """Return the handle."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the hook."""
        self.remove()


def register_hook(self: Tensor, hook: Hook) -> RemovableHandle:
    """Register a hook that is called with this tensor's gradient whenever it is computed.

    The hook may return a tensor of the same shape to replace the gradient, or None to keep it.
    Hooks are called in the order of registration. A hook must not change its argument in place,
    since it may be shared.

    Args:
        self: the tensor.
        hook: a function of the gradient.

    Returns:
        A handle, whose `remove()` removes the hook.

    Raises:
        NoGradientError: the tensor does not require grad.
        TypeError: `hook` is not callable.
    """
    if not self.requires_grad:
        raise NoGradientError(
            "register_hook() needs a tensor that requires grad, or the hook would never be called: "
            "call requires_grad_() first."
        )
    _check_callable(hook)
    return RemovableHandle(Hooks.of(self.variable).gradient_hooks, hook)


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Any], None]
) -> RemovableHandle:
    """Register a hook that is called with this leaf whenever its `grad` has been updated.

    Raises:
        NoGradientError: the tensor does not require grad, or is not a leaf.
        TypeError: `hook` is not callable.
    """
    if not self.requires_grad or not self.is_leaf:
        raise NoGradientError(
            "register_post_accumulate_grad_hook() needs a leaf that requires grad: call "
            "requires_grad_() on a leaf first, or use register_hook() on a computed tensor."
        )
    _check_callable(hook)
    return RemovableHandle(Hooks.of(self).post_accumulate_hooks, hook)


def retain_grad(self: Tensor) -> None:
    """Store the gradient of this tensor in `grad`, although it is not a leaf.

    Raises:
        NoGradientError: the tensor does not require grad.
    """
    if not self.requires_grad:
        raise NoGradientError(
            "retain_grad() needs a tensor that requires grad: call requires_grad_() first."
        )
    node = self.history
    if node is not None:
        Hooks.of(node).retained = weakref.ref(self)


def grad_fn(self: Tensor) -> Node | None:
    """The node of the tensor in the computation graph; None for a leaf."""
    return self.history


def retains_grad(self: Tensor) -> bool:
    """Whether this tensor is not a leaf and retains its gradient."""
    node = self.history
    return node is not None and node._hooks is not None and node._hooks.retains(self)


def _check_callable(hook: Any) -> None:
    if not callable(hook):
        raise TypeError(f"a hook must be callable; {hook!r} was given.")
