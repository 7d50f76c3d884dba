"""Bars that compare numbers, such as times or speeds, on a linear or logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

from drawings.picture import COLOURS, INK, RULE, Picture, element, svg, text

WIDTH, HEIGHT, GAP, RIGHT = 456.0, 24.0, 10.0, 80.0


def bars(
    values: Mapping[str, float], *, log: bool = False, unit: str = "", alt: str = ""
) -> Picture:
    """Draw a horizontal bar for each value.

    Args:
        values: the lengths by name; they are positive.
        log: whether the scale is logarithmic; it begins at half the smallest value.
        unit: the unit written after each number.
        alt: the text alternative; by default the names and numbers.
    """
    left = 16.0 + 7.4 * max(map(len, values))
    least, most = min(values.values()), max(values.values())
    start = math.log(least / 2.0)
    parts, y = [], GAP
    for name, value in values.items():
        share = (math.log(value) - start) / (math.log(most) - start) if log else value / most
        width = (WIDTH - left - RIGHT) * share
        style = f"fill: {COLOURS[0]}; opacity: 0.75"
        parts.append(element("rect", x=left, y=y, width=f"{width:.1f}", height=HEIGHT, style=style))
        middle = y + HEIGHT / 2.0 + 4.5
        parts.append(text(left - 8.0, middle, name, "end", INK))
        parts.append(text(left + width + 8.0, middle, f"{_number(value)}{unit}", "start", INK))
        y += HEIGHT + GAP
    axis = element("line", x1=left, x2=left, y1=0, y2=y, style=f"stroke: {RULE}; stroke-width: 1")
    listed = ", ".join(f"{name} {_number(value)}{unit}" for name, value in values.items())
    return Picture(svg(WIDTH, y, axis, *parts), alt or f"Bars: {listed}.")


def _number(value: float) -> str:
    """Return a number with two significant digits, or all digits before the point."""
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.2g}"
