"""View memory as another dtype: `x.view(dtype)`.

This works if storages are NumPy arrays. A backend with other storages may implement a method
`reinterpreted(storage, dtype)`, which returns the same bytes as a storage of another dtype, without
the bytes at the end that do not fill an element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import DType, as_dtype, bool_
from mt_tensor.core.layout import Layout, layout_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, ExchangeError, ShapeError


def _reinterpreted(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Return a view of the same memory as another dtype, detached from the graph.

    If the item sizes differ, the last dimension must be contiguous, and its size is multiplied by
    their quotient.

    Raises:
        ShapeError: the last dimension is not contiguous, or its bytes do not fill an integral
            number of elements.
        DTypeError: the target is bool, whose bytes can only be 0 and 1.
        ExchangeError: the backend cannot view memory as another dtype.
        TypeError: a shape was given too.
    """
    named = [each for each in (*shape, size, dtype) if each is not None]
    if len(named) > 1:
        raise TypeError("view() takes sizes or a dtype; both were given.")
    target, data, backend = as_dtype(named[0]), self._tensor, self.backend
    if target is data.dtype:
        return self.detach()
    if target is bool_:
        raise DTypeError(
            f"view(): {data.dtype.name} cannot be viewed as bool, whose bytes are 0 or 1: compare, "
            "as in x != 0."
        )
    view = data.with_layout(_reinterpreted_layout(data.layout, target))
    view._storage = _reinterpreted_storage(backend, data.storage, target)
    return Tensor._make(view, backend)


def _reinterpreted_storage(backend: TensorBackend, storage: Any, dtype: DType) -> Any:
    """Return the bytes of a storage as another dtype, in the same memory."""
    method = getattr(backend, "reinterpreted", None)
    if method is not None:
        return method(storage, dtype)
    if not isinstance(storage, np.ndarray):
        raise ExchangeError(
            f"a tensor of backend {backend.name!r} cannot be viewed as another dtype: use another "
            "backend, as in x.to('numpy').view(dtype)."
        )
    size = storage.nbytes // dtype.itemsize * dtype.itemsize
    return storage.view(np.uint8)[:size].view(dtype.numpy)


def _reinterpreted_layout(layout: Layout, dtype: DType) -> Layout:
    old, new = layout.dtype.itemsize, dtype.itemsize
    shape, strides, offset = layout.shape, layout.strides, layout.offset
    if old == new:
        return layout_of(dtype, shape, strides, offset)
    what = f"view(): to view {layout.dtype.name} as {dtype.name}"
    if not shape or strides[-1] != 1:
        raise ShapeError(
            f"{what}, the last dimension must be contiguous; shape {shape} and strides {strides} "
            "were given. Copy first, as in x.contiguous()."
        )
    if any(number * old % new for number in (shape[-1], offset, *strides[:-1])):
        raise ShapeError(
            f"{what}, the last size, the offset and the other strides must be multiples of "
            f"{new // old}; shape {shape}, strides {strides} and offset {offset} were given."
        )
    steps = tuple([stride * old // new for stride in strides[:-1]])
    return layout_of(dtype, (*shape[:-1], shape[-1] * old // new), (*steps, 1), offset * old // new)
