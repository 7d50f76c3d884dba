"""Metrics against scikit-learn, or against their formula, however samples come in batches."""

import math
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.train import (
    F1,
    Accuracy,
    ConfusionMatrix,
    Mean,
    Metric,
    Perplexity,
    Precision,
    Recall,
    TopKAccuracy,
)

RNG = np.random.default_rng(0)
SCORES = RNG.standard_normal((23, 5)).astype(np.float32)
RIGHT = RNG.integers(0, 4, 23)  # the last class never is
PREDICTED = SCORES.argmax(1)


def measured(metric: Metric, scores: Any = SCORES, right: Any = RIGHT) -> Any:
    """Return a metric over batches of several sizes, half of them after a checkpoint."""
    metric.update(mt.tensor(scores[:3]), mt.tensor(right[:3]))
    metric.reset()
    for start, stop in ((0, 9), (9, 9), (9, 10)):
        metric.update(mt.tensor(scores[start:stop]), mt.tensor(right[start:stop]))
    state = metric.state_dict()
    metric.reset()
    metric.load_state_dict(state)
    metric.update(mt.tensor(scores[10:]), mt.tensor(right[10:]))
    return metric.compute()


def test_accuracy_and_confusion_matrix() -> None:
    ours = measured(ConfusionMatrix(5))
    counted = np.zeros((5, 5), int)
    np.add.at(counted, (RIGHT, PREDICTED), 1)
    np.testing.assert_array_equal(ours, counted)
    assert measured(Accuracy()) == (RIGHT == PREDICTED).mean()
    best = np.argsort(-SCORES, axis=1)[:, :3]
    assert measured(TopKAccuracy(3)) == (best == RIGHT[:, None]).any(1).mean()
    assert measured(TopKAccuracy(9)) == 1


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_precision_recall_and_f1(average: Any) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    theirs = sklearn.precision_recall_fscore_support(
        RIGHT, PREDICTED, labels=range(5), average=average, zero_division=0
    )
    for kind, value in zip((Precision, Recall, F1), theirs, strict=False):
        np.testing.assert_allclose(measured(kind(5, average)), value, rtol=1e-12)


def test_means_over_samples() -> None:
    shifted = SCORES.astype(float) - SCORES.max(1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(1)) - shifted[np.arange(23), RIGHT]
    assert measured(Perplexity()) == pytest.approx(np.exp(losses.mean()), rel=1e-5)
    mean = Mean(nn.functional.cross_entropy)
    mean.update(mt.tensor(SCORES[:20]), mt.tensor(RIGHT[:20]))
    mean.update(mt.tensor(SCORES[20:]), mt.tensor(RIGHT[20:]))
    assert mean.compute() == pytest.approx(losses.mean(), rel=1e-5)
    several = Mean(lambda output, target: 2.0)
    several.update(mt.zeros(()), mt.zeros(()))
    assert several.compute() == 2


def test_pixels_count_as_samples() -> None:
    scores, right = RNG.standard_normal((2, 5, 3, 4)), RNG.integers(0, 5, (2, 3, 4))
    metric = Accuracy()
    metric.update(mt.tensor(scores), mt.tensor(right))
    assert metric.compute() == (scores.argmax(1) == right).mean()


def test_ties_go_to_the_first_class_and_nan_is_wrong() -> None:
    metric = Accuracy()
    metric.update(mt.tensor([[1.0, 1.0], [1.0, 1.0]]), mt.tensor([0, 1]))
    metric.update(mt.tensor([[math.nan, 1.0], [0.0, 1.0]]), mt.tensor([0, 5]))
    assert metric.compute() == 0.25


@pytest.mark.parametrize("make", [Accuracy, Perplexity, lambda: F1(3)])
def test_metrics_without_samples_are_nan(make: Any) -> None:
    assert math.isnan(make().compute())
    assert ConfusionMatrix(2).compute().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("metric", "scores", "right", "message"),
    [
        (Accuracy(), mt.zeros(3), mt.tensor([1, 2, 0]), "Accuracy takes scores of shape"),
        (Accuracy(), mt.zeros(3, 2), mt.tensor([1, 2]), r"\(3, 2\) and \(2,\)"),
        (Accuracy(), mt.zeros(1, 2), mt.zeros(1), "integer classes; float32"),
        (F1(3), mt.zeros(1, 2), mt.tensor([0]), "F1 of 3 classes was given scores of 2"),
        (F1(3), mt.zeros(1, 3), mt.tensor([3]), "was given classes from 3 to 3"),
        (Perplexity(), mt.zeros(1, 3), mt.zeros(1), "class indices of int64"),
    ],
)
def test_invalid_outputs_and_targets(metric: Any, scores: Any, right: Any, message: str) -> None:
    with pytest.raises(nn.InputError, match=message):
        metric.update(scores, right)
    assert metric.state_dict() == {}


def test_bad_settings() -> None:
    with pytest.raises(nn.SettingError, match="k must be a positive integer"):
        TopKAccuracy(0)
    with pytest.raises(nn.SettingError, match="classes must be a positive integer"):
        ConfusionMatrix(0)
    with pytest.raises(nn.SettingError, match="average must be 'macro'"):
        Precision(3, "mean")  # type: ignore[arg-type]
