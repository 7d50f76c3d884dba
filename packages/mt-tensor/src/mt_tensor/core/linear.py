"""`LinearFunction`: an operation whose derivative needs to know none of the elements.

A linear function of one tensor has the same derivative everywhere: another linear function, from
the gradient of the result to that of the argument. So, unlike a `Function`, it saves nothing but
the settings that it was called with. The files that follow need two kinds: sums, and every
`ViewFunction`, which gives other strides to the same elements and copies none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff import GradientError
from mt_autodiff.core.mode import recording
from mt_tensor.core.graph import Node, record
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import CUSTOM_VIEW, VIEW, Tensor
from mt_tensor.core.tensor_data import TensorData

_make = Tensor._make


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
        if x.requires_grad:  # which refreshes the node of a view
            record(result, cls, cls.__name__, (x if x._node is None else x._node,), settings)

    @classmethod
    def vjp(cls, _: Node, inputs: Any, ctx: Any, grad: Tensor, *__: Any) -> Sequence[Tensor]:
        """Return the gradient of the argument; see `Rule`."""
        return (cls.backward(grad, inputs[0].shape, *ctx),)


class ViewFunction(LinearFunction):
    """Another view of the same elements: its forward is arithmetic on shape and strides.

    A view knows its base, the tensor whose memory it shows. A change in place of one shows in all
    that share the memory, and so does its gradient (`aliasing.py`).
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
                custom = x._requires_grad is CUSTOM_VIEW
                result._requires_grad = CUSTOM_VIEW if custom else VIEW
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
