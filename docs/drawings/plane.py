"""Points of two classes in the plane, and the regions in which a model predicts each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from drawings.picture import COLOURS, PAPER, RULE, Picture, element, svg

SIZE, MARGIN, CELLS = 340.0, 6.0, 34


def plane(
    points: Sequence[Sequence[float]],
    labels: Sequence[int],
    predict: Callable[[float, float], float] | None = None,
    *,
    alt: str = "",
) -> Picture:
    """Draw points, over the prediction for each place.

    Args:
        points: pairs of coordinates.
        labels: the class of each point, 0 or 1.
        predict: a function of the coordinates that returns the probability of class 1; None to draw
            the points only.
        alt: the text alternative.
    """
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    pad = 0.06 * max(max(xs) - min(xs), max(ys) - min(ys))
    left, right, low, high = min(xs) - pad, max(xs) + pad, min(ys) - pad, max(ys) + pad
    inner = SIZE - 2.0 * MARGIN
    parts = []
    side = inner / CELLS
    for row in range(CELLS if predict else 0):
        for column in range(CELLS):
            x = left + (right - left) * (column + 0.5) / CELLS
            y = high - (high - low) * (row + 0.5) / CELLS
            chance = min(max(float(predict(x, y)), 0.0), 1.0)  # type: ignore[misc]
            opacity = 0.55 * abs(2.0 * chance - 1.0)
            style = f"fill: {COLOURS[chance >= 0.5]}; opacity: {opacity:.2f}"
            style += "; shape-rendering: crispEdges"  # neither gaps nor overlaps
            place = {"x": f"{MARGIN + column * side:.2f}", "y": f"{MARGIN + row * side:.2f}"}
            size = f"{side:.2f}"
            if opacity >= 0.01:
                parts.append(element("rect", **place, width=size, height=size, style=style))
    for x, y, label in zip(xs, ys, labels, strict=True):
        cx = MARGIN + inner * (x - left) / (right - left)
        cy = MARGIN + inner * (high - y) / (high - low)
        style = f"fill: {COLOURS[label]}; stroke: {PAPER}; stroke-width: 1.5"
        if label:
            path = f"M{cx:.1f} {cy - 5.5:.1f} l5 9.5 h-10 z"
            parts.append(element("path", d=path, style=style))
        else:
            parts.append(element("circle", cx=f"{cx:.1f}", cy=f"{cy:.1f}", r=4.5, style=style))
    frame = f"fill: none; stroke: {RULE}"
    parts.append(element("rect", x=MARGIN, y=MARGIN, width=inner, height=inner, style=frame))
    count = f"{len(points)} points of two classes"
    return Picture(
        svg(SIZE, SIZE, *parts), alt or (f"{count}, and the predicted class" if predict else count)
    )
