"""`LinearFunction`: an operation whose derivative needs to know none of the elements.

A linear function of one tensor has the same derivative everywhere: another linear function, from
the gradient of the result to that of the argument. So, unlike a `Function`, it saves nothing but
the settings that it was called with. Sums, copies and reading by an index are of this kind, and so
is every `ViewFunction`, which gives another layout to the same elements and copies none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff import GradientError
from mt_autodiff.core.mode import recording
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.graph import Node, record
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import CUSTOM_VIEW, VIEW, Tensor
from mt_tensor.core.tensor_data import TensorData

_make = Tensor._make


class LinearFunction:
    """A linear operation on one tensor, with its derivative. Subclass it, and call `apply`."""

    saves_index = False
    """Whether the first setting is a tensor of indices, which the gradient reads again."""

    @staticmethod
    def forward(x: Tensor, *settings: Any) -> TensorData:
        """Return the elements of the result, in new memory."""
        raise NotImplementedError

    @staticmethod
    def backward(grad: Tensor, source: Any, *settings: Any) -> Tensor:
        """Return the gradient of the argument from that of the result.

        Args:
            grad: the gradient of the result.
            source: the argument, or its node: what has its `shape` and `dtype`.
            *settings: those of `apply`.
        """
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
        if x._requires_grad is True or x.requires_grad:  # of a view this updates `_node`
            saved = (settings[0]._tensor,) if cls.saves_index else ()
            record(result, cls, cls.__name__, (x._node or x,), settings, saved)

    @classmethod
    def vjp(cls, _: Node, inputs: Any, ctx: Any, grad: Tensor, *__: Any) -> Sequence[Tensor]:
        """Return the gradient of the argument; see `Rule`."""
        return (cls.backward(grad, inputs[0], *ctx),)


class ViewFunction(LinearFunction):
    """Another view of the same elements: its forward is arithmetic on shape and strides.

    A view knows its base, the tensor whose memory it shows. A change in place of one shows in all
    that share the memory, and so does its gradient (`recording/aliasing.py`).
    """

    @staticmethod
    def layout(layout: Layout, *settings: Any) -> Layout:
        """Return the layout of the view from that of the argument."""
        raise NotImplementedError

    @classmethod
    def view(cls, data: TensorData, *settings: Any) -> TensorData:
        """Return another view of the same storage."""
        return data.with_layout(cls.layout(data.layout, *settings))

    @classmethod
    def apply(cls, x: Tensor, *settings: Any) -> Tensor:
        """Return the view of `x` that some settings give, and record it."""
        data = x._tensor
        layout = cls.layout(data.layout, *settings)
        view = data.with_layout(layout)
        result = _make(view, x.backend)
        if layout.dtype.is_floating_point:
            result._base = x if x._base is None else x._base
            result._seen = view._version[0]  # type: ignore[index]  # which views share
            if recording.get():
                wanted = x._requires_grad
                if wanted:
                    cls.record(x, settings, result)
                result._requires_grad = CUSTOM_VIEW if wanted is CUSTOM_VIEW else VIEW
        return result

    @classmethod
    def gradient_of_whole(
        cls, inverse: type[LinearFunction], grad: Tensor, shape: Shape, *settings: Any
    ) -> Tensor:
        """Return the gradient of the argument, of which the view shows each element once at most.

        Args:
            inverse: the operation that puts the elements of the view into zeros of a shape.
            grad: the gradient of the view.
            shape: that of the argument.
            *settings: those of the view.
        """
        if not recording.get() and "part of a gradient" in EXTENSIONS:
            return EXTENSIONS["part of a gradient"](grad, shape, cls, settings)  # type: ignore[no-any-return]
        return inverse.apply(grad, shape, *settings)

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
