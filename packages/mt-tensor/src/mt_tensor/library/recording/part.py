"""`Part`: the gradient of a tensor of which a view shows a part, until it is needed as a tensor.

It is zero everywhere else. When twenty steps of a sequence have been taken out of a tensor one by
one, twenty tensors of its shape, nearly all zeros, would have to be made and added up. What
backpropagation adds up instead are parts: the first becomes a tensor, and each of the others is
added to the elements that its view showed.
"""

from __future__ import annotations

from typing import Any

from mt_operators import OPERATORS
from mt_tensor.backends.computing import Computing
from mt_tensor.public import method
from mt_tensor.recording.linear import ViewFunction
from mt_tensor.strides import Shape
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

_ADD = Computing(OPERATORS["add"].value)


class Part:
    """A gradient that is not recorded, and stands for a tensor in sums.

    Attributes:
        grad: the gradient of the view, which names no element twice.
        shape: that of the whole.
        view: what makes the view of the whole.
        settings: those of `view`.
    """

    __slots__ = ("grad", "settings", "shape", "view")

    _fresh = None
    """What tells it from a tensor, which is fresh or not."""

    def __init__(
        self, grad: Tensor, shape: Shape, view: type[ViewFunction], settings: tuple[Any, ...]
    ) -> None:
        self.grad = grad
        self.shape = shape
        self.view = view
        self.settings = settings

    def _whole(self) -> Tensor:
        """Return the gradient as a tensor."""
        whole = self.grad._full(self.shape, 0)
        self.grad.backend.copy(self.grad._tensor, self._part(whole))
        whole._fresh = True
        return whole

    def __add__(self, other: Any) -> Any:
        """Return the sum of this and what came later."""
        if isinstance(other, Part):
            return other.__radd__(self._whole())
        return self.__radd__(other)

    def __radd__(self, total: Any) -> Any:
        """Return a sum to which this has been added: the same tensor, if nobody else holds it."""
        if not total._fresh:
            data = total._tensor
            total = total._with(total.backend.copy(data, data.layout.contiguous))
            total._fresh = True
        part = self._part(total)
        _ADD[total.backend]((part,), part, self.grad._tensor)
        return total

    def _part(self, whole: Tensor) -> TensorData:
        return self.view.part(whole._tensor, self.grad._tensor.shape, *self.settings)


@method
def _part_of(self: Tensor, shape: Shape, view: type[ViewFunction], *settings: Any) -> Any:
    """Return, from the gradient of a view, that of the whole."""
    return Part(self, shape, view, settings)
