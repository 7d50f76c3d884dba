"""A curve, its tangent at a point, and the secants of one-sided and central differences."""

from __future__ import annotations

import math
from collections.abc import Callable

from drawings.chart import plot
from drawings.picture import Picture


def secants(
    f: Callable[[float], float],
    slope: Callable[[float], float],
    x: float,
    step: float,
    *,
    reach: float = 1.0,
) -> Picture:
    """Draw a function around a point, its tangent, and its one-sided and central secants there.

    Args:
        f: the function.
        slope: its derivative, for the tangent.
        x: the point.
        step: the step of both differences.
        reach: how far the picture extends on either side of the point.
    """
    places = [x + reach * (i / 20.0 - 1.0) for i in range(41)]

    def line(start: float, end: float) -> list[float]:
        rate = (f(end) - f(start)) / (end - start)
        inside = (start - 1e-9 <= place <= end + 1e-9 for place in places)
        return [
            f(start) + rate * (place - start) if shown else math.nan
            for place, shown in zip(places, inside, strict=True)
        ]

    lines = {
        "f": [f(place) for place in places],
        "one-sided": line(x, x + step),
        "central": line(x - step, x + step),
        "tangent": [f(x) + slope(x) * (place - x) for place in places],
    }
    alt = (
        f"A curve, its tangent at {x:g}, and two straight lines between points of the curve: from "
        f"{x:g} to {x + step:g}, and from {x - step:g} to {x + step:g}."
    )
    return plot(places, lines, xlabel="x", alt=alt)
