"""The picture of a training: loss and accuracy as they went, and samples with their predictions."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.errors import MissingPackageError
from mt_nn.train.loop import Epoch

SAMPLES = 40
COLUMNS = 8


def draw(
    training: Sequence[Epoch],
    testing: Sequence[Epoch],
    images: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    predictions: npt.NDArray[Any],
) -> bytes:
    """Return a PNG picture.

    Args:
        training: what each epoch of training gave.
        testing: what the test after each epoch gave.
        images: shape (count, height, width); the first 40 are shown.
        labels: the right class of each.
        predictions: the predicted class of each.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError(
            "the picture is drawn with matplotlib: pip install 'mt-nn[train]'."
        ) from error
    figure = Figure(figsize=(13, 5.6), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    curves, samples = parts
    loss, accuracy = curves.subplots(2, sharex=True)
    _draw_curves(loss, accuracy, training, testing)
    _draw_samples(samples, images, labels, predictions)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def _draw_curves(
    loss: Any, accuracy: Any, training: Sequence[Epoch], testing: Sequence[Epoch]
) -> None:
    steps = [value for epoch in training for value in epoch.losses]
    epochs = np.arange(1, len(training) + 1)
    at = np.arange(1, len(steps) + 1) * len(training) / max(len(steps), 1)
    loss.plot(at, steps, color="0.8", linewidth=0.8, label="training, each batch")
    loss.plot(epochs, [epoch.loss for epoch in training], ".-", label="training, mean of epoch")
    loss.plot(epochs, [epoch.loss for epoch in testing], ".-", label="test")
    loss.set(ylabel="cross-entropy", yscale="log")
    accuracy.plot(epochs, [100 * epoch.accuracy for epoch in training], "C0.-", label="training")
    accuracy.plot(epochs, [100 * epoch.accuracy for epoch in testing], "C1.-", label="test")
    accuracy.set(ylabel="accuracy (%)", xlabel="epoch")
    for axes, corner in ((loss, "upper right"), (accuracy, "lower right")):
        axes.grid(alpha=0.3)
        axes.legend(loc=corner)


def _draw_samples(
    figure: Any,
    images: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    predictions: npt.NDArray[Any],
) -> None:
    figure.suptitle("test samples: predicted class (wrong ones in red)")
    grid = figure.subplots(SAMPLES // COLUMNS, COLUMNS, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, image, label, prediction in zip(grid.flat, images, labels, predictions, strict=False):
        axes.imshow(image, cmap="gray_r")
        right = label == prediction
        title = str(prediction) if right else f"{prediction}, is {label}"
        axes.set_title(title, fontsize=9, color="black" if right else "red")
