"""Drawings as input of a network: convert strokes to an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import mt_tensor as mt
from mt_tensor.extending import Array

Stroke = Sequence[tuple[float, float]]
"""The path of the pen between pen down and pen up, from (0, 0) to (1, 1)."""

FINE = 512
"""The side length of the image in which lines are drawn before it is scaled down."""

PEN = 0.16
"""The thickness of the pen relative to the image, as in scikit-learn's digits."""

MARGINS = {28: 4}
"""The margin around the digits of a data set, by the side length of its images."""


def read_strokes(sent: Any) -> list[Stroke]:
    """Return the strokes that a browser has sent, without points outside of the paper.

    A single point is a stroke, too.
    """
    return [np.clip(stroke, 0.0, 1.0).tolist() for stroke in sent or [] if stroke]


def as_seen(strokes: Sequence[Stroke], size: int = 8) -> Array:
    """Convert a drawing to an image like those of a data set.

    The drawing is centered and scaled to fill the image, as in the data sets.

    Args:
        strokes: at least one.
        size: the side length of the image: 8 for scikit-learn's digits, 28 for MNIST.

    Returns:
        float32 from 0 to 1, of shape `(1, size, size)`.
    """
    points = np.array([point for stroke in strokes for point in stroke])
    low, high = points.min(0), points.max(0)
    size_inside = FINE * (1.0 - 2.0 * MARGINS.get(size, 0) / size)
    pen = PEN * size_inside
    scale = (size_inside - pen) / max(float((high - low).max()), 0.1)
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
    """Return the probabilities of the classes for an image, as float64."""
    with mt.no_grad():
        scores = network(mt.tensor(image[None]))[0]
        return np.array(scores.softmax(0), np.float64)
