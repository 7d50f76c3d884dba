"""The same memory as elements of another type: `x.view(dtype)`.

Where storages are arrays of NumPy, it is what NumPy does. A backend that has others may have a
method `reinterpreted(storage, dtype)`, which returns the whole elements that the bytes make.
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
    """Return a view of the same memory as elements of another type, without history.

    The last size becomes as many times larger, or smaller, as the elements become smaller, or
    larger; its elements must then follow each other in memory, and fill whole new ones.

    Raises:
        ShapeError: they do not.
        DTypeError: truth values, which are the bytes 0 and 1, are to be made of other elements.
        ExchangeError: the backend cannot.
        TypeError: a shape is given, too.
    """
    named = [each for each in (*shape, size, dtype) if each is not None]
    if len(named) > 1:
        raise TypeError("view() takes sizes or an element type; both were given.")
    wanted, data, backend = as_dtype(named[0]), self._tensor, self.backend
    if wanted is data.dtype:
        return self.detach()
    if wanted is bool_:
        raise DTypeError(
            f"the bytes of {data.dtype.name} are no truth values: compare them, as in x != 0."
        )
    view = data.with_layout(_other_layout(data.layout, wanted))
    view._storage = _as_elements(backend, data.storage, wanted)
    return Tensor._make(view, backend)


def _as_elements(backend: TensorBackend, storage: Any, dtype: DType) -> Any:
    """Return the bytes of a storage as elements of another type, in the same memory."""
    own = getattr(backend, "reinterpreted", None)
    if own is not None:
        return own(storage, dtype)
    if not isinstance(storage, np.ndarray):
        raise ExchangeError(
            f"backend {backend.name!r} cannot show the same memory as another element type: do it "
            "on another, as in x.to('numpy').view(dtype)."
        )
    whole = storage.nbytes // dtype.itemsize * dtype.itemsize
    return storage.view(np.uint8)[:whole].view(dtype.numpy)


def _other_layout(layout: Layout, dtype: DType) -> Layout:
    old, new = layout.dtype.itemsize, dtype.itemsize
    shape, strides, offset = layout.shape, layout.strides, layout.offset
    if old == new:
        return layout_of(dtype, shape, strides, offset)
    what = f"to be viewed as {dtype.name}, elements of {layout.dtype.name}"
    if not shape or strides[-1] != 1:
        raise ShapeError(
            f"{what} must follow each other along a last dimension; shape {shape} and strides "
            f"{strides} were given. Copy them in order first, as in x.contiguous()."
        )
    if any(number * old % new for number in (shape[-1], offset, *strides[:-1])):
        raise ShapeError(
            f"{what} must come in groups of {new // old}; shape {shape}, strides {strides} and "
            f"offset {offset} were given."
        )
    steps = tuple([stride * old // new for stride in strides[:-1]])
    return layout_of(dtype, (*shape[:-1], shape[-1] * old // new), (*steps, 1), offset * old // new)
