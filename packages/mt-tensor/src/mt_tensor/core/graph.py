"""The recorded graph of tensors: nodes, and the edges that gradients flow along.

From backends to differentiation: stage 1's `History` and `backpropagate` serve tensors as they are,
and here is what the history of a tensor adds. Edges lead to nodes, not to tensors: a computed
tensor is represented by its `Node`, and only a leaf by itself. So a result that no gradient reads
is freed as soon as it is not used, and a tensor that is changed in place gets another node, while
all that was computed from its old elements keeps the old one. Tensors follow in `tensor.py`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, Protocol

from mt_autodiff import History
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import DType
from mt_tensor.core.errors import InPlaceError
from mt_tensor.core.extensions import ACTIVE, EXTENSIONS
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor_data import TensorData

_new = object.__new__


class Rule(Protocol):
    """How gradients flow through an operation: its vector-Jacobian product."""

    def vjp(
        self, node: Any, inputs: Any, ctx: Any, grad: Any, needed: Container[Any] | None
    ) -> Sequence[Any]:
        """Return the gradient of each input, in order; None where there is none.

        Args:
            node: that of the result.
            inputs: `node.inputs`, the arguments that require a gradient.
            ctx: `node.ctx`, what the rule saved when the result was computed.
            grad: the gradient of the result.
            needed: the only inputs whose gradients are needed; None for all. A rule may compute
                more.
        """


class Node(History):
    """The history of a computed tensor, which stands for it in the graph (a stage 1 `Variable`).

    Attributes:
        last_fn: the operation's `Rule`; None once the graph has been freed.
        ctx: what the rule saved.
        inputs: the variable of each argument that requires a gradient: a Node, or a leaf.
        saved: the elements that the rule will read, which must not be changed in place before.
        version: the sum of their versions when they were saved.
        name: the operation's name, for messages and pictures.
        shape: that of the tensor, and so of its gradient.
        dtype: the tensor's dtype.
        backend: where the tensor lives.
    """

    __slots__ = ("_watch", "backend", "dtype", "saved", "shape", "version")

    _watch: Any  # hooks and `retain_grad`, None without: see `recording/hooks.py`
    backend: TensorBackend
    ctx: Any
    dtype: DType
    last_fn: Any
    saved: Sequence[TensorData]
    shape: Shape
    version: int

    parents = History.inputs  # type: ignore[misc]
    """What the tensor was computed from: the slot itself under stage 1's name, and so no call."""

    def is_constant(self) -> bool:
        """Whether no gradient is wanted: one always is."""
        return False

    def completed(self, derivative: Any) -> Any:
        """Return the gradient, or what hooks make of it; it will be read, and may be passed on.

        It may come as a `Part` (`recording/parts.py`): the gradient of a view, which is not a
        tensor of the whole yet, and has None as `_fresh`.
        """
        if derivative._fresh is None:  # a Part
            derivative = derivative._whole()
        if self._watch is not None:
            derivative = self._watch.completed(self, derivative)
        derivative._fresh = False
        return derivative

    def accumulate_derivative(self, derivative: Any) -> Any:
        """Keep nothing, unless `grad` of the tensor is wanted though it is no leaf."""
        if self._watch is None and derivative._fresh is not None:
            derivative._fresh = False
            return derivative
        derivative = self.completed(derivative)
        if self._watch is not None:
            self._watch.accumulate(self, derivative)
        return derivative

    def chain_rule(
        self, derivative: Any, needed: Container[Any] | None = None, retain_graph: bool = True
    ) -> list[tuple[Any, Any]]:
        """Return each input with its gradient; see `Variable.chain_rule`.

        Raises:
            GraphFreedError: the graph was freed by an earlier backward.
            InPlaceError: what the gradient reads has been changed in place since.
            GradientError: what the operation's backward returned does not fit its inputs.
        """
        inputs, ctx, saved = self.inputs, self.ctx, self.saved
        rule = self.last_fn  # read last: a thread that frees the graph clears it first
        if rule is None:
            raise self.freed()
        for data in saved:
            if data._version is not None and version_of(saved) != self.version:
                raise changed_in_place(repr(self.name))
        if ACTIVE.count:
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
        """Show the operation's name."""
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
    """Return a node of a result that has this layout; see `record`."""
    node = _new(Node)
    node.last_fn, node.name, node.inputs, node.ctx = rule, name, inputs, ctx
    node.saved = saved
    node.version = 0
    for data in saved:
        if data._version is not None:
            node.version += data._version[0]
    node.shape, node.dtype, node.backend = layout.shape, layout.dtype, backend
    node._watch = None
    return node


def record(
    result: Any,
    rule: Rule,
    name: str,
    inputs: Sequence[Any],
    ctx: Any = (),
    saved: Sequence[TensorData] = (),
) -> None:
    """Enter a result into the graph.

    Args:
        result: a floating-point tensor that is not in the graph yet.
        rule: how gradients flow through the operation.
        name: the operation's name.
        inputs: the variable of each argument that requires a gradient (`tensor.variable`).
        ctx: what the rule wants to have.
        saved: the elements that the rule will read.
    """
    layout, backend = result._tensor.layout, result.backend
    result._node = new_node(rule, name, inputs, ctx, layout, backend, saved)
    result._requires_grad = True


def version_of(saved: Iterable[TensorData]) -> int:
    """Return how often elements among these were changed in place, all together."""
    total = 0
    for data in saved:
        if data._version is not None:
            total += data._version[0]
    return total


def changed_in_place(what: str) -> InPlaceError:
    """Return the error for saved elements that are no longer what they were."""
    return InPlaceError(
        f"a tensor that {what} saved for its gradient has been changed in place since, so that the "
        "gradient would be wrong: change a clone() of it, or call backward() first."
    )
