"""Train LeNet on digits, with progress reports, and compute its activations for an image.

Data, network and training are those of `mt-train digits`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_nn.jobs.classification import Prediction, mistakes_of, predictions
from mt_nn.jobs.command.training import trainer_of
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.job import Settings
from mt_nn.train.trainer import Callback, Trainer
from mt_operators import Module
from mt_tensor.extending import Array

RECIPE = Digits.models["lenet"]
DIVERGED = 1000.0
"""A loss that counts as divergence; guessing one of ten classes has 2.3."""


@dataclass(frozen=True)
class Snapshot:
    """The state of a training run.

    Attributes:
        losses: the loss of every batch so far; the list grows during training.
        rows: the rows of the history, one per epoch; the list grows, too.
        network: a copy of the network at that time, in evaluation mode.
        mistakes: the misclassified images of the validation after the last epoch, by confidence;
            None before.
    """

    losses: Sequence[float]
    rows: Sequence[Mapping[str, Any]]
    network: Module
    mistakes: Sequence[Prediction] | None


@dataclass(frozen=True)
class Training:
    """The settings of a training run.

    Attributes:
        lr: the maximum learning rate.
        epochs: the number of epochs.
        seed: the random seed.
    """

    lr: float = RECIPE.lr
    epochs: int = RECIPE.epochs
    seed: int = 0

    def job(self) -> Digits:
        """Return the job."""
        return Digits(Settings("lenet", self.epochs, RECIPE.batch_size, self.lr, self.seed, ""))

    def learn(self, report: Callable[[Snapshot], None]) -> None:
        """Train, and report after each batch.

        Raises:
            ValueError: training diverged.
        """
        mt.manual_seed(self.seed)
        job = self.job()
        parts = job.read()
        trainer = trainer_of(job, parts, [_Reporter(report)])
        trainer.fit(parts.training, self.epochs, parts.validation)


class _Reporter(Callback):
    """Report the progress of a trainer."""

    def __init__(self, report: Callable[[Snapshot], None]) -> None:
        self._report = report
        self._mistakes: Sequence[Prediction] | None = None

    def on_batch_end(self, trainer: Trainer) -> None:
        """Report, and end the training if it has diverged."""
        self._send(trainer)
        loss = trainer.history.losses[-1]
        if not (math.isfinite(loss) and loss < DIVERGED):
            raise ValueError(
                f"training diverged in epoch {trainer.epoch + 1} with a loss of {loss:.4g}: "
                "choose a smaller learning rate."
            )

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Find the mistakes, and report."""
        images, labels = validation()
        predicted = predictions(trainer.predict([mt.tensor(images)]), mt.tensor(labels))
        self._mistakes = mistakes_of(predicted)
        self._send(trainer)

    def _send(self, trainer: Trainer) -> None:
        history, network = trainer.history, copy.deepcopy(trainer.model)
        network.eval()
        self._report(Snapshot(history.losses, history.rows, network, self._mistakes))


@cache
def validation() -> tuple[Array, Array]:
    """Return the validation images, shape (images, 1, height, width), and their classes."""
    samples = Training().job().read().validation.dataset
    images, labels = zip(*(samples[i] for i in range(len(samples))), strict=True)
    return np.stack([np.asarray(each) for each in images]), np.array([int(each) for each in labels])


def activations(network: Any, image: Array) -> tuple[Array, Array, Array]:
    """Return the activations of LeNet for an image, shape (1, height, width).

    Returns:
        The channels of the two convolutions after relu, of shape (channels, height, width); and
        the probability of each class.
    """
    with mt.no_grad():
        values = mt.tensor(image[None])
        on_the_way = []
        for layer in network.features:
            values = layer(values)
            on_the_way.append(np.asarray(values))
        scores = network.classifier(values)[0]
        shares = np.asarray(scores.softmax(0), np.float64)
    return on_the_way[1][0], on_the_way[3][0], shares


def filters(network: Any) -> Array:
    """Return the kernels of the first convolution, of shape (channels, height, width)."""
    return np.asarray(network.features[0].weight.detach())[:, 0]
