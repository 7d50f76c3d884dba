"""The cross entropy of two samples with three classes; the second is far from correct."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

SCORES = [[2.0, -1.0, 0.5], [150.0, 0.0, 1.0]]
CLASSES = [0, 1]


def autodiff() -> tuple[Any, Any]:
    def entropy(table: Any) -> Any:
        first, second = (
            sum(score.exp() for score in row).log() - row[right]
            for row, right in zip(table, CLASSES, strict=True)
        )
        return (first + second) / 2.0

    return of_scalars(entropy, SCORES)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    right = mt.tensor(CLASSES).view(2, 1)
    return of_tensors(lambda scores: -scores.log_softmax(1).gather(1, right).mean(), SCORES)


def log_of_softmax() -> tuple[Any, Any]:
    import mt_tensor as mt

    scores = mt.tensor(SCORES, requires_grad=True)
    right = mt.tensor(CLASSES).view(2, 1)
    loss = -scores.softmax(1).log().gather(1, right).mean()
    loss.backward()
    return loss, scores.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    right = mt.tensor(CLASSES)
    return of_tensors(lambda scores: nn.functional.cross_entropy(scores, right), SCORES)


numpy = fast = nn


def reference() -> tuple[Any, Any]:
    import numpy as np

    scores = np.array(SCORES)
    powers = np.exp(scores)
    shares = powers / powers.sum(1, keepdims=True)
    losses = np.log(powers.sum(1)) - scores[[0, 1], CLASSES]
    return losses.mean(), (shares - np.eye(3)[CLASSES]) / 2.0
