"""Gradients of in-place changes of tensors that share memory.

An in-place change is recorded as if it created a new tensor: the changed tensor gets a new node,
and results computed from its old elements keep the old one. If the tensor is a view, the change is
recorded as a change of its *base*, the tensor of which it is a view, and the base gets a new node.
The nodes of all views of the base are outdated then; each view gets a new node, as a view of the
changed base, when it is next used.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from mt_autodiff import enable_grad
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
"""Lock for updating the node of a view."""


class InPlaceCopy(Function):
    """A tensor after `value` has been copied to it."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, data: TensorData) -> Tensor:
        return value._with(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, None


class InPlaceReplace(Function):
    """A tensor after `value` has replaced the elements of `old`, whose gradient is zero."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, old: Tensor) -> Tensor:
        ctx.shape = old.shape
        return value._with(value._tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, grad._with(grad.backend.full(ctx.shape, grad.dtype, 0))


class ZeroAt(LinearFunction):
    """Set the elements of a 1-D tensor at an index to zero."""

    saves_index = True

    @staticmethod
    def forward(row: Tensor, index: Tensor) -> TensorData:
        data, backend = row._tensor, row.backend
        out = backend.copy(data, data.layout.contiguous)
        backend.scatter(backend.full(index.shape, row.dtype, 0), 0, index._tensor, out)
        return out

    @staticmethod
    def backward(grad: Tensor, _: Any, index: Tensor) -> Tensor:
        return ZeroAt.apply(grad, index)


class CopySlices(Function):
    """A base after `value` has replaced some of its elements."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, value: Tensor, index: Tensor) -> Tensor:
        ctx.index, ctx.shape = index, value.shape
        return base._with(base._tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        row = reshaped(grad, (grad.numel(),))
        rest = reshaped(ZeroAt.apply(row, ctx.index), grad.shape)
        return rest, reshaped(Gather.apply(row, ctx.index, 0), ctx.shape), None


class ViewOfBase(Function):
    """A view of a base, as an operation that selects its elements."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, data: TensorData, index: Tensor) -> Tensor:
        ctx.shape, ctx.index = base.shape, index
        return base._with(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        row = reshaped(grad, (grad.numel(),))
        result = Collect.apply(row, ctx.index, 0, (size_of(ctx.shape),))
        return reshaped(result, ctx.shape), None, None


def indices_in_base(base: TensorData, view: TensorData) -> Array:
    """Return the index in the base of each element of a view, as a 1-D array.

    Raises:
        InPlaceError: an element of the view, from `as_strided`, is outside of the base.
    """
    elements = positions(view.shape, view.strides, view.offset).reshape(-1)
    if base.is_contiguous():
        index = elements - base.offset
        outside = bool(((index < 0) | (index >= base.size)).any())
    else:
        base_elements = positions(base.shape, base.strides, base.offset).reshape(-1)
        order = np.argsort(base_elements, kind="stable")
        index = order[
            np.searchsorted(base_elements, elements, sorter=order).clip(max=order.size - 1)
        ]
        outside = bool((base_elements[index] != elements).any())
    if outside:
        raise InPlaceError(
            "a view has elements outside of its base, and one of the two was changed in place, "
            "which cannot be differentiated: change a clone() instead."
        )
    return index


def detach_(self: Tensor) -> Tensor:
    """Detach the tensor in place: make it a leaf that does not require grad, and return it.

    A view still shares the memory of its base afterwards, like the result of `detach()`.
    """
    self._node, self._base, self._requires_grad = None, None, False
    return self


def _index_in(self: Tensor, base: Tensor) -> Tensor:
    """Return the indices in its base of the elements of a view, as a 1-D tensor of int64."""
    index = indices_in_base(base._tensor, self._tensor)
    return self._with(self.backend.from_host(np.ascontiguousarray(index)))


@extends("refresh a view")
def refresh(self: Tensor) -> None:
    """Update the node of a view if its memory has been changed in place."""
    base = self._base
    if base is None:
        return
    if self._requires_grad is CUSTOM_VIEW:
        if self._node is not None or base.requires_grad:
            raise _custom_view()
        return
    with _refreshing:  # threads that share the view share the node
        if self._node_version != self._tensor.version:
            node = None
            if base.requires_grad:
                with enable_grad():
                    node = ViewOfBase.apply(base, self._tensor, self._index_in(base))._node
            self._replace_node(node)


def _change_is_recorded(self: Tensor, *others: Any) -> bool:
    """Return whether an in-place change of this tensor, with other operands, must be recorded.

    Raises:
        InPlaceError: it must be recorded, but is not differentiable.
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
        if base.requires_grad:
            raise InPlaceError(
                "this view was created under no_grad(), so its change cannot be differentiated: "
                "create it outside no_grad(), or change it under no_grad()."
            )
        self._requires_grad = VIEW  # the base has no history that the view could lack
    return True


def _custom_view() -> InPlaceError:
    """Return the error for an in-place change of a view that a Function returned."""
    return InPlaceError(
        "a result of a Function shares memory with its argument, and that memory was changed in "
        "place, which cannot be differentiated: return a clone() from forward, or change a clone() "
        "of the result."
    )


def _before_change(self: Tensor) -> Tensor:
    """Return a copy of the tensor before a change, for gradients to read."""
    data = self._tensor
    old = self._with(self.backend.copy(data, data.layout.contiguous))
    if self.requires_grad:
        old._node, old._requires_grad = self._node, True
    return old


def _replace_node(self: Tensor, node: Node | None) -> None:
    """Replace the node of this tensor, and transfer `retain_grad` to the new node."""
    old = self._node
    if old is not None and old._hooks is not None:
        old._hooks.transfer(self, node)
    self._node = node
    self._node_version = self._tensor.version


def _rebase_history(self: Tensor, value: Tensor) -> None:
    """Record that this tensor now has the elements and the history of `value`."""
    base = self._base
    if base is not None:
        changed = CopySlices.apply(base, value, self._index_in(base))
    elif value.requires_grad:
        changed = InPlaceCopy.apply(value, self._tensor)
    else:
        changed = InPlaceReplace.apply(value, self)
    target = self if base is None else base
    target._replace_node(changed._node)
    target._requires_grad = True


def positions(shape: Shape, strides: Strides, offset: int = 0) -> Array:
    """Return the storage position of each element of a view, as an array of its shape."""
    result = np.full((1,) * len(shape), offset, np.int64)
    for dim, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        result = result + (np.arange(size) * stride).reshape(-1, *(1,) * (len(shape) - dim - 1))
    return result
