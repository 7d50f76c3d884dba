"""The computation graph of tensors: nodes, and the edges that gradients flow along.

Tensors use stage 1's `backpropagate` unchanged; `Node` extends its `History`. Edges lead to nodes,
not to tensors: a computed tensor is represented by its `Node`, and only a leaf by itself. So the
elements of a result are freed as soon as neither the program nor a gradient needs them, and a
tensor that is changed in place gets a new node, while results computed from its old elements keep
the old one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, Protocol

from mt_autodiff import History
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import DType
from mt_tensor.core.errors import InPlaceError
from mt_tensor.core.extensions import ACTIVE_TAPES, EXTENSIONS
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor_data import TensorData

_new = object.__new__


class Rule(Protocol):
    """The gradient rule of an operation: its vector-Jacobian product (VJP)."""

    def vjp(
        self, node: Any, inputs: Any, ctx: Any, grad: Any, needed: Container[Any] | None
    ) -> Sequence[Any]:
        """Return the gradient of each input, in order; None for an input without gradient.

        Args:
            node: the node of the result.
            inputs: `node.inputs`, the arguments that require grad.
            ctx: `node.ctx`, the values saved in the forward pass.
            grad: the gradient of the result.
            needed: the inputs whose gradients are needed; None for all. A rule may compute more.
        """


class Node(History):
    """The history of a computed tensor, and its vertex in the graph (a stage 1 `Variable`).

    Attributes:
        last_fn: the operation's `Rule`; None once the graph has been freed.
        ctx: the values that the rule saved.
        inputs: for each argument that requires grad, its Node, or the tensor itself if a leaf.
        saved: data that the rule reads, and that must not be changed in place until then.
        version: the sum of the versions of `saved` when they were saved.
        name: the operation's name, for messages and diagrams.
        shape: the shape of the tensor, and so of its gradient.
        dtype: the tensor's dtype.
        backend: the tensor's backend.
    """

    __slots__ = ("_hooks", "backend", "dtype", "saved", "shape", "version")

    _hooks: Any  # hooks and `retain_grad`, or None: see `recording/hooks.py`
    backend: TensorBackend
    ctx: Any
    dtype: DType
    last_fn: Any
    saved: Sequence[TensorData]
    shape: Shape
    version: int

    parents = History.inputs  # type: ignore[misc]
    """Stage 1's name of `inputs`: the slot itself, which needs no call."""

    def is_constant(self) -> bool:
        """Return False: every node requires grad."""
        return False

    def completed(self, derivative: Any) -> Any:
        """Return the complete gradient, after hooks; others may share it from now on.

        The argument may be a `ViewGradient` (`recording/view_gradients.py`), which is lazy, and
        whose `_owned` is None.
        """
        if derivative._owned is None:  # a ViewGradient
            derivative = derivative._dense()
        if self._hooks is not None:
            derivative = self._hooks.apply(self, derivative)
        derivative._owned = False
        return derivative

    def accumulate_derivative(self, derivative: Any) -> Any:
        """Return the complete gradient; store it only if the tensor retains its gradient."""
        if self._hooks is None and derivative._owned is not None:
            derivative._owned = False
            return derivative
        derivative = self.completed(derivative)
        if self._hooks is not None:
            self._hooks.accumulate(self, derivative)
        return derivative

    def chain_rule(
        self, derivative: Any, needed: Container[Any] | None = None, retain_graph: bool = True
    ) -> list[tuple[Any, Any]]:
        """Return each input with its gradient; see `Variable.chain_rule`.

        Raises:
            GraphFreedError: the graph was freed by an earlier backward.
            InPlaceError: saved data has been changed in place.
            GradientError: the operation's backward returned gradients that do not fit its inputs.
        """
        inputs, ctx, saved = self.inputs, self.ctx, self.saved
        rule = self.last_fn  # read last: a thread that frees the graph clears it first
        if rule is None:
            raise self.freed()
        version = self.version
        for data in saved:
            if data._version is not None:
                version -= data._version[0]
        if version:
            raise changed_in_place(repr(self.name))
        if ACTIVE_TAPES.count:
            run = EXTENSIONS["operation on tape"]
            gradients = run(self.name, rule.vjp, self, inputs, ctx, derivative, needed)
        else:
            gradients = rule.vjp(self, inputs, ctx, derivative, needed)
        if not retain_graph:
            self.last_fn = None
            self.ctx = self.inputs = self.saved = ()
        pairs = []
        for parent, gradient in zip(inputs, gradients, strict=True):
            if gradient is not None and (needed is None or parent in needed):
                pairs.append((parent, gradient))
        return pairs

    def __repr__(self) -> str:
        """Return the operation's name in angle brackets."""
        return f"<{self.name}>"


def new_node(
    rule: Rule,
    name: str,
    inputs: Sequence[Any],
    ctx: Any,
    layout: Layout,
    backend: TensorBackend,
    saved: Sequence[TensorData] = (),
) -> Node:
    """Return the node of a result with this layout; see `record`."""
    node = _new(Node)
    node.last_fn, node.name, node.inputs, node.ctx = rule, name, inputs, ctx
    node.saved = saved
    node.version = 0
    for data in saved:
        if data._version is not None:
            node.version += data._version[0]
    node.shape, node.dtype, node.backend = layout.shape, layout.dtype, backend
    node._hooks = None
    return node


def record(
    result: Any,
    rule: Rule,
    name: str,
    inputs: Sequence[Any],
    ctx: Any = (),
    saved: Sequence[TensorData] = (),
) -> None:
    """Record a result in the graph.

    Args:
        result: a floating-point tensor that is not in the graph yet.
        rule: the gradient rule of the operation.
        name: the operation's name.
        inputs: the variable of each argument that requires grad (`tensor.variable`).
        ctx: the values that the rule needs.
        saved: the data that the rule reads.
    """
    layout, backend = result._tensor.layout, result.backend
    result._node = new_node(rule, name, inputs, ctx, layout, backend, saved)
    result._requires_grad = True


def version_of(saved: Iterable[TensorData]) -> int:
    """Return the sum of the versions of saved data."""
    total = 0
    for data in saved:
        if data._version is not None:
            total += data._version[0]
    return total


def changed_in_place(what: str) -> InPlaceError:
    """Return the error for saved data that has been changed in place."""
    return InPlaceError(
        f"a tensor that {what} saved for its gradient has been changed in place, so that the "
        "gradient would be wrong: change a clone() of it, or call backward() first."
    )
