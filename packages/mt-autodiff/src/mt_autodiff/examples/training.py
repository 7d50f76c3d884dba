"""Training of a network of Scalars on points of the plane, with one step per epoch."""

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
"""A function that maps a score and the point's class to a loss."""


def cross_entropy(score: Scalar, label: int) -> Scalar:
    """Return `-log(p)` of the probability p that `sigmoid(score)` assigns to the class.

    Written with softplus, it never takes the logarithm of a probability that underflowed to 0.
    """
    return (-score if label else score).softplus()


def hinge(score: Scalar, label: int) -> Scalar:
    """Return how far a score is from being correct by a margin of 1."""
    side = 1.0 if label else -1.0
    return (1.0 - side * score).relu()


class GradientDescent:
    """Gradient descent with momentum.

    Args:
        parameters: the parameters to train; each holds a Scalar.
        momentum: the fraction of the previous step that is added to the next.
    """

    def __init__(self, parameters: Iterable[Parameter], momentum: float = 0.9) -> None:
        self.parameters = list(parameters)
        self.momentum = momentum
        self.steps = [0.0] * len(self.parameters)

    def zero_grad(self) -> None:
        """Reset the derivatives, which `backward` would otherwise add to."""
        for parameter in self.parameters:
            parameter.value.derivative = None

    def step(self, rate: float) -> None:
        """Change every parameter in place by `-rate` times its derivative, with momentum."""
        for index, parameter in enumerate(self.parameters):
            scalar = parameter.value
            gradient = scalar.derivative or 0.0
            self.steps[index] = self.momentum * self.steps[index] - rate * gradient
            scalar.data += self.steps[index]


@dataclass(frozen=True, slots=True)
class Epoch:
    """The results of one pass over the points, before its step.

    Attributes:
        number: the number of the epoch, from 1.
        loss: the mean loss plus the penalty.
        accuracy: the fraction of points that were classified correctly.
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
        network: maps a point to its score.
        dataset: the points.
        epochs: the number of steps.
        rate: the learning rate, or a function of the epoch number that returns it.
        loss: the loss of a score.
        penalty: the factor of the sum of all squared parameters in the loss.
        momentum: the fraction of the previous step that is added to the next.
        report: called after each epoch.

    Raises:
        ValueError: the data set is empty, there are no epochs, a rate is not finite, or training
            diverged.
    """
    if not len(dataset):
        raise ValueError("a network cannot be trained on an empty data set; add points.")
    if epochs < 1:
        raise ValueError(f"training takes at least 1 epoch, got {epochs}.")
    optimizer = GradientDescent(network.parameters(), momentum)
    history = []
    for number in range(1, epochs + 1):
        step = rate(number) if callable(rate) else rate
        if not math.isfinite(step):
            raise ValueError(f"the rate must be finite; it is {step} in epoch {number}.")
        optimizer.zero_grad()
        total, right = _backward(network, dataset, loss)
        total += _backward_of_penalty(optimizer.parameters, penalty)
        history.append(Epoch(number, total, right))
        report(history[-1])
        optimizer.step(step)
        _check_converging(number, total, optimizer.parameters)
    return history


def _backward(network: Module, dataset: Dataset, loss: Loss) -> tuple[float, float]:
    """Accumulate the derivatives of the mean loss, and return the loss and the accuracy."""
    total, right = 0.0, 0
    for point, label in dataset:
        score = network(point)
        share = loss(score, label) / len(dataset)
        share.backward()  # each point adds to the derivatives, and its graph is freed
        total += share.data
        right += (score.data > 0.0) == bool(label)
    return total, right / len(dataset)


def _backward_of_penalty(parameters: list[Parameter], penalty: float) -> float:
    """Accumulate the derivatives of the penalty, and return the penalty."""
    total = 0.0
    for parameter in parameters if penalty else ():
        share = penalty * parameter.value.square()
        share.backward()
        total += share.data
    return total


def _check_converging(epoch: int, loss: float, parameters: list[Parameter]) -> None:
    """Raise a ValueError if the loss is too large or a parameter is not finite."""
    if not (loss < 1e6 and all(math.isfinite(parameter.value.data) for parameter in parameters)):
        raise ValueError(
            f"training diverged in epoch {epoch} with a loss of {loss:g}; use a smaller rate."
        )


def accuracy(network: Module, dataset: Dataset) -> float:
    """Return the fraction of the points that a network classifies correctly.

    Raises:
        ValueError: there are no points.
    """
    if not len(dataset):
        raise ValueError("an empty data set has no accuracy; add points.")
    with no_grad():
        return sum(class_of(network, x) == label for x, label in dataset) / len(dataset)
