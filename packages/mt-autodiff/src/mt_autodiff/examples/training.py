"""Training a network of Scalars on points of the plane, one pass over all points a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mt_autodiff.core.mode import no_grad
from mt_autodiff.core.scalar import Scalar
from mt_autodiff.examples.network import class_of
from mt_operators import Module, Parameter
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


class GradientDescent:
    """Gradient descent with momentum.

    Args:
        parameters: what to train; each holds a Scalar.
        momentum: how much of the last step is taken again.
    """

    def __init__(self, parameters: Iterable[Parameter], momentum: float = 0.9) -> None:
        self.parameters = list(parameters)
        self.momentum = momentum
        self.steps = [0.0] * len(self.parameters)

    def zero_grad(self) -> None:
        """Forget the derivatives, which `backward` would add to."""
        for parameter in self.parameters:
            parameter.value.derivative = None

    def step(self, rate: float) -> None:
        """Move every parameter against its derivative, in place, `rate` times as far."""
        for index, parameter in enumerate(self.parameters):
            scalar = parameter.value
            gradient = scalar.derivative or 0.0
            self.steps[index] = self.momentum * self.steps[index] - rate * gradient
            scalar.data += self.steps[index]


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
    rate: float | Callable[[int], float],
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
        rate: how far to step, or a function that tells so from the number of the epoch.
        loss: how wrong a score is.
        penalty: what the sum of all squared parameters is multiplied with and added to the loss.
        momentum: how much of each step is taken again in the next.
        report: called after each epoch.

    Raises:
        ValueError: the data set is empty, there are no epochs, a rate is not finite, or training
            diverged.
    """
    if not len(dataset):
        raise ValueError("there is nothing to learn from an empty data set: give it points.")
    if epochs < 1:
        raise ValueError(f"training takes 1 epoch or more; {epochs} were given.")
    optimizer = GradientDescent(network.parameters(), momentum)
    history = []
    for number in range(1, epochs + 1):
        step = rate(number) if callable(rate) else rate
        if not math.isfinite(step):
            raise ValueError(f"a rate is a finite number; epoch {number} was given {step}.")
        optimizer.zero_grad()
        total, right = _backward(network, dataset, loss)
        total += _backward_of_penalty(optimizer.parameters, penalty)
        history.append(Epoch(number, total, right))
        report(history[-1])
        optimizer.step(step)
        _check_converging(number, total, optimizer.parameters)
    return history


def _backward(network: Module, dataset: Dataset, loss: Loss) -> tuple[float, float]:
    """Accumulate the derivatives of the mean loss, and return it with the accuracy."""
    total, right = 0.0, 0
    for point, label in dataset:
        score = network(point)
        share = loss(score, label) / len(dataset)
        share.backward()  # each point adds to the derivatives, and its graph is freed
        total += share.data
        right += (score.data > 0.0) == bool(label)
    return total, right / len(dataset)


def _backward_of_penalty(parameters: list[Parameter], penalty: float) -> float:
    """Accumulate the derivatives of the penalty, and return it."""
    total = 0.0
    for parameter in parameters if penalty else ():
        share = penalty * parameter.value.square()
        share.backward()
        total += share.data
    return total


def _check_converging(epoch: int, loss: float, parameters: list[Parameter]) -> None:
    """Raise a ValueError if the loss of an epoch, or a parameter after its step, has no bound."""
    if not (loss < 1e6 and all(math.isfinite(parameter.value.data) for parameter in parameters)):
        raise ValueError(
            f"training diverged in epoch {epoch}, with a loss of {loss:g}: take a smaller rate."
        )


def accuracy(network: Module, dataset: Dataset) -> float:
    """Return the share of the points that a network classifies right.

    Raises:
        ValueError: there are no points.
    """
    if not len(dataset):
        raise ValueError("an empty data set has no accuracy: give it points.")
    with no_grad():
        return sum(class_of(network, x) == label for x, label in dataset) / len(dataset)
