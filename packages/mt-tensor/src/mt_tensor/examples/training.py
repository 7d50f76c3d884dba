"""Training a network of tensors on points of the plane, all points in one step.

It is the training of stage 1 once more. There each point has a history of its own; here there is
one for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import mt_tensor as mt
from mt_autodiff.examples.training import Epoch
from mt_operators import Module, Parameter
from mt_operators.datasets import Dataset
from mt_tensor import Tensor, no_grad


def as_tensors(dataset: Dataset) -> tuple[Tensor, Tensor]:
    """Return the points, shape (N, 2), and their classes, shape (N,), as float32.

    Raises:
        ValueError: there are no points.
    """
    if not len(dataset):
        raise ValueError("there is nothing to learn from an empty data set: give it points.")
    return mt.tensor(dataset.X, dtype="float32"), mt.tensor(dataset.y, dtype="float32")


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of `-log(p)` of the probability that `sigmoid(score)` gives to the class.

    With softplus it needs no logarithm of a number that may have become 0.

    Args:
        scores: shape (batch,).
        labels: the class of each, 0 or 1, of the same shape.
    """
    away = (1.0 - 2.0 * labels) * scores  # how far a score lies on the wrong side
    return away.softplus().mean()


class GradientDescent:
    """Gradient descent with momentum.

    Args:
        parameters: what to train; each holds a tensor.
        momentum: how much of the last step is taken again.
    """

    def __init__(self, parameters: Iterable[Parameter], momentum: float = 0.9) -> None:
        self.tensors: list[Tensor] = [parameter.value for parameter in parameters]
        self.momentum = momentum
        self.steps = [mt.zeros_like(tensor) for tensor in self.tensors]

    def zero_grad(self) -> None:
        """Forget the gradients, which `backward` would add to."""
        for tensor in self.tensors:
            tensor.grad = None

    @no_grad()
    def step(self, rate: float) -> None:
        """Move every tensor against its gradient, in place, `rate` times as far."""
        for tensor, step in zip(self.tensors, self.steps, strict=True):
            step.mul_(self.momentum)
            if tensor.grad is not None:
                step.sub_(rate * tensor.grad)
            tensor.add_(step)


def train(
    network: Module,
    dataset: Dataset,
    epochs: int,
    rate: float,
    *,
    momentum: float = 0.9,
    report: Callable[[Epoch], object] = lambda epoch: None,
) -> list[Epoch]:
    """Train a network by gradient descent, on the backend that is current.

    Args:
        network: from points to their scores.
        dataset: the points.
        epochs: how many steps to take.
        rate: how far to step.
        momentum: how much of each step is taken again in the next.
        report: called after each epoch.

    Returns:
        What each epoch gave, before its step.

    Raises:
        ValueError: the data set is empty, there are no epochs, the rate is not finite, or training
            diverged.
    """
    if epochs < 1 or not math.isfinite(rate):
        raise ValueError(
            f"training takes 1 epoch or more, and a finite rate; {epochs} and {rate} were given."
        )
    points, labels = as_tensors(dataset)
    optimizer = GradientDescent(network.parameters(), momentum)
    history = []
    for number in range(1, epochs + 1):
        loss, right = one_epoch(network, points, labels, optimizer, rate)
        history.append(Epoch(number, loss, right))
        report(history[-1])
        _check_converging(history[-1], optimizer.tensors)
    return history


def one_epoch(
    network: Module, points: Tensor, labels: Tensor, optimizer: GradientDescent, rate: float
) -> tuple[float, float]:
    """Take one step that all points agree on.

    Returns:
        The loss and the share of points that were classified right, both before the step.
    """
    optimizer.zero_grad()
    scores = network(points)
    loss = cross_entropy(scores, labels)
    loss.backward()
    optimizer.step(rate)
    return loss.item(), _share_of_right(scores, labels)


def _share_of_right(scores: Tensor, labels: Tensor) -> float:
    """Return how many scores, of all, are on the side of their class."""
    return float(((scores > 0.0) == labels.bool()).float().mean())


def _check_converging(epoch: Epoch, tensors: Iterable[Tensor]) -> None:
    """Raise ValueError if the loss of an epoch, or a tensor after its step, has no bound."""
    if not (epoch.loss < 1e6 and all(tensor.isfinite().all() for tensor in tensors)):
        raise ValueError(
            f"training diverged in epoch {epoch.number}, with a loss of {epoch.loss:g}: take a "
            "smaller rate."
        )


@no_grad()
def accuracy(network: Module, dataset: Dataset) -> float:
    """Return the share of the points that a network classifies right.

    Raises:
        ValueError: there are no points.
    """
    points, labels = as_tensors(dataset)
    return _share_of_right(network(points), labels)
