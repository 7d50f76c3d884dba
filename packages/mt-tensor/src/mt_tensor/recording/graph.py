"""The recorded graph of tensors: nodes, and the edges that gradients flow along.

From backends to differentiation: stage 1's `History` and `backpropagate` serve tensors as they are,
and here is what the history of a tensor adds. Edges lead to nodes, not to tensors: a computed
tensor is represented by its `Node`, and only a leaf by itself. So a result that no gradient reads
is freed as soon as nobody uses it, and a tensor that is changed in place gets another node, while
all that was computed from its old elements keeps the old one. Tensors follow in `tensor.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff import GradientError, History
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType
from mt_tensor.strides import Shape


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
    """

    __slots__ = ("_watch", "backend", "dtype", "shape")

    _watch: Any  # who asked to see its gradient, None if nobody did: see library/recording/hooks
    backend: TensorBackend
    dtype: DType
    shape: Shape

    parents = History.inputs  # type: ignore[misc]
    """What the tensor was computed from: the slot itself under stage 1's name, and so no call."""

    def is_constant(self) -> bool:
        """Whether no gradient is wanted: one always is."""
        return False

    def completed(self, derivative: Any) -> Any:
        """Return the gradient, or what hooks make of it; it will be read, and may be passed on.

        It may come as a `Part` (library/recording/part.py): the gradient of a view, which is not a
        tensor of the whole yet.
        """
        if derivative._fresh is None:  # a Part
            derivative = derivative._whole()
        if self._watch is not None:
            derivative = self._watch.completed(self, derivative)
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
        """Keep nothing, unless `grad` of the tensor is wanted though it is no leaf."""
        if self._watch is not None:
            self._watch.accumulate(self, derivative)

    free_graph = History.free
    """Forget operation, saved values and inputs."""

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
    node._watch = None
    tensor._node = node
    tensor._requires_grad = True


def fitting(gradient: Any, variable: Any, name: str | None = None) -> Any:
    """Return a gradient as one of `variable`, converted to its element type.

    Args:
        gradient: what was returned.
        variable: a Node, or a leaf.
        name: the operation whose backward returned it; None for a hook.

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
    # `to` is the library's (library/exchange/conversion.py).
    return gradient if data.dtype is variable.dtype else gradient.to(variable.dtype)


def _origin(name: str | None) -> str:
    return "a hook" if name is None else f"the backward of {name!r}"
