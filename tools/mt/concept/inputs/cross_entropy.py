"""The cross entropy of two samples with three classes, of which the second is far from right."""

from typing import Any

SCORES = [[2.0, -1.0, 0.5], [150.0, 0.0, 1.0]]
CLASSES = [0, 1]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    table = [[Scalar(score) for score in row] for row in SCORES]
    losses = [
        sum((score.exp() for score in row), Scalar(0.0)).log() - row[right]
        for row, right in zip(table, CLASSES, strict=True)
    ]
    loss = sum(losses, Scalar(0.0)) / len(losses)
    loss.backward()
    return loss, [[score.grad for score in row] for row in table]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    scores = mt.tensor(SCORES, requires_grad=True)
    right = mt.tensor(CLASSES).view(2, 1)
    loss = -scores.log_softmax(1).gather(1, right).mean()
    loss.backward()
    return loss, scores.grad


def log_of_softmax() -> tuple[Any, Any]:
    import mt_tensor as mt

    scores = mt.tensor(SCORES, requires_grad=True)
    right = mt.tensor(CLASSES).view(2, 1)
    loss = -scores.softmax(1).log().gather(1, right).mean()
    loss.backward()
    return loss, scores.grad


def numpy() -> tuple[Any, Any]:
    return nn()


def fast() -> tuple[Any, Any]:
    return nn()


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    scores = mt.tensor(SCORES, requires_grad=True)
    loss = nn.functional.cross_entropy(scores, mt.tensor(CLASSES))
    loss.backward()
    return loss, scores.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    scores = np.array(SCORES)
    powers = np.exp(scores)
    shares = powers / powers.sum(1, keepdims=True)
    losses = np.log(powers.sum(1)) - scores[[0, 1], CLASSES]
    return losses.mean(), (shares - np.eye(3)[CLASSES]) / 2.0
