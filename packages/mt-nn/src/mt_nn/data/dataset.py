"""Data sets: samples by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.errors import SettingError
from mt_tensor import Tensor
from mt_tensor.randomness.random_tensors import generator


class Dataset:
    """Samples that can be counted and asked for by number. Subclass it to bring your own."""

    def __len__(self) -> int:
        """Return how many samples there are."""
        raise TypeError(f"{type(self).__name__} must define __len__.")

    def __getitem__(self, index: int) -> Any:
        """Return a sample."""
        raise TypeError(f"{type(self).__name__} must define __getitem__.")

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the samples."""
        return (self[i] for i in range(len(self)))


class TensorDataset(Dataset):
    """The rows of one or more tensors; sample i is row i of each.

    Raises:
        SettingError: no tensor was given, or they differ in length.
    """

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors or len({len(tensor) for tensor in tensors}) > 1:
            raise SettingError(
                "TensorDataset takes one or more tensors of one length; shapes "
                f"{', '.join(str(tensor.shape) for tensor in tensors) or 'none'} were given."
            )
        self.tensors = tensors

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.tensors[0])

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        """Return a row of each tensor, or several rows if `index` is a list or an array."""
        return tuple(tensor[index] for tensor in self.tensors)


class Subset(Dataset):
    """Some samples of another data set, in the order of `indices`."""

    def __init__(self, dataset: Dataset, indices: Sequence[int] | npt.NDArray[np.int64]) -> None:
        self.dataset = dataset
        self.indices = np.asarray(indices, dtype=np.int64)

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        """Return a sample, or several if the data set takes several."""
        chosen = self.indices[index]
        many: Any = chosen if isinstance(chosen, np.ndarray) else int(chosen)
        return self.dataset[many]


def random_split(dataset: Dataset, lengths: Sequence[int]) -> list[Subset]:
    """Return disjoint random subsets of the given lengths.

    Raises:
        SettingError: the lengths do not add up to the length of the data set.
    """
    if sum(lengths) != len(dataset) or any(length < 0 for length in lengths):
        raise SettingError(
            f"lengths {list(lengths)} must add up to the {len(dataset)} samples of the data set."
        )
    order = generator().permutation(len(dataset))
    ends = np.cumsum(lengths)
    return [Subset(dataset, part) for part in np.split(order, ends[:-1])]
