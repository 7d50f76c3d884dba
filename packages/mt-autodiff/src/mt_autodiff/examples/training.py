"""Train a network of Scalars on points in the plane, with one step per epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mt_autodiff.core.mode import no_grad
from mt_autodiff.core.scalar import Scalar
from mt_autodiff.examples.network import class_of
from mt_operators import Module, Parameter
from mt_operators.datasets import Dataset


def cross_entropy(score: Scalar, label: int) -> Scalar:
    """Return `-log(p)` of the probability p that `sigmoid(score)` assigns to the class.

    Written with softplus, it never takes the logarithm of a probability that underflowed to 0.
    """
    return (-score if label else score).softplus()


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
        loss: the mean loss.
        accuracy: the fraction of points that were classified correctly.
    """

    number: int
    loss: float
    accuracy: float


def train(
    network: Module,
    dataset: Dataset,
    epochs: int,
    rate: float,
    *,
    momentum: float = 0.9,
    report: Callable[[Epoch], object] = lambda epoch: None,
) -> list[Epoch]:
    """Train a network by gradient descent.

    Args:
        network: maps a point to its score.
        dataset: the points.
        epochs: the number of steps.
        rate: the learning rate.
        momentum: the fraction of the previous step that is added to the next.
        report: called after each epoch.

    Returns:
        The loss and the accuracy of each epoch, before its step.

    Raises:
        ValueError: the data set is empty, there are no epochs, the rate is not finite, or training
            diverged.
    """
    if not len(dataset):
        raise ValueError("train() needs at least one point; the data set is empty.")
    optimizer = GradientDescent(network.parameters(), momentum)

    def one_epoch() -> tuple[float, float]:
        optimizer.zero_grad()
        results = _backward(network, dataset)
        optimizer.step(rate)
        return results

    def is_finite() -> bool:
        return all(math.isfinite(parameter.value.data) for parameter in optimizer.parameters)

    return run_epochs(one_epoch, is_finite, epochs, rate, report)


def run_epochs(
    one_epoch: Callable[[], tuple[float, float]],
    is_finite: Callable[[], object],
    epochs: int,
    rate: float,
    report: Callable[[Epoch], object],
) -> list[Epoch]:
    """Run the epochs of `train`, and check that the training converges.

    Args:
        one_epoch: takes a step, and returns the loss and the accuracy before it.
        is_finite: returns whether all parameters are finite.
        epochs: the number of steps.
        rate: the learning rate.
        report: called after each epoch.

    Raises:
        ValueError: there are no epochs, the rate is not finite, or training diverged.
    """
    if epochs < 1 or not math.isfinite(rate):
        raise ValueError(
            f"train() takes at least 1 epoch and a finite rate, got {epochs} and {rate}."
        )
    history = []
    for number in range(1, epochs + 1):
        loss, right = one_epoch()
        history.append(Epoch(number, loss, right))
        report(history[-1])
        if not (loss < 1e6 and is_finite()):
            raise ValueError(
                f"training diverged in epoch {number} with a loss of {loss:g}; use a smaller rate."
            )
    return history


def _backward(network: Module, dataset: Dataset) -> tuple[float, float]:
    """Accumulate the derivatives of the mean loss, and return the loss and the accuracy."""
    total, right = 0.0, 0
    for point, label in dataset:
        score = network(point)
        loss = cross_entropy(score, label) / len(dataset)
        loss.backward()  # each point adds to the derivatives, and its graph is freed
        total += loss.data
        right += (score.data > 0.0) == bool(label)
    return total, right / len(dataset)


def print_every(count: int) -> Callable[[Epoch], None]:
    """Return a function that prints a line for the first epoch and for every `count`-th one."""

    def report(epoch: Epoch) -> None:
        if epoch.number == 1 or epoch.number % count == 0:
            print(f"epoch {epoch.number:4}  loss {epoch.loss:.4f}  accuracy {epoch.accuracy:4.0%}")

    return report


def accuracy(network: Module, dataset: Dataset) -> float:
    """Return the fraction of the points that a network classifies correctly.

    Raises:
        ValueError: there are no points.
    """
    if not len(dataset):
        raise ValueError("accuracy() needs at least one point; the data set is empty.")
    with no_grad():
        return sum(class_of(network, x) == label for x, label in dataset) / len(dataset)
