"""Charts of times by number of threads, and by amount of work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from play.comparison import Measured
from play.sharing import Point
from play.showing import DERIVATIVE, VALUE

IDEAL = "#7d8894"
"""Gray, which is visible on light and dark pages."""


def times_chart(taken: Mapping[int, Measured]) -> Any:
    """Return a bar for each number of threads, with ticks at the median and at the ideal."""
    rows = [
        {
            "threads": count,
            "fastest": each.fastest * 1e6,
            "median": each.median * 1e6,
            "ideal": taken[1].fastest * 1e6 / count,
        }
        for count, each in taken.items()
    ]
    scale = alt.Scale(domain=[0.0, 1.05 * max(row["median"] for row in rows)], nice=False)
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("threads:O", title="threads"))

    def along(name: str) -> alt.X:
        return alt.X(f"{name}:Q", title="microseconds", scale=scale)

    bars = base.mark_bar(color=VALUE, cornerRadiusEnd=3).encode(x=along("fastest"))
    ticks = [
        base.mark_tick(color=colour, thickness=3, size=20).encode(x=along(name))
        for name, colour in (("median", DERIVATIVE), ("ideal", IDEAL))
    ]
    return alt.layer(bars, *ticks).properties(height=60 + 32 * len(rows))


def curve_chart(points: Sequence[Point], together: str, what: str, least: int) -> Any:
    """Plot the times of one thread and of all threads, on logarithmic axes.

    Args:
        points: the measurements.
        together: the label of all threads.
        what: the unit of work.
        least: the position of a vertical line.
    """
    rows: list[dict[str, Any]] = [
        {what: point.steps, "microseconds": seconds * 1e6, "who": who}
        for point in points
        for who, seconds in (("1 thread", point.alone), (together, point.shared))
    ]
    base = alt.Chart(alt.Data(values=rows))
    colours = alt.Scale(domain=["1 thread", together], range=[DERIVATIVE, VALUE])
    x = _logarithmic(alt.X, what, [point.steps for point in points], "~s")
    y = _logarithmic(alt.Y, "microseconds", [row["microseconds"] for row in rows], ",")
    colour = alt.Color("who:N", scale=colours, legend=alt.Legend(title=None, orient="top"))
    lines = base.mark_line(point=True).encode(x=x, y=y, color=colour)
    begins = alt.Chart(alt.Data(values=[{what: least}])).mark_rule(
        strokeDash=[5, 4], color=IDEAL, size=2, clip=True
    )
    return alt.layer(lines, begins.encode(x=x)).properties(height=260)


def _logarithmic(channel: Any, name: str, values: Sequence[float], form: str) -> Any:
    """Return a logarithmic axis with a margin around the values."""
    low, high = 0.8 * min(values), 1.25 * max(values)
    steps = (1, 2, 5) if high < 200 * low else (1,)
    marks = [step * 10.0**power for power in range(-1, 9) for step in steps]
    scale = alt.Scale(type="log", nice=False, domain=[low, high])
    return channel(f"{name}:Q", scale=scale, axis=alt.Axis(values=marks, format=form))
