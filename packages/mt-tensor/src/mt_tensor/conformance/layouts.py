"""Memory layouts: the same elements in every way that a view can address them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.core.dtypes import Array


def contiguous(array: Array, backend: TensorBackend) -> mt.Tensor:
    """Return a row-major tensor from the start of its storage."""
    return mt.tensor(array, backend=backend)


def permuted(array: Array, backend: TensorBackend) -> mt.Tensor:
    """Return a column-major tensor."""
    return mt.tensor(np.ascontiguousarray(array.T).reshape(array.T.shape), backend=backend).T


def offset(array: Array, backend: TensorBackend) -> mt.Tensor:
    """Return a row-major tensor in the middle of a longer storage."""
    row = np.concatenate([array.reshape(-1)[:1], array.reshape(-1), array.reshape(-1)[:1]])
    start = min(1, array.size)
    return mt.tensor(row, backend=backend)[start : start + array.size].view(array.shape)


def stepped(array: Array, backend: TensorBackend) -> mt.Tensor:
    """Return a view of every second element along each dimension of a larger tensor."""
    index = tuple(slice(None, None, 2) for _ in array.shape)
    larger = np.zeros(tuple(2 * length for length in array.shape), array.dtype)
    larger[index] = array
    return mt.tensor(larger, backend=backend)[index]


def reversed_(array: Array, backend: TensorBackend) -> mt.Tensor:
    """Return a view with negative strides in every dimension."""
    index = tuple(slice(None, None, -1) for _ in array.shape)
    return mt.tensor(np.array(array[index]), backend=backend)[index]


LAYOUTS: dict[str, Callable[[Array, TensorBackend], mt.Tensor]] = {
    "contiguous": contiguous,
    "permuted": permuted,
    "offset": offset,
    "stepped": stepped,
    "reversed": reversed_,
}
"""The layouts of given elements by name. Expanded ones have equal elements and are not included."""
