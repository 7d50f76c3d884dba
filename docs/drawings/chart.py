"""Line charts, with linear or logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from drawings.picture import COLOURS, MUTED, RULE, Picture, element, svg, text

WIDTH, HEIGHT = 456.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 16.0, 14.0, 46.0
LEGEND = 16.0
"""The height of the names of the lines, above the chart."""


def plot(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    xlabel: str = "",
    ylabel: str = "",
    alt: str = "",
    log: str = "",
    ylim: tuple[float, float] | None = None,
    points: bool = False,
) -> Picture:
    """Draw lines.

    Args:
        x: the positions.
        lines: by name, a value for each position; values that are not finite interrupt the line.
        xlabel: the label of the horizontal axis.
        ylabel: the label of the vertical axis.
        alt: the text alternative; by default it lists the names.
        log: the logarithmic axes: "", "x", "y" or "xy".
        ylim: the range of the vertical axis; by default that of the values.
        points: whether to mark each value.
    """
    finite = [v for values in lines.values() for v in values if _usable(v, "y" in log)]
    bottom, top = ylim or _rounded(min(finite), max(finite), "y" in log)
    across, marks_x = _axis(
        min(x), max(x), "x" in log, LEFT, WIDTH - RIGHT, 5, all(float(v).is_integer() for v in x)
    )
    up, marks_y = _axis(bottom, top, "y" in log, HEIGHT - BOTTOM, TOP, 5)
    parts = [_grid(marks_x, marks_y, xlabel, ylabel)]
    for values, colour in zip(lines.values(), COLOURS, strict=False):
        parts.append(_line(x, values, across, up, colour, (bottom, top), "y" in log, points))
    height = HEIGHT
    if len(lines) > 1:
        chart = element("g", "".join(parts), transform=f"translate(0 {LEGEND:g})")
        parts, height = [_legend(list(lines)), chart], HEIGHT + LEGEND
    names = " and ".join(lines)
    return Picture(svg(WIDTH, height, *parts), alt or f"Line chart of {names} by {xlabel or 'x'}.")


def _usable(value: float, logarithmic: bool) -> bool:
    return math.isfinite(value) and (value > 0.0 or not logarithmic)


def _axis(
    low: float,
    high: float,
    logarithmic: bool,
    start: float,
    end: float,
    count: int,
    integers: bool = False,
) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """Return the positions of values on the page, and the marks of an axis."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    if logarithmic:
        low, high = math.log10(low), math.log10(high)

    def place(value: float) -> float:
        at = math.log10(value) if logarithmic else value
        return start + (end - start) * (at - low) / (high - low)

    if logarithmic:
        step = max(1, math.ceil((high - low) / count))
        powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1, step)
        if len(powers) < 3:  # marks between the powers, too
            fine = (m * 10.0**p for p in range(math.floor(low), math.ceil(high)) for m in (1, 2, 5))
            inside = [v for v in (*fine, 10.0**high) if low - 1e-9 <= math.log10(v) <= high + 1e-9]
            return place, [(place(v), f"{v:g}") for v in dict.fromkeys(inside)]
        plain = all(-2 <= p <= 3 for p in powers)
        return place, [(place(10.0**p), f"{10.0**p:g}" if plain else _power(p)) for p in powers]
    width = _width(low, high, count, integers)
    first = math.ceil(low / width - 1e-9)
    last = math.floor(high / width + 1e-9)
    marks = (i * width for i in range(first, last + 1))
    return place, [(place(v), f"{v:g}".replace("-", "−")) for v in marks]


def _width(low: float, high: float, count: int, integers: bool = False) -> float:
    """Return a round distance between marks; not 2.5 if values are integers."""
    rough = (high - low) / count
    unit = 10.0 ** math.floor(math.log10(rough))
    factors = (1.0, 2.0, 5.0, 10.0) if integers else (1.0, 2.0, 2.5, 5.0, 10.0)
    return next(f * unit for f in factors if f * unit >= rough * 0.999)


def _rounded(low: float, high: float, logarithmic: bool) -> tuple[float, float]:
    """Return a range that ends at marks, so that no line extends beyond the last mark."""
    if low == high:
        return low, high
    if logarithmic:
        return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
    width = _width(low, high, 5)
    return math.floor(low / width + 1e-9) * width, math.ceil(high / width - 1e-9) * width


def _power(exponent: int) -> str:
    """Return a power of ten as text."""
    if exponent == 0:
        return "1"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _grid(
    across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]], xlabel: str, ylabel: str
) -> str:
    rule = f"stroke: {RULE}; stroke-width: 1"
    parts = []
    for x, label in across:
        parts.append(element("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, style=rule))
        parts.append(text(x, HEIGHT - BOTTOM + 18.0, label, colour=MUTED))
    for y, label in up:
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, style=rule))
        parts.append(text(LEFT - 8.0, y + 4.5, label, "end", MUTED))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, xlabel))
    turned = text(0.0, 0.0, ylabel)
    middle = (TOP + HEIGHT - BOTTOM) / 2.0
    parts.append(element("g", turned, transform=f"translate(14 {middle:g}) rotate(-90)"))
    return "".join(parts)


def _line(
    x: Sequence[float],
    values: Sequence[float],
    across: Callable[[float], float],
    up: Callable[[float], float],
    colour: str,
    limits: tuple[float, float],
    logarithmic: bool,
    points: bool,
) -> str:
    """Return a line; values outside of the limits are drawn at them."""
    path, dots, pen = [], [], "M"
    for at, value in zip(x, values, strict=True):
        if not _usable(value, logarithmic):
            pen = "M"
            continue
        place = across(at), up(min(max(value, limits[0]), limits[1]))
        path.append(f"{pen}{place[0]:.1f} {place[1]:.1f}")
        dots.append(element("circle", cx=f"{place[0]:.1f}", cy=f"{place[1]:.1f}", r=3))
        pen = "L"
    stroke = f"fill: none; stroke: {colour}; stroke-width: 2; stroke-linejoin: round"
    line = element("path", d=" ".join(path), style=stroke)
    return line + (element("g", "".join(dots), style=f"fill: {colour}") if points else "")


def _legend(names: Sequence[str]) -> str:
    """Return a row that names the lines, for the space above the chart."""
    parts = []
    x = LEFT
    for name, colour in zip(names, COLOURS, strict=False):
        line = f"stroke: {colour}; stroke-width: 3"
        parts.append(element("line", x1=x, x2=x + 22.0, y1=12.0, y2=12.0, style=line))
        parts.append(text(x + 29.0, 16.5, name, "start"))
        x += 29.0 + 7.2 * len(name) + 24.0
    return "".join(parts)
