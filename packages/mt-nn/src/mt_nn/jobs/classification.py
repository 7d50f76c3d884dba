"""`Classification`: the base class of jobs that classify samples.

Labels may be smoothed: the target probability of the true class is then less than 1. Since that
loss cannot fall to 0, the reported cross-entropy is the one without smoothing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from mt_nn.data import DataLoader, Dataset, Subset, random_split
from mt_nn.errors import InputError
from mt_nn.files.writing import write_table
from mt_nn.functional import cross_entropy, softmax
from mt_nn.jobs.job import Job, Settings
from mt_nn.losses.layers import CrossEntropyLoss
from mt_nn.train.metrics import Accuracy, ConfusionMatrix, Mean, Metric
from mt_nn.train.trainer import Trainer
from mt_operators import Module
from mt_tensor import Generator, Tensor, cat, no_grad

HELD_OUT = 0.1
"""The default fraction of the training samples that is held out for validation."""

MISTAKE_COLUMNS = ("sample", "right class", "predicted class", "probability")

SPLIT_SEED = 0
"""The seed of the split, so that the same samples are held out in every training run."""


def hold_out(samples: Dataset, fraction: float = HELD_OUT) -> tuple[Subset, Subset]:
    """Split samples with a fixed seed; the second part is the fraction that is held out."""
    generator = Generator().manual_seed(SPLIT_SEED)
    rest, held_out = random_split(samples, [1 - fraction, fraction], generator)
    return rest, held_out


class Prediction(NamedTuple):
    """The prediction for a sample.

    Attributes:
        sample: the index of the sample.
        right: its true class.
        predicted: the class with the highest probability.
        probability: the probability of the predicted class.
    """

    sample: int
    right: int
    predicted: int
    probability: float


class Classification(Job):
    """Base class of jobs that classify samples.

    Attributes:
        classes: the names of the classes.
        smoothing: the label smoothing of the loss.
    """

    results: ClassVar[tuple[str, ...]] = ("confusion.csv", "mistakes.csv")
    classes: ClassVar[tuple[str, ...]]
    smoothing: ClassVar[float] = 0.0

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.loss = CrossEntropyLoss(label_smoothing=self.smoothing)

    def metrics(self) -> dict[str, Metric]:
        """Return cross-entropy without smoothing, and accuracy."""
        return {"cross_entropy": Mean(cross_entropy), "accuracy": Accuracy()}

    def line(self, row: Mapping[str, Any]) -> str:
        """Return the cross-entropy and accuracy of an epoch."""
        return (
            f"epoch {row['epoch']:2}  cross-entropy: training {row['cross_entropy']:.4f}, "
            f"validation {row['validation_cross_entropy']:.4f}  "
            f"validation accuracy {100 * row['validation_accuracy']:.1f} %"
        )

    def test(self, trainer: Trainer, batches: DataLoader, folder: Path) -> str:
        """Write the confusion matrix and the mistakes; return cross-entropy and accuracy."""
        labels = cat([batch[-1] for batch in batches])
        scores = trainer.predict(batches)
        confusion = ConfusionMatrix(len(self.classes))
        confusion.update(scores, labels)
        rows = zip(self.classes, confusion.compute().tolist(), strict=True)
        table = [["right class", *self.classes], *([name, *row] for name, row in rows)]
        write_table(folder / "confusion.csv", table)
        mistakes = mistakes_of(predictions(scores, labels))
        write_table(folder / "mistakes.csv", [MISTAKE_COLUMNS, *self._rows(mistakes, batches)])
        loss = cross_entropy(scores, labels).item()
        return (
            f"cross-entropy {loss:.4f}, accuracy {100 * (1 - len(mistakes) / len(labels)):.1f} %, "
            f"{len(mistakes)} of {len(labels)} {self.samples} wrong"
        )

    def _rows(
        self, mistakes: Sequence[Prediction], batches: DataLoader
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the misclassified test samples, for the table of mistakes."""
        for each in mistakes:
            classes = self.classes[each.right], self.classes[each.predicted]
            yield self.listed(each.sample, batches.dataset), *classes, f"{each.probability:.4f}"

    def listed(self, sample: int, samples: Dataset) -> Any:
        """Return the text or number that identifies a test sample in the table of mistakes."""
        return sample

    @abstractmethod
    def read_input(self, text: str) -> Tensor:
        """Convert a text from the user to an input of the network; see `predict`."""

    def predict(self, network: Module, text: str) -> str:
        """Return the most probable classes of a sample.

        Raises:
            InputError: the scores are nan, because the input or a parameter is too large.
        """
        with no_grad():
            scores: Tensor = network(self.read_input(text)[None])
        probabilities = softmax(scores[0], 0).tolist()
        if not all(map(math.isfinite, probabilities)):
            raise InputError(
                "the scores of the network are nan: the input is too large, or the network was "
                "trained with too high a --lr."
            )
        best = sorted(range(len(probabilities)), key=lambda each: -probabilities[each])[:3]
        return ", ".join(f"{self.classes[each]} {100 * probabilities[each]:.1f} %" for each in best)


@no_grad()
def predictions(scores: Tensor, labels: Tensor) -> list[Prediction]:
    """Return the predictions for samples, given scores (samples, classes) and true classes."""
    probabilities = softmax(scores, 1)
    predicted = probabilities.argmax(1).tolist()
    each = zip(labels.tolist(), predicted, probabilities.amax(1).tolist(), strict=True)
    return [Prediction(index, *prediction) for index, prediction in enumerate(each)]


def mistakes_of(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Return the wrong predictions, in order of decreasing probability."""
    wrong = [each for each in predictions if each.right != each.predicted]
    return sorted(wrong, key=lambda each: -each.probability)
