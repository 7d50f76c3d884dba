"""Metrics, accumulated over batches.

Call `update` for each batch, and `compute` for the value over all of them. All samples have the
same weight, independently of the sizes of batches. Counts are integers on the host.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_operators import StateDictError
from mt_tensor import Tensor, no_grad
from mt_tensor.extending import Array


class Metric(ABC):
    """Base class of metrics.

    Attributes:
        counts: the accumulated numbers or arrays, by name, initially 0.
    """

    counts: dict[str, Any]

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Remove all batches."""
        self.counts = {}

    def add(self, name: str, value: Any) -> None:
        """Add a number or an array to a count."""
        self.counts[name] = self.counts.get(name, 0) + value

    @abstractmethod
    def update(self, output: Tensor, target: Tensor) -> None:
        """Add a batch: the output of the model, and the target."""

    @abstractmethod
    def compute(self) -> Any:
        """Return the value over all batches since `reset`; nan if there were none."""

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of `counts`."""
        return dict(self.counts)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`."""
        if not isinstance(state, Mapping):
            raise StateDictError(
                f"the state of {type(self).__name__} must be a dictionary; {state!r} was given."
            )
        self.counts = dict(state)


def _ratio(part: float, total: float) -> float:
    return part / total if total else math.nan


def _scores_and_classes(name: str, output: Tensor, target: Tensor) -> tuple[Array, Array]:
    """Return scores, shape (samples, classes), and the class of each sample, on the host.

    Raises:
        InputError: the shapes do not match, or classes are not integers.
    """
    if output.ndim < 2 or target.shape != (output.shape[0], *output.shape[2:]):
        raise InputError(
            f"{name} takes scores of shape (batch, classes, ...) and classes of shape "
            f"(batch, ...); shapes {output.shape} and {target.shape} were given."
        )
    if target.dtype.kind != "integer":
        raise InputError(f"{name} takes integer classes; {target.dtype.name} was given.")
    scores = np.moveaxis(output.detach()._numbers(), 1, -1).reshape(-1, output.shape[1])
    return scores, target.numpy().reshape(-1)


class Mean(Metric):
    """The mean over all samples of a function of batches, such as a loss.

    Args:
        function: takes output and target, and returns the mean of the batch, a tensor or a number.
    """

    def __init__(self, function: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    @no_grad()
    def update(self, output: Tensor, target: Tensor) -> None:
        """Add a batch."""
        value = self.function(output, target)
        self.add_mean(value.item() if isinstance(value, Tensor) else value, samples_of(target))

    def add_mean(self, mean: float, samples: int) -> None:
        """Add a batch with a given mean; ignore empty ones."""
        if samples:
            self.add("total", mean * samples)
            self.add("samples", samples)

    def compute(self) -> float:
        """Return the mean."""
        return _ratio(self.counts.get("total", 0.0), self.counts.get("samples", 0))


def samples_of(target: Any) -> int:
    """Return the number of samples of a batch, given its target."""
    return len(target) if isinstance(target, Tensor) and target.ndim else 1


class Accuracy(Metric):
    """The fraction of samples whose class has the largest score, or is among the `k` largest.

    Ties are resolved in favor of the first class, as in `argmax`. Outputs are scores, shape
    (batch, classes, ...), and targets classes, shape (batch, ...).

    Args:
        k: a positive integer.
    """

    def __init__(self, k: int = 1) -> None:
        super().__init__()
        self.k = integer("k", k, 1)

    def update(self, output: Tensor, target: Tensor) -> None:
        """Add a batch."""
        scores, classes = _scores_and_classes(type(self).__name__, output, target)
        exists = (classes >= 0) & (classes < scores.shape[1])
        score = np.take_along_axis(scores, np.where(exists, classes, 0)[:, None], axis=1)
        earlier = np.arange(scores.shape[1]) < classes[:, None]
        larger = (scores > score) | ((scores == score) & earlier) | np.isnan(scores)
        correct = exists & (larger.sum(axis=1) < self.k) & ~np.isnan(score[:, 0])
        self.add("right", int(correct.sum()))
        self.add("samples", len(classes))

    def compute(self) -> float:
        """Return the fraction, from 0 to 1."""
        return _ratio(self.counts.get("right", 0), self.counts.get("samples", 0))


class ConfusionMatrix(Metric):
    """The number of samples by true and predicted class.

    Outputs are scores, shape (batch, classes, ...), and targets classes, shape (batch, ...). The
    value is an array of shape (classes, classes), with one row per true class and one column per
    predicted class.

    Args:
        classes: the number of classes.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = integer("classes", classes, 1)

    def update(self, output: Tensor, target: Tensor) -> None:
        """Add a batch.

        Raises:
            InputError: shapes or dtypes do not match, the number of scores is not `classes`, or a
                class is out of range.
        """
        scores, labels = _scores_and_classes(type(self).__name__, output, target)
        if scores.shape[1] != self.classes:
            raise InputError(
                f"{type(self).__name__} of {self.classes} classes takes {self.classes} scores per "
                f"sample; {scores.shape[1]} were given."
            )
        if len(labels) and not (labels.min() >= 0 and labels.max() < self.classes):
            raise InputError(
                f"{type(self).__name__} of {self.classes} classes was given classes from "
                f"{labels.min()} to {labels.max()}."
            )
        cells = labels.astype(np.int64) * self.classes + scores.argmax(axis=1)
        counts = np.bincount(cells, minlength=self.classes**2)
        self.add("matrix", counts.reshape(self.classes, self.classes))

    def compute(self) -> Array:
        """Return the counts."""
        zeros = np.zeros((self.classes, self.classes), np.int64)
        counts: Array = zeros + self.counts.get("matrix", 0)
        return counts
