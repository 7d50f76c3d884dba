"""`LinearFunction`: an operation whose derivative needs to know none of the elements.

What is linear in its one tensor, a sum or a view, has the same derivative everywhere: an operation
that leads back. So nothing is saved but the settings that it was called with.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff.extending import recording
from mt_tensor.recording.graph import Node, connect
from mt_tensor.recording.part import Part
from mt_tensor.strides import Shape
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

_make = Tensor._make
_new = object.__new__


class LinearFunction:
    """A linear operation on one tensor, with its derivative. Subclass it, and call `apply`."""

    @staticmethod
    def computed(x: Tensor, *settings: Any) -> TensorData:
        """Return the elements of the result, in new memory."""
        raise NotImplementedError

    @staticmethod
    def undone(grad: Tensor, shape: Shape, *settings: Any) -> Tensor | Part:
        """Return the gradient of the argument, which has `shape`, from that of the result."""
        raise NotImplementedError

    @classmethod
    def apply(cls, x: Any, *settings: Any) -> Tensor:
        """Return the result of `x` and some settings, and record it."""
        result = _make(cls.computed(x, *settings), x.backend)
        if x._requires_grad and recording.get():
            cls.record(x, settings, result)
        return result

    @classmethod
    def record(cls, x: Tensor, settings: tuple[Any, ...], result: Tensor) -> None:
        """Enter a result into the graph, if a gradient is wanted."""
        if x.requires_grad:  # asking refreshes the node of a view
            node: LinearNode = _new(LinearNode)
            node.last_fn, node.ctx, node.name = cls, settings, cls.__name__
            connect(result, node, (x if x._node is None else x._node,))


class LinearNode(Node):
    """The node of a linear operation's result.

    Attributes:
        last_fn: the operation; None once the graph has been freed.
        ctx: its settings.
    """

    __slots__ = ()

    ctx: Any
    last_fn: Any

    def chain_rule(self, derivative: Tensor) -> list[tuple[Any, Any]]:
        """Return the one input with its share."""
        inputs, settings = self.inputs, self.ctx
        function = self.last_fn  # read last, for it is forgotten first
        if function is None:
            raise self.freed()
        (parent,) = inputs
        return [(parent, function.undone(derivative, parent.shape, *settings))]
