"""Training of a network of tensors on points of the plane, with one step per epoch.

This is the training of stage 1, with one graph for all points instead of one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import mt_tensor as mt
from mt_autodiff.examples.training import Epoch, run_epochs
from mt_operators import Module, Parameter
from mt_operators.datasets import Dataset
from mt_tensor import Tensor, no_grad


def as_tensors(dataset: Dataset) -> tuple[Tensor, Tensor]:
    """Return the points, shape (N, 2), and their classes, shape (N,), as float32.

    Raises:
        ValueError: there are no points.
    """
    if not len(dataset):
        raise ValueError("a network cannot be trained on an empty data set; add points.")
    return mt.tensor(dataset.X, dtype="float32"), mt.tensor(dataset.y, dtype="float32")


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of `-log(p)`, where `sigmoid(score)` assigns the probability p to the class.

    Written with softplus, it never takes the logarithm of a probability that underflowed to 0.

    Args:
        scores: the scores, shape (batch,).
        labels: the classes, 0 or 1, of the same shape.
    """
    signed = (1.0 - 2.0 * labels) * scores  # positive on the wrong side
    return signed.softplus().mean()


class GradientDescent:
    """Gradient descent with momentum.

    Args:
        parameters: the parameters to train; each holds a tensor.
        momentum: the fraction of the previous step that is added to the next.
    """

    def __init__(self, parameters: Iterable[Parameter], momentum: float = 0.9) -> None:
        self.tensors: list[Tensor] = [parameter.value for parameter in parameters]
        self.momentum = momentum
        self.steps = [mt.zeros_like(tensor) for tensor in self.tensors]

    def zero_grad(self) -> None:
        """Reset the gradients, which `backward` would otherwise add to."""
        for tensor in self.tensors:
            tensor.grad = None

    @no_grad()
    def step(self, rate: float) -> None:
        """Change every tensor in place by `-rate` times its gradient, with momentum."""
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
    """Train a network by gradient descent on the current backend.

    Args:
        network: maps points to their scores.
        dataset: the points.
        epochs: the number of steps.
        rate: the learning rate.
        momentum: the fraction of the previous step that is added to the next.
        report: called after each epoch.

    Returns:
        The results of each epoch, before its step.

    Raises:
        ValueError: the data set is empty, there are no epochs, the rate is not finite, or training
            diverged.
    """
    points, labels = as_tensors(dataset)
    optimizer = GradientDescent(network.parameters(), momentum)
    return run_epochs(
        lambda: one_epoch(network, points, labels, optimizer, rate),
        lambda: all(tensor.isfinite().all() for tensor in optimizer.tensors),
        epochs,
        rate,
        report,
    )


def one_epoch(
    network: Module, points: Tensor, labels: Tensor, optimizer: GradientDescent, rate: float
) -> tuple[float, float]:
    """Take one step with the gradient of the mean loss.

    Returns:
        The loss and the fraction of points that were classified correctly, before the step.
    """
    optimizer.zero_grad()
    scores = network(points)
    loss = cross_entropy(scores, labels)
    loss.backward()
    optimizer.step(rate)
    return loss.item(), _fraction_correct(scores, labels)


def _fraction_correct(scores: Tensor, labels: Tensor) -> float:
    """Return the fraction of the scores whose sign is that of their class."""
    return float(((scores > 0.0) == labels.bool()).float().mean())


@no_grad()
def accuracy(network: Module, dataset: Dataset) -> float:
    """Return the fraction of the points that a network classifies correctly.

    Raises:
        ValueError: there are no points.
    """
    points, labels = as_tensors(dataset)
    return _fraction_correct(network(points), labels)
