"""`LinearFunction`: an operation whose derivative needs to know none of the elements.

A linear function of one tensor has the same derivative everywhere: another linear function, from
the gradient of the result to that of the argument. So, unlike a `Function`, it saves nothing but
the settings that it was called with. The files that follow need two kinds: sums, and every
`ViewFunction`, which gives other strides to the same elements and copies none.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff import GradientError
from mt_autodiff.core.mode import recording
from mt_tensor.recording.graph import Node, connect
from mt_tensor.strides import Shape
from mt_tensor.tensor import VIEW, Tensor
from mt_tensor.tensor_data import TensorData

_make = Tensor._make
_new = object.__new__


class LinearFunction:
    """A linear operation on one tensor, with its derivative. Subclass it, and call `apply`."""

    @staticmethod
    def forward(x: Tensor, *settings: Any) -> TensorData:
        """Return the elements of the result, in new memory."""
        raise NotImplementedError

    @staticmethod
    def backward(grad: Tensor, shape: Shape, *settings: Any) -> Tensor:
        """Return the gradient of the argument, which has `shape`, from that of the result."""
        raise NotImplementedError

    @classmethod
    def apply(cls, x: Any, *settings: Any) -> Tensor:
        """Return the result of `x` and some settings, and record it."""
        result = _make(cls.forward(x, *settings), x.backend)
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
        return [(parent, function.backward(derivative, parent.shape, *settings))]


class ViewFunction(LinearFunction):
    """Another view of the same elements: its forward is arithmetic on shape and strides.

    A view knows its base, the tensor whose memory it shows. A change in place of one shows in all
    that share the memory, and so does its gradient (`library/recording/aliasing.py`).
    """

    @staticmethod
    def view(data: TensorData, *settings: Any) -> TensorData:
        """Return another view of the same storage (`TensorData.like`)."""
        raise NotImplementedError

    @classmethod
    def apply(cls, x: Tensor, *settings: Any) -> Tensor:
        """Return the view of `x` that some settings give, and record it."""
        data = cls.view(x._tensor, *settings)
        result = _make(data, x.backend)
        if data.dtype.is_floating_point:
            base = x._base
            result._base = x if base is None else base
            result._seen = data.version
            if recording.get():
                cls.record(x, settings, result)
                result._requires_grad = VIEW
        return result

    @classmethod
    def part(cls, whole: TensorData, shape: Shape, *settings: Any) -> TensorData:
        """Return the elements of a whole that the view shows, where its gradient belongs.

        Raises:
            GradientError: the gradient has another `shape`, for that of the whole was changed in
                place after the view had been taken.
        """
        part = cls.view(whole, *settings)
        if part.shape != shape:
            raise GradientError(
                f"a view has a gradient of shape {shape}, but shows {part.shape} of its tensor, "
                f"which has shape {whole.shape} by now; change no shape in place before backward."
            )
        return part
