"""Tensors in pandas, scikit-learn and matplotlib, compared with tensors of torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

torch = pytest.importorskip("torch")
pandas = pytest.importorskip("pandas")
pyplot = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("sklearn")

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
LABELS = (X[:, 0] > 0).astype(np.int64)


def classify(x: Any, labels: Any) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import confusion_matrix

    model = LogisticRegression().fit(x, labels)
    return confusion_matrix(labels, model.predict(x)), model.coef_


def scale(x: Any, _: Any) -> Any:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(x)


def split(x: Any, labels: Any) -> Any:
    from sklearn.model_selection import train_test_split

    return train_test_split(x, labels, random_state=0)


def rendered(draw: Callable[[Any], Any]) -> Any:
    """Return the pixels of a figure on which a function draws."""
    figure, axes = pyplot.subplots()
    draw(axes)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba()).copy()
    pyplot.close(figure)
    return pixels


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "pandas: a frame of a matrix": lambda x, _: pandas.DataFrame(x, columns=list("abc")),
    "pandas: a frame of columns": lambda x, y: pandas.DataFrame({"a": x[:, 0], "b": y}),
    "pandas: counts": lambda _, y: pandas.Series(y).value_counts(),
    "scikit-learn: a classifier": classify,
    "scikit-learn: a scaler": scale,
    "scikit-learn: a split": split,
    "matplotlib: lines": lambda x, _: rendered(lambda axes: axes.plot(x[:, 0], x[:, 1])),
    "matplotlib: numbers": lambda x, _: rendered(lambda axes: axes.plot([*x[:5, 0]])),
    "matplotlib: an image": lambda x, _: rendered(lambda axes: axes.imshow(x)),
    "matplotlib: a histogram": lambda x, _: rendered(lambda axes: axes.hist(x[:, 0])),
    "matplotlib: points": lambda x, y: rendered(lambda axes: axes.scatter(x[:, 0], x[:, 1], c=y)),
    "matplotlib: bars": lambda x, _: rendered(lambda axes: axes.bar(x[:3, 0], x[:3, 1].abs())),
    "matplotlib: limits": lambda x, _: rendered(lambda axes: axes.set_xlim(x[0].min(), x[0].max())),
}


@pytest.mark.filterwarnings("ignore:__array:DeprecationWarning")  # raised by torch's tensors
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_library_gives_same_result_for_our_and_torch_tensors(
    call: Callable[[Any, Any], Any],
) -> None:
    expected = call(torch.from_numpy(X), torch.from_numpy(LABELS))
    actual = call(mt.from_numpy(X), mt.from_numpy(LABELS))
    if isinstance(expected, pandas.DataFrame):
        pandas.testing.assert_frame_equal(actual, expected)
    elif isinstance(expected, pandas.Series):
        pandas.testing.assert_series_equal(actual, expected)
    else:
        several = isinstance(expected, tuple | list)
        pairs = zip(actual, expected, strict=True) if several else [(actual, expected)]
        for ours, theirs in pairs:
            np.testing.assert_array_equal(ours, theirs)
