"""LeNet while it learns digits: what the training reports, and what its network makes of an image.

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
from mt_nn.data import Dataset
from mt_nn.jobs.classification import Answer, answers, mistakes_of
from mt_nn.jobs.command.training import trainer_of
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.job import Settings
from mt_nn.train.trainer import Callback, Trainer
from mt_operators import Module
from mt_tensor.extending import Array

RECIPE = Digits.models["lenet"]
DIVERGED = 1000.0
"""A loss of so much is no chance: somebody who guesses one of ten classes has 2.3."""


@dataclass(frozen=True)
class Snapshot:
    """How far a training is.

    Attributes:
        losses: of every batch until then; they grow while the training goes on.
        rows: of the history, one for each epoch; they grow, too.
        network: as it was then, to evaluate.
        mistakes: what it took for something else in the validation after the last epoch, the surest
            first; None before.
    """

    losses: Sequence[float]
    rows: Sequence[Mapping[str, Any]]
    network: Module
    mistakes: Sequence[Answer] | None


@dataclass(frozen=True)
class Training:
    """How to train.

    Attributes:
        lr: the highest learning rate.
        epochs: how often each image is seen.
        seed: what random numbers begin with.
    """

    lr: float = RECIPE.lr
    epochs: int = RECIPE.epochs
    seed: int = 0

    def job(self) -> Digits:
        """Return what is learnt."""
        return Digits(Settings("lenet", self.epochs, RECIPE.batch_size, self.lr, self.seed, ""))

    def learn(self, report: Callable[[Snapshot], None]) -> None:
        """Train, and report after each batch.

        Raises:
            ValueError: training diverged.
        """
        mt.manual_seed(self.seed)
        job = self.job()
        parts = job.read()
        trainer = trainer_of(job, parts, [_Reporter(parts.validation.dataset, report)])
        trainer.fit(parts.training, self.epochs, parts.validation)


class _Reporter(Callback):
    """Reports what a trainer does."""

    def __init__(self, validation: Dataset, report: Callable[[Snapshot], None]) -> None:
        self._validation = validation
        self._report = report
        self._mistakes: Sequence[Answer] | None = None

    def on_batch_end(self, trainer: Trainer) -> None:
        """Report, unless there is nothing to hope for."""
        self._tell(trainer)
        loss = trainer.history.losses[-1]
        if not (math.isfinite(loss) and loss < DIVERGED):
            raise ValueError(
                f"training diverged in epoch {trainer.epoch + 1}, where the loss is {loss:.4g}: "
                "take a smaller learning rate."
            )

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Look at the mistakes, and report."""
        images, labels = stacked(self._validation)
        said = answers(trainer.predict([mt.tensor(images)]), mt.tensor(labels))
        self._mistakes = mistakes_of(said)
        self._tell(trainer)

    def _tell(self, trainer: Trainer) -> None:
        history, network = trainer.history, copy.deepcopy(trainer.model)
        network.eval()
        self._report(Snapshot(history.losses, history.rows, network, self._mistakes))


def stacked(samples: Dataset) -> tuple[Array, Array]:
    """Return all images of a data set, shape (images, 1, height, width), and their classes."""
    images, labels = zip(*(samples[i] for i in range(len(samples))), strict=True)
    return np.stack([np.asarray(each) for each in images]), np.array([int(each) for each in labels])


@cache
def validation() -> tuple[Array, Array]:
    """Return the images that are held out for the validation, and their classes."""
    return stacked(Training().job().read().validation.dataset)


@dataclass(frozen=True)
class Seen:
    """What a network makes of an image on the way.

    Attributes:
        first, second: what each channel of the two convolutions has after relu, of shape
            (channels, height, width).
        shares: the probability of each class.
    """

    first: Array
    second: Array
    shares: Array


def see(network: Any, image: Array) -> Seen:
    """Return what a LeNet makes of an image, shape (1, height, width)."""
    with mt.no_grad():
        values = mt.tensor(image[None])
        on_the_way = []
        for layer in network.features:
            values = layer(values)
            on_the_way.append(np.asarray(values))
        scores = network.classifier(values)[0]
        shares = np.asarray(scores.softmax(0), np.float64)
    return Seen(on_the_way[1][0], on_the_way[3][0], shares)


def filters(network: Any) -> Array:
    """Return the kernels of the first convolution, of shape (channels, height, width)."""
    kernels: Array = network.features[0].weight.detach().numpy()
    return kernels[:, 0]
