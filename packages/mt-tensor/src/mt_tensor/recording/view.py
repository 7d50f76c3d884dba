"""`ViewFunction`: an operation that only looks at elements otherwise, and copies none.

Its forward is arithmetic on shape and strides, and its derivative is the operation that leads back.
Views of a tensor know of each other (`recording.aliasing`): a change in place of one shows in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mt_autodiff.mode import recording
from mt_tensor.recording.graph import Node, connect
from mt_tensor.tensor_base import VIEW, TensorBase
from mt_tensor.tensor_data import TensorData

if TYPE_CHECKING:
    from mt_tensor.strides import Shape
    from mt_tensor.tensors import Tensor

_make = TensorBase._make
_new = object.__new__


class ViewFunction:
    """A movement with its derivative. Subclass it, and call `apply`."""

    @staticmethod
    def moved(data: TensorData, *settings: Any) -> TensorData:
        """Return another view of the same storage (`TensorData.like`)."""
        raise NotImplementedError

    @staticmethod
    def undone(grad: Tensor, shape: Shape, *settings: Any) -> Tensor:
        """Return the gradient of the argument, which has `shape`, from that of the result."""
        raise NotImplementedError

    @classmethod
    def apply(cls, x: TensorBase, *settings: Any) -> Tensor:
        """Return the view of `x` that some settings give, and record it."""
        data = cls.moved(x._tensor, *settings)
        result = _make(data, x.backend)
        if data.dtype.is_floating_point:
            base = x._base
            result._base = x if base is None else base  # type: ignore[assignment]
            result._seen = data.version
            if recording.enabled:
                if x.requires_grad:  # asking refreshes the node of a view
                    node: ViewNode = _new(ViewNode)
                    node.last_fn, node.ctx, node.name = cls, settings, cls.__name__
                    connect(result, node, (x if x._node is None else x._node,))
                result._requires_grad = VIEW
        return result


class ViewNode(Node):
    """The node of a view.

    Attributes:
        last_fn: the movement; None once the graph has been freed.
        ctx: its settings.
    """

    __slots__ = ()

    ctx: Any
    last_fn: Any

    def chain_rule(self, derivative: Tensor) -> list[tuple[Any, Any]]:
        """Return the one input with its share."""
        if self.last_fn is None:
            raise self.freed()
        (parent,) = self.inputs
        return [(parent, self.last_fn.undone(derivative, parent.shape, *self.ctx))]
