"""The picture of a training: loss and accuracy as they went, and samples with their predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from mt_nn.library.train.curves import as_png, draw_curve, make_figure
from mt_nn.library.train.history import History

SAMPLES = 40
COLUMNS = 8


@dataclass(frozen=True)
class Samples:
    """Images that the network has not seen, of which the first 40 are shown.

    Attributes:
        title: what stands above them.
        images: shape (count, height, width).
        labels: the right class of each.
        predictions: the predicted class of each.
    """

    title: str
    images: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    predictions: npt.NDArray[Any]


def draw(history: History, samples: Samples) -> bytes:
    """Return a PNG picture.

    Args:
        history: has cross-entropy and accuracy, of training and validation.
        samples: what the network makes of the test part.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    figure = make_figure(13, 5.6)
    curves, pictures = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    loss, accuracy = curves.subplots(2, sharex=True)
    draw_curve(loss, history, "cross_entropy")
    loss.set(ylabel="cross-entropy")
    draw_curve(accuracy, history, "accuracy")
    accuracy.set(xlabel="epoch")
    _draw_samples(pictures, samples)
    return as_png(figure)


def _draw_samples(figure: Any, samples: Samples) -> None:
    figure.suptitle(f"{samples.title}; predicted class (wrong ones in red)")
    grid = figure.subplots(SAMPLES // COLUMNS, COLUMNS, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    shown = zip(grid.flat, samples.images, samples.labels, samples.predictions, strict=False)
    for axes, image, label, prediction in shown:
        axes.imshow(image, cmap="gray_r")
        right = label == prediction
        title = str(prediction) if right else f"{prediction}, is {label}"
        axes.set_title(title, fontsize=9, color="black" if right else "red")
