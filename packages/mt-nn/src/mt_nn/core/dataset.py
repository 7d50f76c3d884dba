"""Data sets: collections of samples.

Samplers choose the order of the samples, and loaders join samples into batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import length_hint
from typing import Any

import numpy as np

from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import extension
from mt_tensor import Tensor
from mt_tensor.core.gathering import Gather, in_range


class Dataset:
    """Base class of data sets. Define `__len__` and `__getitem__` in a subclass."""

    is_iterable = False
    """Whether samples can only be iterated over, as in an `IterableDataset`."""

    def __len__(self) -> int:
        """Return the number of samples."""
        raise TypeError(f"{type(self).__name__} must define __len__.")

    def __getitem__(self, index: int) -> Any:
        """Return a sample."""
        raise TypeError(f"{type(self).__name__} must define __getitem__.")

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the samples."""
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of length {length_hint(self)}>"

    def __add__(self, other: Dataset) -> Dataset:
        """Concatenate two data sets."""
        return extension("sums of data sets")([self, other])  # type: ignore[no-any-return]

    def takes_batches(self) -> bool:
        """Return whether `self[[1, 2]]` returns a batch of two samples."""
        return False


class TensorDataset(Dataset):
    """A data set of the rows of tensors of equal length; sample i is row i of each tensor."""

    def __init__(self, *tensors: Tensor) -> None:
        lengths = {tensor.shape[:1] for tensor in tensors}
        if len(lengths) != 1 or lengths == {()}:
            raise SettingError(
                "TensorDataset takes one or more tensors of equal length; shapes "
                f"{', '.join(str(tensor.shape) for tensor in tensors) or 'none'} were given."
            )
        self.tensors = tensors

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.tensors[0].shape[0]

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        """Return a row of each tensor, or several rows if `index` is a list or an array."""
        if isinstance(index, list):
            return tuple([rows(tensor, index) for tensor in self.tensors])
        return tuple([tensor[index] for tensor in self.tensors])

    def takes_batches(self) -> bool:
        """Return whether `__getitem__` has not been overridden by a subclass."""
        return type(self).__getitem__ is TensorDataset.__getitem__


def rows(x: Tensor, numbers: list[int]) -> Tensor:
    """Return rows of a tensor by their indices; negative indices count from the end.

    Stage 2's `Gather` takes an index for each element of the result. Strides of 0 repeat the index
    of a row for all its elements without copying it.
    """
    indices = np.asarray(numbers)
    if indices.ndim != 1 or indices.dtype.kind != "i":  # a mask, for example
        return x[numbers]
    index = in_range(x._uploaded(indices), x.shape[0], ("x[...]", "dimension 0"), negative=True)
    shape, strides = (len(indices), *x.shape[1:]), (1, *[0] * (x.ndim - 1))
    return Gather.apply(x, index._with(index._tensor.like(shape, strides, 0)), 0)
