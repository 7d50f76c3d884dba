"""Train a network of Scalars on points of the plane, with progress reports and the boundary."""

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
    """The state of a training.

    Attributes:
        task: what is trained.
        history: all epochs so far; the list grows during training.
        parameters: the values of the parameters, in the order of the network.
    """

    task: Task
    history: Sequence[Epoch]
    parameters: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """A training task: data, network and settings.

    Attributes:
        dataset: the points.
        hidden: the widths of the hidden layers.
        rate: the learning rate.
        epochs: the number of steps.
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

        The network accepts whole arrays as well, because its operators dispatch on their arguments.
        """
        network = Network(hidden=self.hidden)
        for parameter, value in zip(network.parameters(), parameters, strict=True):
            parameter.update(value)
        return np.asarray(network((mt.tensor(x1), mt.tensor(x2))))

    def boundary(self, parameters: Sequence[float], cells: int) -> tuple[Array, list[int]]:
        """Return the scores on a grid of the plane, and the predicted classes of the points.

        Args:
            parameters: the parameters of the network.
            cells: the number of cells in each direction.
        """
        points = np.array(self.dataset.X).T
        classes = self.scores(parameters, points[0], points[1]) > 0.0
        return self.scores(parameters, *grid(self.dataset, cells)), classes.astype(int).tolist()
