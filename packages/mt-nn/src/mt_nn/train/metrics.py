"""Metrics: what is measured of a model over many batches.

A metric is told of each batch with `update`, and says with `compute` what it has seen. All samples
weigh the same, however they came in batches. Counting is done on the host, in integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from mt_nn import functional
from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_nn.utils.settings import check
from mt_operators import StateDictError
from mt_tensor import Tensor, no_grad
from mt_tensor.extending import Array

Average = Literal["macro", "micro", "weighted"]


class Metric(ABC):
    """Something measured over many batches. Subclass it to bring your own.

    What a metric has counted lies in `counts`: numbers or arrays by name, which start at 0.
    """

    counts: dict[str, Any]

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self.counts = {}

    def add(self, name: str, value: Any) -> None:
        """Add a number or an array to what has been counted under a name."""
        self.counts[name] = self.counts.get(name, 0) + value

    @abstractmethod
    def update(self, output: Tensor, target: Tensor) -> None:
        """Take a batch into account: what the model returned, and what was wanted."""

    @abstractmethod
    def compute(self) -> Any:
        """Return the value over all batches since `reset`; nan if there were none."""

    def state_dict(self) -> dict[str, Any]:
        """Return what has been counted."""
        return dict(self.counts)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned."""
        if not isinstance(state, Mapping):
            raise StateDictError(f"{type(self).__name__} takes counts by name; {state!r} is none.")
        self.counts = dict(state)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _scores_and_classes(name: str, output: Tensor, target: Tensor) -> tuple[Array, Array]:
    """Return scores as (samples, classes) and the right class of each, on the host.

    Raises:
        InputError: shapes or dtypes do not fit.
    """
    if output.ndim < 2 or target.shape != (output.shape[0], *output.shape[2:]):
        raise InputError(
            f"{name} takes scores of shape (batch, classes, ...) and classes of shape "
            f"(batch, ...); shapes {output.shape} and {target.shape} were given."
        )
    if target.dtype.kind != "integer":
        raise InputError(f"{name} takes classes as integers; {target.dtype.name} was given.")
    scores = np.moveaxis(output.detach()._numbers(), 1, -1).reshape(-1, output.shape[1])
    return scores, target.numpy().reshape(-1)


