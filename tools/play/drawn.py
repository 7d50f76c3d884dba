"""Something drawn by hand, and how a network sees it: lines become an image of a few points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import mt_tensor as mt
from mt_tensor.extending import Array

Stroke = Sequence[tuple[float, float]]
"""Where the pen was between touching the paper and leaving it, from (0, 0) to (1, 1)."""

MOST_POINTS = 10_000
"""How many points a drawing may have."""

FINE = 512
"""The side of the image in which lines are drawn, before it becomes small."""

PEN = 0.16
"""How thick the pen is, beside the side of the image: the ink is as much as in scikit-learn's."""

MARGINS = {28: 4}
"""How much paper there is around the digits of a data set, by the side of its images."""


class DrawingError(ValueError):
    """What was given is no drawing; says why."""


def read_strokes(sent: object) -> list[Stroke]:
    """Return the strokes that a browser has sent; a point alone is a stroke, too.

    Raises:
        DrawingError: it is something else, or too much.
    """
    if sent is None:
        return []
    try:
        strokes = [[(float(x), float(y)) for x, y in stroke] for stroke in sent]  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise DrawingError("that is no drawing: clear the paper, and draw again.") from None
    count = sum(map(len, strokes))
    if count > MOST_POINTS:
        raise DrawingError(
            f"a drawing has at most {MOST_POINTS:,} points; this one has {count:,}: clear it."
        )
    if not all(math.isfinite(each) for stroke in strokes for point in stroke for each in point):
        raise DrawingError("a drawing has points that are nowhere: clear the paper.")
    return [
        [(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)) for x, y in stroke]
        for stroke in strokes
        if stroke
    ]


def as_seen(strokes: Sequence[Stroke], size: int = 8) -> Array:
    """Return a drawing as the images of a data set are.

    What is drawn fills the image, wherever and however large it was drawn, as those who made the
    data sets have seen to.

    Args:
        strokes: at least one.
        size: the side of the image; 8 is that of scikit-learn's digits, 28 that of MNIST.

    Returns:
        float32 from 0 to 1, of shape `(1, size, size)`.
    """
    points = np.array([point for stroke in strokes for point in stroke])
    low, high = points.min(0), points.max(0)
    room = FINE * (1.0 - 2.0 * MARGINS.get(size, 0) / size)
    pen = PEN * room
    scale = (room - pen) / max(float((high - low).max()), 0.1)
    middle = (low + high) / 2.0
    paper = Image.new("L", (FINE, FINE))
    brush = ImageDraw.Draw(paper)
    for stroke in strokes:
        line = [tuple(scale * (np.array(point) - middle) + FINE / 2.0) for point in stroke]
        brush.line(line, 255, round(pen), "curve")
        for x, y in line:
            brush.ellipse((x - pen / 2, y - pen / 2, x + pen / 2, y + pen / 2), 255)
    small = paper.resize((size, size), Image.Resampling.BOX)
    return np.asarray(small, np.float32)[None] / np.float32(255)


def shares(network: Any, image: Array) -> Array:
    """Return the probability of each class that a network gives an image, as float64."""
    with mt.no_grad():
        scores = network(mt.tensor(image[None]))[0]
        return np.array(scores.softmax(0), np.float64)
