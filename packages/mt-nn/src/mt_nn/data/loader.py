"""`DataLoader`: a data set in batches, in order or shuffled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.data.dataset import Dataset, Subset, TensorDataset
from mt_nn.errors import SettingError
from mt_nn.settings import integer
from mt_tensor import Tensor, stack, tensor
from mt_tensor.randomness.random_tensors import generator


def collate(samples: Sequence[Any]) -> Any:
    """Join samples into a batch: tensors are stacked, numbers become tensors, tuples go by part.

    Raises:
        SettingError: the samples are of a kind that cannot be joined.
    """
    first = samples[0]
    if isinstance(first, tuple | list):
        return tuple(collate(part) for part in zip(*samples, strict=True))
    if isinstance(first, Tensor):
        return stack(list(samples))
    if isinstance(first, int | float | np.ndarray | np.generic):
        return tensor(np.stack(samples) if isinstance(first, np.ndarray) else list(samples))
    raise SettingError(
        f"samples of type {type(first).__name__} cannot be joined into a batch: pass collate_fn."
    )


class DataLoader:
    """Iterates over a data set in batches; every iteration is one epoch.

        >>> from mt_tensor import arange
        >>> [batch[0].tolist() for batch in DataLoader(TensorDataset(arange(5)), batch_size=2)]
        [[0, 1], [2, 3], [4]]

    Args:
        dataset: where samples come from.
        batch_size: how many make a batch; the last one may be smaller.
        shuffle: whether to draw a new order for each epoch, from the generator that
            `mt_tensor.manual_seed` sets.
        drop_last: whether to leave out a last batch that is smaller.
        collate_fn: joins samples into a batch; `collate` if None.

    Raises:
        SettingError: the batch size is no positive integer.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Sequence[Any]], Any] | None = None,
    ) -> None:
        self.dataset, self.batch_size = dataset, integer("batch_size", batch_size, 1)
        self.shuffle, self.drop_last, self.collate_fn = shuffle, drop_last, collate_fn

    def __len__(self) -> int:
        """Return how many batches an epoch has."""
        batches = len(self.dataset) / self.batch_size
        return math.floor(batches) if self.drop_last else math.ceil(batches)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the batches of one epoch."""
        count = len(self.dataset)
        order = generator().permutation(count) if self.shuffle else np.arange(count)
        for number in range(len(self)):
            start = number * self.batch_size
            yield self._batch(order[start : start + self.batch_size])

    def _batch(self, indices: npt.NDArray[np.int64]) -> Any:
        if self.collate_fn is None and _takes_many(self.dataset):
            return self.dataset[indices]  # type: ignore[index]
        samples = [self.dataset[int(i)] for i in indices]
        return (self.collate_fn or collate)(samples)


def _takes_many(dataset: Dataset) -> bool:
    """Whether a data set can return many rows at once, without a Python loop."""
    if isinstance(dataset, Subset):
        return _takes_many(dataset.dataset)
    return isinstance(dataset, TensorDataset)
