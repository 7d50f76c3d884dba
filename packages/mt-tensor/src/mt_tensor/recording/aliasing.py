"""Gradients when tensors that share memory are changed in place.

A change in place is recorded as if it had made a new tensor: the changed tensor moves on to a new
node, and what was computed from its old elements keeps the old one. If it is a view, the change is
one of the tensor that it is a view of, its *base*, in the elements that the view shows: the base
moves on. All views of the base, the changed one among them, then show other elements than their
nodes know of; each moves on to a new node, as a view of the changed base, when it is next asked.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from mt_autodiff import NoGradientError, enable_grad, no_grad
from mt_autodiff.core.mode import recording
from mt_tensor.core.dtypes import Array
from mt_tensor.core.errors import InPlaceError
from mt_tensor.core.extensions import extends
from mt_tensor.core.gathering import Collect, Gather
from mt_tensor.core.graph import Node
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.strides import Shape, Strides, size_of
from mt_tensor.core.tensor import CUSTOM_VIEW, VIEW, Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.core.views import reshaped
from mt_tensor.recording.functions import Function

_refreshing = threading.RLock()
"""Held by a thread that gives a view a new node."""


class Stored(Function):
    """What a tensor holds after a change: the elements of `value`, which were copied there."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, data: TensorData) -> Tensor:
        return value._with(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, None


class Instead(Function):
    """`value`, stored over the elements of `old`, which get a gradient of zero."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, old: Tensor) -> Tensor:
        ctx.shape = old.shape
        return value._with(value._tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, grad._with(grad.backend.full(ctx.shape, grad.dtype, 0))


class Cleared(Function):
    """What a tensor holds after its elements were replaced by constants."""

    @staticmethod
    def forward(ctx: Any, old: Tensor) -> Tensor:
        return old._with(old._tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad._with(grad.backend.full(grad.shape, grad.dtype, 0))


class Without(LinearFunction):
    """A row with zeros in the places of an index."""

    saves_index = True

    @staticmethod
    def forward(row: Tensor, index: Tensor) -> TensorData:
        data, backend = row._tensor, row.backend
        out = backend.copy(data, data.layout.contiguous)
        backend.scatter(backend.full(index.shape, row.dtype, 0), 0, index._tensor, out)
        return out

    @staticmethod
    def backward(grad: Tensor, _: Any, index: Tensor) -> Tensor:
        return Without.apply(grad, index)


class Overwritten(Function):
    """A base after some of its elements were replaced by those of `value`."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, value: Tensor, index: Tensor) -> Tensor:
        ctx.index, ctx.shape = index, value.shape
        return base._with(base._tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        row = reshaped(grad, (grad.numel(),))
        rest = reshaped(Without.apply(row, ctx.index), grad.shape)
        return rest, reshaped(Gather.apply(row, ctx.index, 0), ctx.shape), None


class Shown(Function):
    """The elements of a base that a view shows."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, data: TensorData, index: Tensor) -> Tensor:
        ctx.shape, ctx.index = base.shape, index
        return base._with(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        row = reshaped(grad, (grad.numel(),))
        whole = Collect.apply(row, ctx.index, 0, (size_of(ctx.shape),))
        return reshaped(whole, ctx.shape), None, None


def shown_elements(base: TensorData, view: TensorData) -> Array:
    """Return for each element of a view, as a row, which element of the base it is."""
    found = positions(view.shape, view.strides, view.offset).reshape(-1)
    if base.is_contiguous():
        return found - base.offset
    known = positions(base.shape, base.strides, base.offset).reshape(-1)
    order = np.argsort(known, kind="stable")
    return order[np.searchsorted(known, found, sorter=order)]


def detach_(self: Tensor) -> Tensor:
    """Forget how the tensor was computed, and return it, a leaf that does not require grad.

    Raises:
        NoGradientError: it is a view, whose base would still have its history.
    """
    if self._base is not None and self.requires_grad:
        raise NoGradientError("a view cannot be detached from its base: use detach().")
    self._node, self._requires_grad = None, False
    return self


def _index_in(self: Tensor, base: Tensor) -> Tensor:
    """Return which elements of its base a view shows, as a row of int64."""
    index = shown_elements(base._tensor, self._tensor)
    return self._with(self.backend.from_host(np.ascontiguousarray(index)))


@extends("refresh a view")
def refresh(self: Tensor) -> None:
    """Give a view a new node if its memory has been changed since it got its last one."""
    base = self._base
    if base is None:
        return
    if self._requires_grad is CUSTOM_VIEW:
        if self._node is not None or base.requires_grad:
            raise _custom_view()
        return
    with _refreshing:  # threads that share the view share the node
        if self._seen != self._tensor.version:
            node = None
            if base.requires_grad:
                with enable_grad():
                    node = Shown.apply(base, self._tensor, self._index_in(base))._node
            self._moved_to(node)


def _change_is_recorded(self: Tensor, *others: Any) -> bool:
    """Return whether a change in place of this tensor, with others, is to be recorded.

    Raises:
        InPlaceError: it would have to be, but gradients cannot follow it.
    """
    if not recording.get() or not self._tensor.layout.dtype.is_floating_point:
        return False
    base = self if self._base is None else self._base
    for x in (self, base, *others):
        if isinstance(x, Tensor) and x._requires_grad and x.requires_grad:
            break
    else:
        return False
    if base.requires_grad and base.is_leaf:
        raise InPlaceError(
            f"{'a leaf' if base is self else 'a view of a leaf'} that requires grad cannot be "
            "changed in place: do so under no_grad(), or on a clone()."
        )
    if self._requires_grad is CUSTOM_VIEW:
        raise _custom_view()
    if self._base is not None and self._requires_grad is not VIEW:
        raise InPlaceError(
            "this view was made under no_grad(), so that gradients cannot follow its change: "
            "make it where gradients are recorded, or change it under no_grad()."
        )
    return True


def _custom_view() -> InPlaceError:
    """Return the error for a change in place of a view that a Function has returned."""
    return InPlaceError(
        "a result of a Function shares memory with its argument, and that memory was changed in "
        "place, where gradients cannot follow: return a clone() from forward, or change a clone() "
        "of the result."
    )


def _before_change(self: Tensor) -> Tensor:
    """Return the tensor as it is now, in memory of its own: gradients may read it later."""
    with no_grad():
        old = self.clone()
    if self.requires_grad:
        old._node, old._requires_grad = self._node, True
    return old


def _moved_to(self: Tensor, node: Node | None) -> None:
    """Let another node stand for this tensor; what keeps its gradient goes along."""
    old = self._node
    if old is not None and old._watch is not None:
        old._watch.moved(self, node)
    self._node = node
    self._seen = self._tensor.version


def _moved_on(self: Tensor, value: Tensor) -> None:
    """Take note that this tensor now holds the elements of `value`, and its history."""
    base = self._base
    if base is not None:
        changed = Overwritten.apply(base, value, self._index_in(base))
    elif value.requires_grad:
        changed = Stored.apply(value, self._tensor)
    else:
        changed = Cleared.apply(self)
    moving = self if base is None else base
    moving._moved_to(changed._node)
    moving._requires_grad = True


def positions(shape: Shape, strides: Strides, offset: int = 0) -> Array:
    """Return the position in the storage of each element of a view, in an array of its shape."""
    result = np.full((1,) * len(shape), offset, np.int64)
    for dim, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        result = result + (np.arange(size) * stride).reshape(-1, *(1,) * (len(shape) - dim - 1))
    return result
