"""Watching gradients on their way: hooks, and gradients of tensors that are no leaves.

What has been asked of a leaf or of a node is in its `_watch`, which backpropagation tells of each
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
from mt_tensor.recording.functions import fitting

Hook = Callable[[Any], Any]
"""What is called with a gradient once it is complete; it may return another in its place."""


class Watch:
    """Who asked to see the gradient of a variable, a leaf or a node.

    Attributes:
        hooks: what to call with the gradient once it is complete, by number.
        after: what to call with a leaf once the gradient has been added to its `grad`, by number.
        accumulating: held by a thread that adds to `grad` and calls these.
        retained: of a node the tensor, if its gradient is to be kept in `grad`; or None.
    """

    __slots__ = ("accumulating", "after", "hooks", "retained")

    def __init__(self) -> None:
        self.hooks: dict[int, Hook] = {}
        self.after: dict[int, Callable[[Any], None]] = {}
        self.accumulating = threading.RLock()
        self.retained: weakref.ReferenceType[Tensor] | None = None

    @staticmethod
    def of(variable: Any) -> Watch:
        """Return that of a variable, made if there is none."""
        with _making:
            if variable._watch is None:
                variable._watch = Watch()
            watch: Watch = variable._watch
            return watch

    def completed(self, variable: Any, gradient: Any) -> Any:
        """Call the hooks in the order in which they came; each may replace the gradient."""
        for hook in tuple(self.hooks.values()):
            replaced = hook(gradient)
            if replaced is not None:
                gradient = fitting(replaced, variable)
        if self.hooks:
            gradient._fresh = False  # a hook may have kept it
        return gradient

    def accumulate(self, variable: Any, gradient: Any) -> None:
        """Add to `grad`, and tell those who wait for it before another thread adds to it, too."""
        if isinstance(variable, Node):
            tensor = None if self.retained is None else self.retained()
        else:
            tensor = variable
        if tensor is not None:
            with self.accumulating:
                tensor.add_to_grad(gradient)
                for hook in tuple(self.after.values()):
                    hook(tensor)

    def retains(self, tensor: Tensor) -> bool:
        """Whether the gradient is kept in `grad` of this tensor."""
        return self.retained is not None and self.retained() is tensor

    def moved(self, tensor: Tensor, node: Node | None) -> None:
        """Keep the gradient of a tensor that another node represents from now on."""
        if self.retains(tensor):
            if node is not None:
                Watch.of(node).retained = self.retained
            self.retained = None


_making = threading.Lock()
_numbers = itertools.count()


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook away again.

    In a `with` block the hook is there only for that block.
    """

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        """Add a hook to others."""
        self._hooks = hooks
        self._number = next(_numbers)
        hooks[self._number] = hook

    def remove(self) -> None:
        """Take the hook away; nothing happens if it has gone already."""
        self._hooks.pop(self._number, None)

    def __enter__(self) -> Self:
        """Leave the hook where it is."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the hook away."""
        self.remove()


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
    return RemovableHandle(Watch.of(self.variable).hooks, hook)


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
    return RemovableHandle(Watch.of(self).after, hook)


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this tensor in `grad`, though it is no leaf.

    Raises:
        NoGradientError: the tensor does not require grad.
    """
    if not self.requires_grad:
        raise NoGradientError("a tensor that does not require grad gets no gradient to retain.")
    node = self.history
    if node is not None:
        Watch.of(node).retained = weakref.ref(self)


def grad_fn(self: Tensor) -> Node | None:
    """The node of the tensor in the recorded graph; None for a leaf."""
    return self.history


def retains_grad(self: Tensor) -> bool:
    """Whether `grad` of this tensor, which is no leaf, is kept."""
    node = self.history
    return node is not None and node._watch is not None and node._watch.retains(self)


def _check_callable(hook: Any) -> None:
    if not callable(hook):
        raise TypeError(f"a hook is a function of the gradient; {hook!r} was given.")
