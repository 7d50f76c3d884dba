"""`TensorData`: a view of a storage, with shape, strides and offset.

The storage is one-dimensional memory whose class is chosen by the backend. Several views may share
a storage. Movement operations are arithmetic on shapes and strides, and never reach a backend.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mt_tensor.core.casting import element, to_float32
from mt_tensor.core.dtypes import Array, DType, Number
from mt_tensor.core.errors import IndexingError, ShapeError
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.layout import Layout, layout_of
from mt_tensor.core.strides import (
    Index,
    Shape,
    Strides,
    index_to_position,
)

if TYPE_CHECKING:
    from mt_tensor.exchange.storages import StorageMethods  # registered, as in `methods.py`
else:
    StorageMethods = object

_new = object.__new__


class TensorData(StorageMethods):
    """A view of a storage, with shape, strides and offset.

    Backends pass a storage and a dtype. Without a dtype, the storage is a 1-D array, or a list of
    numbers, which are stored as float64.

    Attributes:
        storage: the backend's memory.
        layout: the layout of the elements in it, and their dtype.
        dtype, shape, strides, offset, size: the properties of the layout.
        version: the number of in-place changes of the storage, through any view of it.
        array: the elements as a NumPy array over the same memory, if the storage is one.
    """

    __slots__ = ("__weakref__", "_array", "_storage", "_version", "layout")

    # `array` and `storage` are created from each other on first use. Until then `_array` is unset,
    # or `_storage` is None.
    _array: Array
    _storage: Any
    _version: list[int] | None  # shared by all views; None for a single view never changed
    layout: Layout

    def __init__(
        self,
        storage: Any,
        shape: Shape,
        strides: Strides | None = None,
        offset: int = 0,
        *,
        dtype: DType | None = None,
    ) -> None:
        if dtype is None:  # not created by a backend
            shape, strides = tuple(shape), None if strides is None else tuple(strides)
            storage, dtype = EXTENSIONS["storage by hand"](storage, shape, strides, offset)
        self._storage = storage
        self._version = None
        self.layout = layout_of(dtype, shape, strides, offset)

    @staticmethod
    def of(array: Array, layout: Layout) -> TensorData:
        """Return a view of a contiguous array with this layout."""
        data = _new(TensorData)
        data._array = array
        data.layout = layout
        data._storage = data._version = None
        return data

    @staticmethod
    def of_storage(storage: Any, layout: Layout) -> TensorData:
        """Return a view of a whole storage with this contiguous layout."""
        data = _new(TensorData)
        data._storage = storage
        data.layout = layout
        data._version = None
        return data

    @property
    def array(self) -> Array:
        """The elements as a strided NumPy array over the same memory."""
        array = getattr(self, "_array", None)  # twice as fast as catching an error
        if array is None:
            self._array = array = as_array(self._storage, self.layout)
        return array

    @property
    def storage(self) -> Any:
        """The backend's memory."""
        storage = self._storage
        if storage is None:
            array = self._array
            self._storage = storage = array if array.ndim == 1 else array.reshape(-1)
        return storage

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.layout.dtype

    @property
    def shape(self) -> Shape:
        """The size of each dimension."""
        return self.layout.shape

    @property
    def strides(self) -> Strides:
        """The distance between neighbors in each dimension."""
        return self.layout.strides

    @property
    def offset(self) -> int:
        """The position of the first element in the storage."""
        return self.layout.offset

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.layout.size

    def like(self, shape: Shape, strides: Strides, offset: int) -> TensorData:
        """Return another view of the same storage."""
        return self.with_layout(layout_of(self.layout.dtype, shape, strides, offset))

    def with_layout(self, layout: Layout) -> TensorData:
        """Return another view of the same storage, with this layout."""
        view = _new(TensorData)
        storage = self._storage
        view._storage = self.storage if storage is None else storage
        view.layout = layout
        if self._version is None:
            first = [0]
            if self._version is None:  # check again: another thread may have set it
                self._version = first
        view._version = self._version
        return view

    @property
    def version(self) -> int:
        """The number of in-place changes of the storage."""
        return 0 if self._version is None else self._version[0]

    def bump_version(self) -> None:
        """Increment the version of the storage after an in-place change."""
        if self._version is None:
            self._version = [0]
        self._version[0] += 1

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def is_contiguous(self) -> bool:
        """Return whether the elements are in row-major order without gaps."""
        return self.layout.is_contiguous()

    # --- Single elements, for storages that can be indexed --------------------------------------

    def indices(self) -> Iterator[builtins.tuple[int, ...]]:
        """Iterate over all indices, in row-major order."""
        return itertools.product(*map(range, self.shape))

    def index(self, index: Index | int) -> int:
        """Return the position of an element in the storage.

        Raises:
            IndexingError: the index has the wrong length or is out of range.
        """
        if isinstance(index, int):
            index = (index,)
        shape = self.layout.shape
        inside = len(index) == len(shape)
        for i, size in zip(index, shape):  # noqa: B905 - of equal length, if `inside`
            inside = inside and 0 <= i < size
        if not inside:
            raise IndexingError(f"index {tuple(index)} is outside a tensor of shape {shape}.")
        return index_to_position(index, self.layout.strides, self.layout.offset)

    def get(self, index: Index | int) -> Number:
        """Return the element at `index` as a Python number."""
        value: Number = to_float32(self.storage[self.index(index)]).item()
        return value

    def set(self, index: Index | int, value: Number) -> None:
        """Store a number at `index`, rounded or wrapped around to the dtype."""
        self.storage[self.index(index)] = element(value, self.layout.dtype)

    # --- Movement: other views of the same storage ----------------------------------------------

    def permute(self, *order: int) -> TensorData:
        """Return a view with the dimensions in another order."""
        return self.with_layout(self.layout.permuted(order))

    def expand(self, shape: Shape) -> TensorData:
        """Return a view expanded to `shape`: new dimensions and sizes of 1 get stride 0."""
        return self if shape == self.layout.shape else self.with_layout(self.layout.expanded(shape))

    def view(self, shape: Shape) -> TensorData | None:
        """Return the same elements in another shape, or None if that needs a copy."""
        layout = self.layout.viewed(shape)
        return None if layout is None else self.with_layout(layout)

    def slice(self, starts: Shape, steps: builtins.tuple[int, ...], lengths: Shape) -> TensorData:
        """Return `lengths[d]` elements along each dimension, from `starts[d]`, `steps[d]` apart."""
        return self.with_layout(self.layout.sliced(starts, steps, lengths))


MAX_DIMENSIONS = 64
"""The largest number of dimensions of a NumPy array; tensors may have more."""


def as_array(row: Array, layout: Layout) -> Array:
    """Return a view as an array over the memory of `row`, a 1-D array.

    Raises:
        ShapeError: there are more dimensions or elements than NumPy arrays can have.
    """
    shape, dtype = layout.shape, layout.dtype.numpy
    try:
        if not layout.size:
            return np.empty(shape, dtype)
        start = layout.offset * dtype.itemsize
        return np.ndarray(shape, dtype, row, start, layout.strides_in_bytes)
    except ValueError as error:
        raise not_an_array(shape) from error


def not_an_array(shape: Shape) -> ShapeError:
    """Return the error for a shape that NumPy arrays cannot have."""
    if len(shape) <= MAX_DIMENSIONS:
        return ShapeError(f"shape {shape} has more elements than this machine can address.")
    return ShapeError(
        f"a tensor of {len(shape)} dimensions cannot be converted to a NumPy array, which has at "
        f"most {MAX_DIMENSIONS}: merge some of them first, for example with flatten()."
    )
