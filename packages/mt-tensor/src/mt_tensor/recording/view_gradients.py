"""`ViewGradient`: the gradient that a tensor gets through one of its views, in a lazy form.

It is zero outside the view. If twenty time steps of a sequence are sliced from a tensor, their
gradients as tensors would be twenty tensors of its shape, mostly zeros. Backpropagation adds view
gradients instead: the first becomes a tensor, and each of the others is added to the elements of
its view. Those of large tensors are collected first (`ViewGradients`): the views of `split` and
`chunk` cover the whole tensor, and need no zeros at all.
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
"""The minimum size of a tensor whose gradients are collected, which costs microseconds."""


@extends("gradient of a view")
class ViewGradient:
    """A lazy, unrecorded gradient, which can be added like a tensor.

    Attributes:
        grad: the gradient of the view, which has no repeated elements.
        shape: the shape of the tensor.
        view: the operation of the view.
        settings: the settings of `view`.
    """

    __slots__ = ("grad", "settings", "shape", "view")

    _owned = None
    """Distinguishes it from a tensor, whose `_owned` is a bool."""

    def __init__(
        self, grad: Tensor, shape: Shape, view: type[ViewFunction], settings: tuple[Any, ...]
    ) -> None:
        self.grad = grad
        self.shape = shape
        self.view = view
        self.settings = settings

    def _dense(self) -> Tensor:
        """Convert the gradient to a tensor."""
        dense = self.grad._full(self.shape, 0)
        self.grad.backend.copy(self.grad._tensor, self.region(dense._tensor))
        dense._owned = True
        return dense

    def __add__(self, other: Any) -> Any:
        """Return the sum of this gradient and a later one."""
        if not isinstance(other, ViewGradient):
            return self.__radd__(other)
        if size_of(self.shape) >= LARGE:
            return ViewGradients(self) + other
        return other.__radd__(self._dense())

    def __radd__(self, total: Any) -> Any:
        """Add this gradient to a sum, in place if nothing else refers to the sum."""
        if not total._owned:
            data = total._tensor
            total = total._with(total.backend.copy(data, data.layout.contiguous))
            total._owned = True
        region = self.region(total._tensor)
        ADD.change(total.backend, (region,), region, self.grad._tensor)
        return total

    def region(self, dense: TensorData) -> TensorData:
        """Return the view of a tensor of this shape to which the gradient belongs."""
        return self.view.region(dense, self.grad._tensor.shape, *self.settings)


class ViewGradients:
    """The gradients of several views of one tensor, in order.

    Attributes:
        parts: the gradients, at least one.
        uncovered: the number of elements that they do not cover, if they do not overlap.
    """

    __slots__ = ("parts", "uncovered")

    _owned = None

    def __init__(self, first: ViewGradient) -> None:
        self.parts = [first]
        self.uncovered = size_of(first.shape) - first.grad.numel()

    def __add__(self, other: Any) -> Any:
        """Return the sum of these gradients and a later one."""
        if not isinstance(other, ViewGradient):
            return self.__radd__(other)
        self.uncovered -= other.grad.numel()
        if self.uncovered < 0:  # parts overlap, so their number is unbounded
            return other.__radd__(self._dense())
        self.parts.append(other)
        return self

    def __radd__(self, total: Any) -> Any:
        """Add these gradients to a sum."""
        for part in self.parts:
            total = part.__radd__(total)
        return total

    def _dense(self) -> Tensor:
        """Convert the gradient to a tensor."""
        dense = None if self.uncovered else self._joined()
        if dense is None:
            first, *rest = self.parts
            dense = first._dense()
            for part in rest:
                part.__radd__(dense)
        return dense

    def _joined(self) -> Tensor | None:
        """Return the gradient if the views are consecutive and cover the tensor, else None."""
        grad, backend = self.parts[0].grad, self.parts[0].grad.backend
        data = backend.empty(self.parts[0].shape, grad.dtype)
        regions = [part.region(data) for part in self.parts]
        if not _consecutive([region.layout for region in regions], data.layout):
            return None
        for part, region in zip(self.parts, regions, strict=True):
            backend.copy(part.grad._tensor, region)
        dense = grad._with(data)
        dense._owned = True
        return dense


def _consecutive(regions: Sequence[Layout], dense: Layout) -> bool:
    """Return whether views of a tensor are consecutive along one of its dimensions.

    Args:
        regions: the layouts of the views, which have as many elements in total as the tensor.
        dense: the row-major layout of the tensor.
    """
    ranges = zip(
        *[_ranges(region, dense) for region in regions], strict=False
    )  # empty for a view with gaps
    distinct = [sorted(set(each)) for each in ranges if len(set(each)) > 1]
    if len(distinct) != 1 or len(distinct[0]) != len(regions):
        return False
    return all(stop <= start for (_, stop), (start, _) in pairwise(distinct[0]))


def _ranges(region: Layout, dense: Layout) -> list[tuple[int, int]]:
    """Return the range of a view in each dimension of a tensor, or [] for a view with gaps."""
    sizes = {
        stride: size for size, stride in zip(region.shape, region.strides, strict=True) if size != 1
    }
    ranges, rest = [], region.offset
    for stride in dense.strides:
        start, rest = divmod(rest, stride)
        ranges.append((start, start + sizes.pop(stride, 1)))
    return [] if sizes else ranges