class Mean(Metric):
    """The mean over all samples of what a function returns for a batch, such as a loss.

    Args:
        function: takes output and target and returns a mean over the batch, a tensor or a number.
    """

    def __init__(self, function: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    @no_grad()
    def update(self, output: Tensor, target: Tensor) -> None:
        """Take a batch into account."""
        value = self.function(output, target)
        self.add_mean(value.item() if isinstance(value, Tensor) else value, samples_of(target))

    def add_mean(self, mean: float, samples: int) -> None:
        """Take a batch into account whose mean is known; an empty one has none."""
        if samples:
            self.add("total", mean * samples)
            self.add("samples", samples)

    def compute(self) -> float:
        """Return the mean."""
        return _share(self.counts.get("total", 0.0), self.counts.get("samples", 0))


def samples_of(target: Any) -> int:
    """Return how many samples a batch has, by its targets."""
    return len(target) if isinstance(target, Tensor) and target.ndim else 1


class Perplexity(Mean):
    """The exponential of the mean cross-entropy: among how many classes a model is undecided.

    It takes scores (batch, classes, ...) and classes (batch, ...); every class counts.
    """

    def __init__(self) -> None:
        super().__init__(functional.cross_entropy)

    @no_grad()
    def update(self, output: Tensor, target: Tensor) -> None:
        """Take a batch into account."""
        self.add_mean(functional.cross_entropy(output, target).item(), target.numel())

    def compute(self) -> float:
        """Return the perplexity; infinity if it is too large for a number."""
        mean = super().compute()
        return math.inf if mean > 709 else math.exp(mean)


class TopKAccuracy(Metric):
    """The share of samples whose right class is among the `k` with the largest scores.

    Of classes with equal scores the first counts as the larger, as in `argmax`. It takes scores
    (batch, classes, ...) and classes (batch, ...).

    Args:
        k: how many classes count, at least one.
    """

    def __init__(self, k: int = 5) -> None:
        super().__init__()
        self.k = integer("k", k, 1)

    def update(self, output: Tensor, target: Tensor) -> None:
        """Take a batch into account."""
        scores, classes = _scores_and_classes(type(self).__name__, output, target)
        exists = (classes >= 0) & (classes < scores.shape[1])
        own = np.take_along_axis(scores, np.where(exists, classes, 0)[:, None], axis=1)
        earlier = np.arange(scores.shape[1]) < classes[:, None]
        larger = (scores > own) | ((scores == own) & earlier) | np.isnan(scores)
        right = exists & (larger.sum(axis=1) < self.k) & ~np.isnan(own[:, 0])
        self.add("right", int(right.sum()))
        self.add("samples", len(classes))

    def compute(self) -> float:
        """Return the share, from 0 to 1."""
        return _share(self.counts.get("right", 0), self.counts.get("samples", 0))


class Accuracy(TopKAccuracy):
    """The share of samples whose right class has the largest score."""

    def __init__(self) -> None:
        super().__init__(k=1)


class ConfusionMatrix(Metric):
    """How often each class was predicted for each right class.

    It takes scores (batch, classes, ...) and classes (batch, ...). The value is an array of shape
    (classes, classes), with a row for each right class and a column for each predicted one.

    Args:
        classes: how many there are.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = integer("classes", classes, 1)

    def update(self, output: Tensor, target: Tensor) -> None:
        """Take a batch into account.

        Raises:
            InputError: shapes or dtypes do not fit, there are other scores than one for each class,
                or a class does not exist.
        """
        scores, right = _scores_and_classes(type(self).__name__, output, target)
        if scores.shape[1] != self.classes:
            raise InputError(
                f"{type(self).__name__} of {self.classes} classes was given scores of "
                f"{scores.shape[1]}."
            )
        if len(right) and not (right.min() >= 0 and right.max() < self.classes):
            raise InputError(
                f"{type(self).__name__} of {self.classes} classes was given classes from "
                f"{right.min()} to {right.max()}."
            )
        cells = right.astype(np.int64) * self.classes + scores.argmax(axis=1)
        counted = np.bincount(cells, minlength=self.classes**2)
        self.add("matrix", counted.reshape(self.classes, self.classes))

    def matrix(self) -> Array:
        """Return the counts."""
        nothing = np.zeros((self.classes, self.classes), np.int64)
        return np.asarray(self.counts.get("matrix", nothing))

    def compute(self) -> Any:
        """Return the counts."""
        return self.matrix().copy()


class _OfClasses(ConfusionMatrix):
    """A value for each class, and one mean of these.

    Args:
        classes: how many there are.
        average: "macro" for the mean over the classes, "weighted" for that over the samples by
            their right class, "micro" for all samples as if of one class; None for an array with
            the value of each class.

    Raises:
        SettingError: there is no such average.
    """

    def __init__(self, classes: int, average: Average | None = "macro") -> None:
        super().__init__(classes)
        known = average in ("macro", "micro", "weighted", None)
        check("average", average, known, "'macro', 'micro', 'weighted' or None")
        self.average = average

    @staticmethod
    @abstractmethod
    def parts(right: Array, predicted: Array, wanted: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the value of each class.

        Args:
            right: how often each class was predicted rightly.
            predicted: how often it was predicted.
            wanted: how often it was right.
        """

    def compute(self) -> Any:
        """Return the value: 0 for a class where it is 0 / 0; nan if there were no samples."""
        matrix = self.matrix()
        counts = (matrix.diagonal(), matrix.sum(axis=0), matrix.sum(axis=1))
        if self.average == "micro":
            counts = tuple(count.sum() for count in counts)
        numerator, denominator = self.parts(*counts)
        values = numerator / np.maximum(denominator, 1)
        if self.average is None:
            return values
        if not matrix.sum():
            return math.nan
        weights = counts[2] if self.average == "weighted" else None
        return float(np.average(values, weights=weights))


class Precision(_OfClasses):
    """How many of those that were predicted to be of a class are."""

    @staticmethod
    def parts(right: Array, predicted: Array, wanted: Array) -> tuple[Array, Array]:
        """Return the right ones, and the predicted ones."""
        return right, predicted


class Recall(_OfClasses):
    """How many of those of a class were predicted to be."""

    @staticmethod
    def parts(right: Array, predicted: Array, wanted: Array) -> tuple[Array, Array]:
        """Return the right ones, and all of the class."""
        return right, wanted


class F1(_OfClasses):
    """The harmonic mean of precision and recall, `2 right / (predicted + wanted)`."""

    @staticmethod
    def parts(right: Array, predicted: Array, wanted: Array) -> tuple[Array, Array]:
        """Return twice the right ones, and the predicted ones with all of the class."""
        return 2 * right, predicted + wanted
