"""`Part`: the gradient of a tensor of which a view shows a part, until it is needed as a tensor.

It is zero everywhere else. When twenty steps of a sequence have been taken out of a tensor one by
one, twenty tensors of its shape, nearly all zeros, would have to be made and added up. What
backpropagation adds up instead are parts: the first becomes a tensor, and each of the others is
added to the elements that its view showed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff import GradientError
from mt_operators import OPERATORS
from mt_tensor.backends.computing import Computing
from mt_tensor.strides import Shape
from mt_tensor.tensor_data import TensorData

_ADD = Computing(OPERATORS["add"].value)


class Part:
    """A gradient that is not recorded, and stands for a tensor in sums.

    Attributes:
        grad: the gradient of the view, which names no element twice.
        shape: that of the whole.
        moved: what makes the view: a function of the whole and of settings.
        settings: these.
    """

    __slots__ = ("grad", "moved", "settings", "shape")

    def __init__(
        self,
        grad: Any,
        shape: Shape,
        moved: Callable[..., TensorData],
        settings: tuple[Any, ...],
    ) -> None:
        self.grad = grad
        self.shape = shape
        self.moved = moved
        self.settings = settings

    def whole(self) -> Any:
        """Return the gradient as a tensor."""
        grad = self.grad
        whole = grad._full(self.shape, 0)
        grad.backend.copy(grad._tensor, self._shown(whole))
        whole._fresh = True
        return whole

    def __add__(self, other: Any) -> Any:
        """Return the sum of this and what came later."""
        if isinstance(other, Part):
            return other.__radd__(self.whole())
        return self.__radd__(other)

    def __radd__(self, total: Any) -> Any:
        """Return a sum to which this has been added: the same tensor, if nobody else holds it."""
        if not total._fresh:
            data = total._tensor
            total = total._with(total.backend.copy(data, data.layout.contiguous))
            total._fresh = True
        shown = self._shown(total)
        _ADD[total.backend]((shown,), shown, self.grad._tensor)
        return total

    def _shown(self, whole: Any) -> TensorData:
        return shown(whole._tensor, self.grad._tensor, self.moved, self.settings)


def shown(
    whole: TensorData,
    grad: TensorData,
    moved: Callable[..., TensorData],
    settings: tuple[Any, ...],
) -> TensorData:
    """Return the elements of a whole that a view shows, where the gradient of the view belongs.

    Raises:
        GradientError: the gradient has another shape, for that of the whole was changed in place
            after the view had been taken.
    """
    part = moved(whole, *settings)
    if part.shape != grad.shape:
        raise GradientError(
            f"a view has a gradient of shape {grad.shape}, but shows {part.shape} of its tensor, "
            f"which has shape {whole.shape} by now; change no shape in place before backward."
        )
    return part
