"""A picture of a trained classifier: its scores, its decision boundary and the points.

It needs matplotlib: `pip install "mt-autodiff[plot]"`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mt_autodiff.examples.training import Epoch
from mt_operators.datasets import Dataset, Point

CELLS = 60
"""The number of grid cells along each axis."""

COLORS = ("#2f6fb3", "#d1622b")
MARKS = ("o", "s")


Scores = Callable[[Sequence[Point]], Sequence[float]]
"""A function that maps points to scores, positive for class 1."""


def draw(dataset: Dataset, scores: Scores, history: Sequence[Epoch], title: str) -> bytes:
    """Return a PNG picture of the boundary and the training history.

    Args:
        dataset: the points to show.
        scores: the scores of the classifier.
        history: the epochs of the training.
        title: the title above the points.

    Raises:
        ImportError: matplotlib is not installed.
    """
    figure = _figure_class()(figsize=(9.6, 4.6), layout="constrained")
    plane, loss = figure.subplots(1, 2, width_ratios=[1.15, 1])
    draw_plane(plane, dataset, scores)
    plane.set_title(title)
    _draw_history(loss, history)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def check_picture(path: Path) -> Path:
    """Return a path if a picture can be written there.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: the path does not name a .png file in an existing folder.
    """
    _figure_class()
    if path.suffix != ".png" or path.is_dir() or not path.parent.is_dir():
        raise ValueError(
            f"the picture must be a .png file in an existing folder, got {str(path)!r}."
        )
    return path


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'the picture needs matplotlib: pip install "mt-autodiff[plot]"'
        ) from error
    return Figure


def draw_plane(axes: Any, dataset: Dataset, scores: Scores) -> None:
    """Draw the scores over the plane, the boundary between the classes, and the points.

    Args:
        axes: the matplotlib axes to draw on.
        dataset: the points.
        scores: the scores of the classifier; called once with all cells of the grid.
    """
    first, second = (_spread([point[side] for point in dataset.X]) for side in (0, 1))
    values = scores([(x1, x2) for x2 in second for x1 in first])
    rows = [values[start : start + CELLS] for start in range(0, len(values), CELLS)]
    reach = max(map(abs, values)) or 1.0
    axes.contourf(
        first, second, rows, levels=21, cmap="RdBu_r", vmin=-reach, vmax=reach, alpha=0.45
    )
    if min(values) < 0.0 < max(values):
        axes.contour(first, second, rows, levels=[0.0], colors="black", linewidths=1.5)
    for label, (color, mark) in enumerate(zip(COLORS, MARKS, strict=True)):
        points = [point for point, known in dataset if known == label]
        x1, x2 = zip(*points, strict=True) if points else ((), ())
        axes.scatter(x1, x2, c=color, marker=mark, edgecolors="white", s=42, label=f"class {label}")
    axes.set(xlabel="x1", ylabel="x2", aspect="equal")
    axes.legend(framealpha=0.9)


def _spread(values: list[float]) -> list[float]:
    """Return evenly spaced numbers over the range of the values, with a small margin."""
    margin = 0.05 * (max(values) - min(values)) or 0.5
    low, high = min(values) - margin, max(values) + margin
    return [low + (high - low) * cell / (CELLS - 1) for cell in range(CELLS)]


def _draw_history(axes: Any, history: Sequence[Epoch]) -> None:
    numbers = [epoch.number for epoch in history]
    axes.plot(numbers, [epoch.loss for epoch in history], color="0.25", label="loss")
    axes.set(xlabel="epoch", ylabel="loss", ylim=(0, None))
    right = axes.twinx()
    percent = [100 * epoch.accuracy for epoch in history]
    right.plot(numbers, percent, color=COLORS[1], label="accuracy")
    right.set(ylabel="training accuracy (%)", ylim=(0, 104))
    lines = [*axes.get_lines(), *right.get_lines()]
    axes.legend(lines, [line.get_label() for line in lines], loc="center right")
    axes.grid(alpha=0.3)
