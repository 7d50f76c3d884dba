"""Vectors of two numbers with their names: places in a plane."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from drawings.picture import COLOURS, RULE, Picture, element, svg, text

SIZE, MARGIN = 340.0, 16.0


def letters(
    places: Mapping[str, Sequence[float]], marked: Collection[str] = (), *, alt: str = ""
) -> Picture:
    """Draw names at their places.

    Args:
        places: two coordinates for each name.
        marked: the names to draw in a second color, underlined.
        alt: the text alternative; by default the names in the order of the first coordinate.
    """
    xs, ys = [place[0] for place in places.values()], [place[1] for place in places.values()]
    width, height = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    inner = SIZE - 2.0 * MARGIN
    frame = f"fill: none; stroke: {RULE}"
    parts = [element("rect", x=1, y=1, width=SIZE - 2, height=SIZE - 2, style=frame)]
    for name, (x, y) in places.items():
        across = MARGIN + inner * (x - min(xs)) / width
        down = SIZE - MARGIN - inner * (y - min(ys)) / height
        colour = COLOURS[name in marked]
        parts.append(text(round(across, 1), round(down + 4.5, 1), name, "middle", colour))
        if name in marked:
            line = f"stroke: {colour}; stroke-width: 1.5"
            ends = (f"{across - 5.0:.1f}", f"{across + 5.0:.1f}", f"{down + 9.0:.1f}")
            parts.append(
                element("line", x1=ends[0], x2=ends[1], y1=ends[2], y2=ends[2], style=line)
            )
    order = " ".join(sorted(places, key=lambda name: places[name][0]))
    return Picture(
        svg(SIZE, SIZE, *parts), alt or f"Places in a plane, from left to right: {order}"
    )
