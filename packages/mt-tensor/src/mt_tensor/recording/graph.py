"""The recorded graph of tensors: nodes, and the edges that gradients flow along.

Edges lead to nodes, not to tensors: what stands for a computed tensor is its `Node`, and only a
leaf stands for itself. So a result that no gradient reads is freed as soon as nobody uses it, and a
tensor that is changed in place moves on to another node, while all that was computed from its old
elements keeps the old one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Self
from weakref import ReferenceType

from mt_autodiff import GradientError, History
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType
from mt_tensor.recording.part import Part
from mt_tensor.strides import Shape

Hook = Callable[[Any], Any]
"""What is called with a gradient once it is complete; it may return another in its place."""


class Node(History):
    """The history of a computed tensor, which stands for it in the graph (a stage 1 `Variable`).

    Attributes:
        last_fn: the operation; None once the graph has been freed.
        ctx: what the operation saved for its backward.
        inputs: what stands for each argument that wants a gradient: a Node, or a leaf.
        name: the operation's name, for messages and pictures.
        shape: that of the tensor, and so of its gradient.
        dtype: the tensor's element type.
        backend: where the tensor lives.
        hooks: what to call with the gradient once it is complete, by number; or None.
        retained: the tensor, if its gradient is to be kept in `grad`; or None.
    """

    __slots__ = ("backend", "dtype", "hooks", "retained", "shape")

    backend: TensorBackend
    dtype: DType
    hooks: dict[int, Hook] | None
    retained: ReferenceType[Any] | None
    shape: Shape

    parents = History.inputs  # type: ignore[misc]
    """What the tensor was computed from: the slot itself under stage 1's name, and so no call."""

    def is_constant(self) -> bool:
        """Whether no gradient is wanted: one always is."""
        return False

    def completed(self, derivative: Any) -> Any:
        """Return the gradient, or what hooks make of it; it will be read, and may be passed on."""
        if derivative.__class__ is Part:
            derivative = derivative.whole()
        if self.hooks is not None:
            derivative = run_hooks(self.hooks, self, derivative)
        derivative._fresh = False
        return derivative

    def chain_rule(self, derivative: Any) -> list[tuple[Any, Any]]:
        """Return each parent that wants a gradient, with its share.

        Raises:
            GraphFreedError: the graph was freed by an earlier backward.
            GradientError: what the operation's backward returned does not fit its inputs.
        """
        inputs, needs = self.inputs, self.ctx.needs_input_grad
        shares = self.shares(derivative)
        if False in needs:
            shares = tuple([share for share, needed in zip(shares, needs, strict=True) if needed])
        return [
            (parent, fitting(share, parent, self.name))
            for parent, share in zip(inputs, shares, strict=True)
            if share is not None
        ]

    def accumulate_derivative(self, derivative: Any) -> None:
        """Add to `grad` of the tensor, if that was asked for."""
        if self.retained is not None:
            tensor = self.retained()
            if tensor is not None:
                tensor.add_to_grad(derivative)

    def free_graph(self) -> None:
        """Forget operation, saved values and inputs."""
        self.free()

    def __repr__(self) -> str:
        """Show the operation's name."""
        return f"<{self.name}>"


def connect(tensor: Any, node: Node, inputs: Sequence[Any]) -> None:
    """Enter a result into the graph.

    Args:
        tensor: the result, floating-point and not in the graph yet.
        node: its new node, of which the rest (`last_fn`, `ctx`, `name`) has been filled in.
        inputs: what stands for each argument that wants a gradient (`tensor.variable`).
    """
    layout = tensor._tensor.layout
    node.inputs = inputs
    node.shape = layout.shape
    node.dtype = layout.dtype
    node.backend = tensor.backend
    node.hooks = node.retained = None
    tensor._node = node
    tensor._requires_grad = True


def fitting(gradient: Any, variable: Any, name: str | None = None) -> Any:
    """Return a gradient as one of `variable`, converted to its element type.

    Args:
        gradient: what was returned.
        variable: a Node, or a leaf.
        name: the operation whose backward returned it, or None for a hook.

    Raises:
        GradientError: it is no tensor, or has another shape or backend than the variable.
    """
    data = getattr(gradient, "_tensor", None)
    if data is None or gradient.backend is not variable.backend:
        raise GradientError(
            f"{_origin(name)} returned {gradient!r} as a gradient; it must be a tensor of backend "
            f"{variable.backend.name!r}, like the tensor that it belongs to."
        )
    if data.shape != variable.shape:
        raise GradientError(
            f"{_origin(name)} returned a gradient of shape {data.shape} for a tensor of shape "
            f"{variable.shape}; it must have the shape of the tensor."
        )
    return gradient if data.dtype is variable.dtype else gradient.to(variable.dtype)


def _origin(name: str | None) -> str:
    return "a hook" if name is None else f"the backward of {name!r}"


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


def run_hooks(hooks: dict[int, Hook], variable: Any, gradient: Any) -> Any:
    """Call hooks in the order in which they were registered; each may replace the gradient."""
    for hook in tuple(hooks.values()):
        replaced = hook(gradient)
        if replaced is not None:
            gradient = fitting(replaced, variable)
    gradient._fresh = False  # a hook may have kept it
    return gradient
