"""Small images in rows, with captions: one square for each pixel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from drawings.picture import COLOURS, INK, PAPER, RULE, Picture, element, svg, text

LEVELS = 16
GAP, LINE = 10.0, 20.0


def images(
    pixels: Iterable[Any],
    captions: Sequence[str] = (),
    *,
    columns: int = 8,
    size: float = 68.0,
    signed: bool = False,
    alt: str = "",
) -> Picture:
    """Draw images; the largest absolute value of all has the full color.

    Args:
        pixels: the images, each rows of numbers, or a tensor or array of them.
        captions: a line for each image; may be empty.
        columns: the number of images in a row.
        size: the width of each image, in pixels.
        signed: whether negative numbers have a second color; otherwise they are blank.
        alt: the text alternative; by default it lists the captions.
    """
    found = [_rows(each) for each in pixels]
    reach = max((abs(v) for image in found for row in image for v in row), default=0.0) or 1.0
    heights = [size * len(image) / len(image[0]) for image in found]
    step = max(heights) + GAP + (LINE if captions else 0.0)
    parts = []
    for number, image in enumerate(found):
        x, y = GAP + number % columns * (size + GAP), GAP + number // columns * step
        parts.append(_image(image, x, y, size / len(image[0]), reach, signed))
        if number < len(captions):
            middle, below = x + size / 2.0, y + heights[number] + 15.0
            parts.append(text(round(middle, 1), round(below, 1), captions[number]))
    width = GAP + min(columns, len(found)) * (size + GAP)
    height = GAP + -(-len(found) // columns) * step
    description = alt or f"{len(found)} images: {', '.join(captions)}".rstrip(": ")
    return Picture(svg(width, height, *parts), description)


def _rows(image: Any) -> list[list[float]]:
    """Return the rows of an image; leading dimensions of size 1 are dropped."""
    rows: Any = image.tolist() if hasattr(image, "tolist") else image
    while isinstance(rows[0][0], list | tuple):
        rows = rows[0]
    return [[float(value) for value in row] for row in rows]


def _image(
    rows: list[list[float]], x: float, y: float, side: float, reach: float, signed: bool
) -> str:
    """Return an image: a frame, and one path for all pixels of a level."""
    squares: dict[int, list[str]] = defaultdict(list)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            level = round(LEVELS * value / reach)
            if level > 0 or (signed and level < 0):
                squares[level].append(f"M{j} {i}h1v1h-1z")
    width, height = len(rows[0]), len(rows)
    frame = f"fill: {PAPER}; stroke: {RULE}; stroke-width: 1"
    parts = [
        element("rect", width=width, height=height, style=frame, vector_effect="non-scaling-stroke")
    ]
    for level, path in sorted(squares.items()):
        colour = COLOURS[level < 0] if signed else INK
        style = f"fill: {colour}; opacity: {abs(level) / LEVELS:.2f}"
        parts.append(element("path", d="".join(path), style=style))
    place = f"translate({x:.1f} {y:.1f}) scale({side:.3f})"
    return element("g", "".join(parts), transform=place, shape_rendering="crispEdges")
