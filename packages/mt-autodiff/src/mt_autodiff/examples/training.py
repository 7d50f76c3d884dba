"""Training a network of Scalars on points of the plane, one pass over all points a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mt_autodiff.examples.network import SGD, classify
from mt_autodiff.mode import no_grad
from mt_autodiff.scalar import Scalar
from mt_operators import Module
from mt_operators.datasets import Dataset

Loss = Callable[[Scalar, int], Scalar]
"""From a score and the class of its point, how wrong the score is."""


def cross_entropy(score: Scalar, label: int) -> Scalar:
    """Return `-log(p)` of the probability that `sigmoid(score)` gives to the class.

    With softplus it needs no logarithm of a number that may have become 0.
    """
    return (-score if label else score).softplus()


def hinge(score: Scalar, label: int) -> Scalar:
    """Return how far a score is from being right by 1 or more."""
    side = 1.0 if label else -1.0
    return (1.0 - side * score).relu()


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one pass over the points gave, before its step.

    Attributes:
        number: from 1 on.
        loss: the mean over the points, with the penalty.
        accuracy: the share of points that were classified right.
    """

    number: int
    loss: float
    accuracy: float


def train(
    network: Module,
    dataset: Dataset,
    epochs: int,
    rate: Callable[[int], float],
    *,
    loss: Loss = cross_entropy,
    penalty: float = 0.0,
    momentum: float = 0.9,
    report: Callable[[Epoch], object] = lambda epoch: None,
) -> list[Epoch]:
    """Train a network by gradient descent.

    Args:
        network: from a point to its score.
        dataset: the points.
        epochs: how many steps to take.
        rate: from the number of the epoch, how far to step.
        loss: how wrong a score is.
        penalty: what the sum of all squared parameters is multiplied with and added to the loss.
        momentum: how much of each step is taken again in the next.
        report: called after each epoch.

    Raises:
        ValueError: the data set is empty, or training diverged.
    """
    if not len(dataset):
        raise ValueError("there is nothing to learn from an empty data set: give it points.")
    optimizer = SGD(network.parameters(), rate(1), momentum)
    history = []
    for number in range(1, epochs + 1):
        optimizer.zero_grad()
        right, total = 0, 0.0
        for point, label in dataset:
            score = network(point)
            share = loss(score, label) / len(dataset)
            share.backward()  # each point adds to the derivatives, and its graph is freed
            total += share.data
            right += (score.data > 0.0) == bool(label)
        for parameter in optimizer.parameters if penalty else ():
            share = penalty * parameter.value.square()
            share.backward()
            total += share.data
        history.append(Epoch(number, total, right / len(dataset)))
        report(history[-1])
        if total != total or total > 1e6:
            raise ValueError(
                f"training diverged in epoch {number}, with a loss of {total:g}: take a smaller "
                "rate."
            )
        optimizer.rate = rate(number)
        optimizer.step()
    return history


def accuracy(network: Module, dataset: Dataset) -> float:
    """Return the share of the points that a network classifies right."""
    with no_grad():
        return sum(classify(network, x) == label for x, label in dataset) / len(dataset)
