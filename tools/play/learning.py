"""Scalars that learn points of the plane: what a training reports, and the boundary in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import mt_tensor as mt
from mt_autodiff.examples.network import Network
from mt_autodiff.examples.training import Epoch, train
from mt_operators.datasets import Dataset
from mt_tensor.extending import Array
from play.plane import grid


@dataclass(frozen=True)
class Progress:
    """How far a training is.

    Attributes:
        task: what is learned.
        history: all epochs until now; it grows while the training goes on.
        parameters: what those of the network are worth, in the order of the network.
    """

    task: Task
    history: Sequence[Epoch]
    parameters: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """What is learned, by which network, and how.

    Attributes:
        dataset: the points.
        hidden: the widths of the layers between.
        rate: how far to step.
        epochs: how many steps to take.
    """

    dataset: Dataset
    hidden: tuple[int, ...]
    rate: float
    epochs: int

    def learn(self, report: Callable[[Progress], None]) -> None:
        """Train, and report after each epoch.

        Raises:
            ValueError: training diverged.
        """
        network = Network(hidden=self.hidden)
        parameters = list(network.parameters())
        history: list[Epoch] = []

        def tell(epoch: Epoch) -> None:
            history.append(epoch)
            report(Progress(self, history, tuple(each.value.data for each in parameters)))

        train(network, self.dataset, self.epochs, self.rate, report=tell)

    def scores(self, parameters: Sequence[float], x1: Array, x2: Array) -> Array:
        """Return the scores of many points at once, as float64 of their shape.

        A network asks its inputs what it needs, so that it also takes whole arrays of them.
        """
        network = Network(hidden=self.hidden)
        for parameter, value in zip(network.parameters(), parameters, strict=True):
            parameter.update(value)
        return np.asarray(network((mt.tensor(x1), mt.tensor(x2))))

    def boundary(self, parameters: Sequence[float], cells: int) -> tuple[Array, list[int]]:
        """Return the scores of the plane, and the classes that the points are given.

        Args:
            parameters: of the network.
            cells: how many there are each way.
        """
        points = np.array(self.dataset.X).T
        classes = self.scores(parameters, points[0], points[1]) > 0.0
        return self.scores(parameters, *grid(self.dataset, cells)), classes.astype(int).tolist()
