"""`LinearFunction`: an operation whose derivative does not depend on the elements.

The derivative of a linear function is the same everywhere: another linear function, which maps the
gradient of the result to the gradient of the argument. So, unlike a `Function`, it saves only the
settings of its call. Sums, copies and gathers are linear, and so is every `ViewFunction`, which
changes the layout and copies no element.
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
    """A linear operation on one tensor, with its gradient. Subclass it, and call `apply`."""

    saves_index = False
    """Whether the first setting is an index tensor, which the gradient reads."""

    @staticmethod
    def forward(x: Tensor, *settings: Any) -> TensorData:
        """Return the data of the result, in new memory."""
        raise NotImplementedError

    @staticmethod
    def backward(grad: Tensor, source: Any, *settings: Any) -> Tensor:
        """Return the gradient with respect to the argument.

        Args:
            grad: the gradient of the result.
            source: the argument or its node, for its `shape` and `dtype`.
            *settings: the settings of `apply`.
        """
        raise NotImplementedError

    @classmethod
    def apply(cls, x: Any, *settings: Any) -> Tensor:
        """Apply the operation to `x`, and record the result."""
        result = _make(cls.forward(x, *settings), x.backend)
        if x._requires_grad and recording.get():
            cls.record(x, settings, result)
        return result

    @classmethod
    def record(cls, x: Tensor, settings: tuple[Any, ...], result: Tensor) -> None:
        """Record a result in the graph, if `x` requires grad."""
        if x._requires_grad is True or x.requires_grad:  # for a view, updates `_node`
            saved = (settings[0]._tensor,) if cls.saves_index else ()
            record(result, cls, cls.__name__, (x._node or x,), settings, saved)

    @classmethod
    def vjp(cls, _: Node, inputs: Any, ctx: Any, grad: Tensor, *__: Any) -> Sequence[Tensor]:
        """Return the gradient of the argument; see `Rule`."""
        return (cls.backward(grad, inputs[0], *ctx),)


class ViewFunction(LinearFunction):
    """An operation that returns a view: its forward is arithmetic on shape and strides.

    A view refers to its base, the tensor whose memory it shares. An in-place change of one tensor
    is visible in all tensors that share the memory, and so is its gradient
    (`recording/aliasing.py`).
    """

    @staticmethod
    def layout(layout: Layout, *settings: Any) -> Layout:
        """Return the layout of the view, given the layout of the argument."""
        raise NotImplementedError

    @classmethod
    def view(cls, data: TensorData, *settings: Any) -> TensorData:
        """Return another view of the same storage."""
        return data.with_layout(cls.layout(data.layout, *settings))

    @classmethod
    def apply(cls, x: Tensor, *settings: Any) -> Tensor:
        """Return the view of `x`, and record it."""
        data = x._tensor
        layout = cls.layout(data.layout, *settings)
        view = data.with_layout(layout)
        result = _make(view, x.backend)
        if layout.dtype.is_floating_point:
            result._base = x if x._base is None else x._base
            result._node_version = view._version[0]  # type: ignore[index]  # not None for a view
            if recording.get():
                flag = x._requires_grad
                if flag:
                    cls.record(x, settings, result)
                result._requires_grad = CUSTOM_VIEW if flag is CUSTOM_VIEW else VIEW
        return result

    @classmethod
    def gradient_of_argument(
        cls, inverse: type[LinearFunction], grad: Tensor, shape: Shape, *settings: Any
    ) -> Tensor:
        """Return the gradient of the argument of a view without repeated elements.

        Args:
            inverse: the operation that stores the elements of the view in zeros of a given shape.
            grad: the gradient of the view.
            shape: the shape of the argument.
            *settings: the settings of the view.
        """
        if not recording.get() and "gradient of a view" in EXTENSIONS:
            return EXTENSIONS["gradient of a view"](grad, shape, cls, settings)  # type: ignore[no-any-return]
        return inverse.apply(grad, shape, *settings)

    @classmethod
    def region(cls, data: TensorData, shape: Shape, *settings: Any) -> TensorData:
        """Return the view of `data` where a gradient of this shape belongs.

        Raises:
            GradientError: the view has another shape, because the shape of the tensor was changed
                in place.
        """
        view = cls.view(data, *settings)
        if view.shape != shape:
            raise GradientError(
                f"a view has a gradient of shape {shape}, but shows {view.shape} of its tensor, "
                f"which now has shape {data.shape}; do not change shapes before backward()."
            )
        return view
