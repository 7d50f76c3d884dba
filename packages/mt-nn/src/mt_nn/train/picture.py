"""The picture of a training: loss and accuracy as they went, and samples with their predictions."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from mt_nn.train.curves import as_png, draw_curve, make_figure
from mt_nn.train.history import History

SAMPLES = 40
COLUMNS = 8


def draw(
    history: History,
    images: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    predictions: npt.NDArray[Any],
) -> bytes:
    """Return a PNG picture.

    Args:
        history: has loss and accuracy, also those of the validation, which here is the test.
        images: shape (count, height, width); the first 40 are shown.
        labels: the right class of each.
        predictions: the predicted class of each.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    figure = make_figure(13, 5.6)
    curves, samples = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    loss, accuracy = curves.subplots(2, sharex=True)
    draw_curve(loss, history, "loss", validation="test")
    loss.set(ylabel="cross-entropy with smoothed labels")
    draw_curve(accuracy, history, "accuracy", validation="test")
    accuracy.set(xlabel="epoch")
    _draw_samples(samples, images, labels, predictions)
    return as_png(figure)


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
