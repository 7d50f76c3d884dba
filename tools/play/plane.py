"""A plot of a classifier: the predicted class of each part of the plane, and the points."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable

import numpy as np
from PIL import Image

from mt_autodiff.drawing.svg import document, escaped
from mt_operators.datasets import Dataset, Point
from mt_tensor.extending import Array

SIZE = 420.0
"""The width and height of the plot."""

MARGIN = 0.06
"""The margin around the points, relative to their range."""

COLOURS = ((0x3B, 0x82, 0xC4), (0xD1, 0x62, 0x2B))
"""The colors of class 0 and class 1."""

STYLE = """
.mt-plane{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;
max-width:100%;height:auto}
.mt-plane text{fill:#1c2733;text-anchor:middle}
.mt-plane .frame{fill:none;stroke:#66788a}
.mt-plane .point{stroke:#fff;stroke-width:1.5}
.mt-plane .wrong{stroke:#1c2733;stroke-width:2.5}
@media (prefers-color-scheme:dark){
.mt-plane text{fill:#e8eef5}
.mt-plane .point{stroke:#16181c}
.mt-plane .wrong{stroke:#fff}
}
"""


def grid(dataset: Dataset, cells: int) -> tuple[Array, Array]:
    """Return the coordinates of the cells of the plane.

    Args:
        dataset: the points to include.
        cells: the number of cells in each direction.

    Returns:
        `x1` and `x2`, each of shape `(cells, cells)` and float64; the first row is the lowest.
    """
    sides = []
    for side in zip(*dataset.X, strict=True):
        low, high = min(side), max(side)
        margin = MARGIN * (high - low) or 0.5
        edges = np.linspace(low - margin, high + margin, cells + 1)
        sides.append((edges[1:] + edges[:-1]) / 2.0)
    x1, x2 = np.meshgrid(*sides)
    return x1, x2


def draw_plane(dataset: Dataset, scores: Array, classes: Iterable[int]) -> str:
    """Plot a classifier, as SVG.

    Args:
        dataset: the points.
        scores: the scores of the cells of `grid`, of shape `(cells, cells)`; positive is class 1.
        classes: the predicted classes of the points.
    """
    x1, x2 = grid(dataset, len(scores))
    half = (x1[0, 1] - x1[0, 0]) / 2.0, (x2[1, 0] - x2[0, 0]) / 2.0
    low = x1[0, 0] - half[0], x2[0, 0] - half[1]
    high = x1[0, -1] + half[0], x2[-1, 0] + half[1]

    def place(point: Point) -> tuple[float, float]:
        across, up = ((p - a) / (b - a) for p, a, b in zip(point, low, high, strict=True))
        return SIZE * across, SIZE * (1.0 - up)

    elements = [
        f'<image width="{SIZE}" height="{SIZE}" preserveAspectRatio="none" '
        f'href="data:image/png;base64,{_shaded(scores)}"/>',
        f'<rect class="frame" width="{SIZE}" height="{SIZE}"/>',
        f'<text x="{SIZE - 14}" y="{SIZE - 8}">x1</text>',
        '<text x="16" y="18">x2</text>',
    ]
    for (point, label), taken in zip(dataset, classes, strict=True):
        x, y = place(point)
        kind = "point" if taken == label else "point wrong"
        title = escaped(f"({point[0]:.3f}, {point[1]:.3f}) is in class {label}")
        colour = "#{:02x}{:02x}{:02x}".format(*COLOURS[label])
        shape = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6"'
            if label == 0
            else f'<rect x="{x - 5.5:.1f}" y="{y - 5.5:.1f}" width="11" height="11"'
        )
        elements.append(f'{shape} class="{kind}" fill="{colour}"><title>{title}</title>')
        elements.append("</circle>" if label == 0 else "</rect>")
    return document("mt-plane", "The plane and its points", (SIZE, SIZE), STYLE, elements)


def _shaded(scores: Array) -> str:
    """Return the plane as a PNG in base 64; a higher confidence has a stronger color."""
    finite = np.nan_to_num(scores, nan=0.0, posinf=1e30, neginf=-1e30)
    reach = float(np.quantile(np.abs(finite), 0.9)) or 1.0
    sure = np.minimum(np.abs(finite) / reach, 1.0)
    pixels = np.empty((*finite.shape, 4), np.uint8)
    pixels[..., :3] = np.where((finite > 0.0)[..., None], COLOURS[1], COLOURS[0])
    pixels[..., 3] = np.where(np.isfinite(scores), 70 + 80 * sure, 0)
    content = io.BytesIO()
    Image.fromarray(pixels[::-1]).save(content, "PNG")
    return base64.b64encode(content.getvalue()).decode()
