"""Metrics against their formula in NumPy, over batches of several sizes."""

import math
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.train import Accuracy, ConfusionMatrix, Mean, Metric

RNG = np.random.default_rng(0)
SCORES = RNG.standard_normal((23, 5)).astype(np.float32)
TARGETS = RNG.integers(0, 4, 23)  # the last class does not occur
PREDICTED = SCORES.argmax(1)


def evaluate(metric: Metric, scores: Any = SCORES, targets: Any = TARGETS) -> Any:
    """Return a metric over batches of several sizes, saving and loading its state in between."""
    metric.update(mt.tensor(scores[:3]), mt.tensor(targets[:3]))
    metric.reset()
    for start, stop in ((0, 9), (9, 9), (9, 10)):
        metric.update(mt.tensor(scores[start:stop]), mt.tensor(targets[start:stop]))
    state = metric.state_dict()
    metric.reset()
    metric.load_state_dict(state)
    metric.update(mt.tensor(scores[10:]), mt.tensor(targets[10:]))
    return metric.compute()


def test_accuracy_and_confusion_matrix_match_numpy() -> None:
    actual = evaluate(ConfusionMatrix(5))
    expected = np.zeros((5, 5), int)
    np.add.at(expected, (TARGETS, PREDICTED), 1)
    np.testing.assert_array_equal(actual, expected)
    assert evaluate(Accuracy()) == (TARGETS == PREDICTED).mean()
    best = np.argsort(-SCORES, axis=1)[:, :3]
    assert evaluate(Accuracy(3)) == (best == TARGETS[:, None]).any(1).mean()
    assert evaluate(Accuracy(9)) == 1


def test_mean_averages_over_samples() -> None:
    shifted = SCORES.astype(float) - SCORES.max(1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(1)) - shifted[np.arange(23), TARGETS]
    mean = Mean(nn.functional.cross_entropy)
    mean.update(mt.tensor(SCORES[:20]), mt.tensor(TARGETS[:20]))
    mean.update(mt.tensor(SCORES[20:]), mt.tensor(TARGETS[20:]))
    assert mean.compute() == pytest.approx(losses.mean(), rel=1e-5)
    constant = Mean(lambda output, target: 2.0)
    constant.update(mt.zeros(()), mt.zeros(()))
    assert constant.compute() == 2


def test_accuracy_counts_pixels_as_samples() -> None:
    scores, targets = RNG.standard_normal((2, 5, 3, 4)), RNG.integers(0, 5, (2, 3, 4))
    metric = Accuracy()
    metric.update(mt.tensor(scores), mt.tensor(targets))
    assert metric.compute() == (scores.argmax(1) == targets).mean()


def test_accuracy_takes_first_of_ties_and_counts_nan_as_wrong() -> None:
    metric = Accuracy()
    metric.update(mt.tensor([[1.0, 1.0], [1.0, 1.0]]), mt.tensor([0, 1]))
    metric.update(mt.tensor([[math.nan, 1.0], [0.0, 1.0]]), mt.tensor([0, 5]))
    assert metric.compute() == 0.25


def test_metric_without_samples_is_nan() -> None:
    assert math.isnan(Accuracy().compute())
    assert math.isnan(Mean(nn.functional.cross_entropy).compute())
    assert ConfusionMatrix(2).compute().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("metric", "scores", "targets", "message"),
    [
        (Accuracy(), mt.zeros(3), mt.tensor([1, 2, 0]), "Accuracy takes scores of shape"),
        (Accuracy(), mt.zeros(3, 2), mt.tensor([1, 2]), r"\(3, 2\) and \(2,\)"),
        (Accuracy(), mt.zeros(1, 2), mt.zeros(1), "integer classes; float32"),
        (ConfusionMatrix(3), mt.zeros(1, 2), mt.tensor([0]), "takes 3 scores per sample; 2"),
        (ConfusionMatrix(3), mt.zeros(1, 3), mt.tensor([3]), "was given classes from 3 to 3"),
    ],
)
def test_update_with_invalid_scores_or_targets_raises(
    metric: Any, scores: Any, targets: Any, message: str
) -> None:
    with pytest.raises(nn.InputError, match=message):
        metric.update(scores, targets)
    assert metric.state_dict() == {}


def test_invalid_setting_raises() -> None:
    with pytest.raises(nn.SettingError, match="k must be a positive integer"):
        Accuracy(0)
    with pytest.raises(nn.SettingError, match="classes must be a positive integer"):
        ConfusionMatrix(0)
