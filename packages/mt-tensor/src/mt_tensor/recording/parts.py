"""`Part`: the gradient of a tensor of which a view shows a part, until it is needed as a tensor.

It is zero everywhere else. When twenty steps of a sequence have been taken out of a tensor one by
one, twenty tensors of its shape, nearly all zeros, would have to be made and added up. What
backpropagation adds up instead are parts: the first becomes a tensor, and each of the others is
added to the elements that its view showed. Of large tensors the parts wait for each other
(`Parts`): the pieces of `split` and `chunk` are the whole, and no zeros are needed at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mt_operators import OPERATORS
from mt_tensor.core.extensions import extends
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import ViewFunction
from mt_tensor.core.plans import Plans
from mt_tensor.core.strides import Shape, size_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

_ADD = Plans(OPERATORS["add"].value)

LARGE = 2**15
"""Parts of a tensor of so many elements wait for each other; to ask them costs microseconds."""


@extends("part of a gradient")
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
        self.grad.backend.copy(self.grad._tensor, self.place(whole._tensor))
        whole._fresh = True
        return whole

    def __add__(self, other: Any) -> Any:
        """Return the sum of this and what came later."""
        if not isinstance(other, Part):
            return self.__radd__(other)
        if size_of(self.shape) >= LARGE:
            return Parts(self) + other
        return other.__radd__(self._whole())

    def __radd__(self, total: Any) -> Any:
        """Return a sum to which this has been added: the same tensor, if nobody else holds it."""
        if not total._fresh:
            data = total._tensor
            total = total._with(total.backend.copy(data, data.layout.contiguous))
            total._fresh = True
        part = self.place(total._tensor)
        _ADD.change(total.backend, (part,), part, self.grad._tensor)
        return total

    def place(self, whole: TensorData) -> TensorData:
        """Return the elements of a whole that the gradient belongs to."""
        return self.view.part(whole, self.grad._tensor.shape, *self.settings)


class Parts:
    """Several parts of one tensor, in the order in which they came.

    Attributes:
        parts: one at least.
        left: how many elements of the whole they leave, if none belongs to two of them.
    """

    __slots__ = ("left", "parts")

    _fresh = None

    def __init__(self, first: Part) -> None:
        self.parts = [first]
        self.left = size_of(first.shape) - first.grad.numel()

    def __add__(self, other: Any) -> Any:
        """Return the sum of these and what came later."""
        if not isinstance(other, Part):
            return self.__radd__(other)
        self.left -= other.grad.numel()
        if self.left < 0:  # an element belongs to two; others may follow without end
            return other.__radd__(self._whole())
        self.parts.append(other)
        return self

    def __radd__(self, total: Any) -> Any:
        """Return a sum to which these have been added."""
        for part in self.parts:
            total = part.__radd__(total)
        return total

    def _whole(self) -> Tensor:
        """Return the gradient as a tensor."""
        whole = None if self.left else self._in_a_row()
        if whole is None:
            first, *others = self.parts
            whole = first._whole()
            for part in others:
                part.__radd__(whole)
        return whole

    def _in_a_row(self) -> Tensor | None:
        """Return the gradient, if its parts follow each other, and so are all of it."""
        grad, backend = self.parts[0].grad, self.parts[0].grad.backend
        data = backend.empty(self.parts[0].shape, grad.dtype)
        places = [part.place(data) for part in self.parts]
        if not _follow([place.layout for place in places], data.layout):
            return None
        for part, place in zip(self.parts, places, strict=True):
            backend.copy(part.grad._tensor, place)
        whole = grad._with(data)
        whole._fresh = True
        return whole


def _follow(places: Sequence[Layout], whole: Layout) -> bool:
    """Whether places in a whole lie one after the other along one of its dimensions.

    Args:
        places: they have as many elements as the whole.
        whole: its layout, row-major.
    """
    ranges = zip(*[_ranges(place, whole) for place in places], strict=False)  # none: with gaps
    apart = [sorted(set(each)) for each in ranges if len(set(each)) > 1]
    if len(apart) != 1 or len(apart[0]) != len(places):
        return False
    return all(stop <= start for (_, stop), (start, _) in pairwise(apart[0]))


def _ranges(place: Layout, whole: Layout) -> list[tuple[int, int]]:
    """Return where in each dimension of a whole a place begins and ends; nothing if with gaps."""
    sizes = {
        stride: size for size, stride in zip(place.shape, place.strides, strict=True) if size != 1
    }
    ranges, rest = [], place.offset
    for stride in whole.strides:
        start, rest = divmod(rest, stride)
        ranges.append((start, start + sizes.pop(stride, 1)))
    return [] if sizes else ranges
