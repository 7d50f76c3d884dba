"""`Part`: the gradient that a tensor gets through one of its views, in a lazy form.

It is zero outside the view. If twenty time steps of a sequence are sliced from a tensor, their
gradients as tensors would be twenty tensors of its shape, mostly zeros. Backpropagation adds parts
instead: the first becomes a tensor, and each of the others is added to the elements of its view.
Parts of large tensors are collected first (`Parts`): the parts of `split` and `chunk` cover the
whole tensor, and need no zeros at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mt_tensor.core.extensions import extends
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import ViewFunction
from mt_tensor.core.plans import ADD
from mt_tensor.core.strides import Shape, size_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

LARGE = 2**15
"""The minimum size of a tensor whose parts are collected, which costs microseconds."""


@extends("part of a gradient")
class Part:
    """A lazy, unrecorded gradient, which can be added like a tensor.

    Attributes:
        grad: the gradient of the view, which has no repeated elements.
        shape: the shape of the whole tensor.
        view: the operation of the view.
        settings: the settings of `view`.
    """

    __slots__ = ("grad", "settings", "shape", "view")

    _fresh = None
    """Distinguishes a Part from a tensor, whose `_fresh` is a bool."""

    def __init__(
        self, grad: Tensor, shape: Shape, view: type[ViewFunction], settings: tuple[Any, ...]
    ) -> None:
        self.grad = grad
        self.shape = shape
        self.view = view
        self.settings = settings

    def _whole(self) -> Tensor:
        """Convert the gradient to a tensor."""
        whole = self.grad._full(self.shape, 0)
        self.grad.backend.copy(self.grad._tensor, self.place(whole._tensor))
        whole._fresh = True
        return whole

    def __add__(self, other: Any) -> Any:
        """Return the sum of this part and a later gradient."""
        if not isinstance(other, Part):
            return self.__radd__(other)
        if size_of(self.shape) >= LARGE:
            return Parts(self) + other
        return other.__radd__(self._whole())

    def __radd__(self, total: Any) -> Any:
        """Add this part to a sum, in place if nothing else refers to the sum."""
        if not total._fresh:
            data = total._tensor
            total = total._with(total.backend.copy(data, data.layout.contiguous))
            total._fresh = True
        part = self.place(total._tensor)
        ADD.change(total.backend, (part,), part, self.grad._tensor)
        return total

    def place(self, whole: TensorData) -> TensorData:
        """Return the view of the whole to which the gradient belongs."""
        return self.view.part(whole, self.grad._tensor.shape, *self.settings)


class Parts:
    """Several parts of one tensor, in order.

    Attributes:
        parts: the parts, at least one.
        left: the number of elements that they do not cover, if they do not overlap.
    """

    __slots__ = ("left", "parts")

    _fresh = None

    def __init__(self, first: Part) -> None:
        self.parts = [first]
        self.left = size_of(first.shape) - first.grad.numel()

    def __add__(self, other: Any) -> Any:
        """Return the sum of these parts and a later gradient."""
        if not isinstance(other, Part):
            return self.__radd__(other)
        self.left -= other.grad.numel()
        if self.left < 0:  # parts overlap, so their number is unbounded
            return other.__radd__(self._whole())
        self.parts.append(other)
        return self

    def __radd__(self, total: Any) -> Any:
        """Add these parts to a sum."""
        for part in self.parts:
            total = part.__radd__(total)
        return total

    def _whole(self) -> Tensor:
        """Convert the gradient to a tensor."""
        whole = None if self.left else self._joined()
        if whole is None:
            first, *others = self.parts
            whole = first._whole()
            for part in others:
                part.__radd__(whole)
        return whole

    def _joined(self) -> Tensor | None:
        """Return the gradient if its parts are consecutive and cover the whole, else None."""
        grad, backend = self.parts[0].grad, self.parts[0].grad.backend
        data = backend.empty(self.parts[0].shape, grad.dtype)
        places = [part.place(data) for part in self.parts]
        if not _consecutive([place.layout for place in places], data.layout):
            return None
        for part, place in zip(self.parts, places, strict=True):
            backend.copy(part.grad._tensor, place)
        whole = grad._with(data)
        whole._fresh = True
        return whole


def _consecutive(places: Sequence[Layout], whole: Layout) -> bool:
    """Return whether parts of a tensor are consecutive along one of its dimensions.

    Args:
        places: the layouts of the parts, which have as many elements as the whole together.
        whole: the row-major layout of the whole.
    """
    ranges = zip(
        *[_ranges(place, whole) for place in places], strict=False
    )  # empty for a part with gaps
    apart = [sorted(set(each)) for each in ranges if len(set(each)) > 1]
    if len(apart) != 1 or len(apart[0]) != len(places):
        return False
    return all(stop <= start for (_, stop), (start, _) in pairwise(apart[0]))


def _ranges(place: Layout, whole: Layout) -> list[tuple[int, int]]:
    """Return the range of a part in each dimension of a whole, or [] for a part with gaps."""
    sizes = {
        stride: size for size, stride in zip(place.shape, place.strides, strict=True) if size != 1
    }
    ranges, rest = [], place.offset
    for stride in whole.strides:
        start, rest = divmod(rest, stride)
        ranges.append((start, start + sizes.pop(stride, 1)))
    return [] if sizes else ranges
