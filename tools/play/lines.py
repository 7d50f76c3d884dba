"""Line charts of sequences, such as a loss or an accuracy.

SVG instead of a Streamlit chart, because it can be updated twice a second without flicker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mt_autodiff.drawing.svg import document, text

WIDTH, HEIGHT = 440.0, 230.0
"""The size of the plot area."""

LEFT = 44.0
"""The width of the axis labels."""

MOST_POINTS = 300
"""The maximum number of points of a line; of more, an evenly spaced subset is drawn."""

COLOURS = ("#3b82c4", "#d1622b", "#3f9b57", "#9a63c7")

STYLE = """
.mt-lines{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;
max-width:100%;height:auto}
.mt-lines text{fill:#1c2733}
.mt-lines .mark{text-anchor:end}
.mt-lines .ruler{stroke:#66788a;stroke-opacity:.25}
.mt-lines .line{fill:none;stroke-width:2;stroke-linejoin:round}
@media (prefers-color-scheme:dark){
.mt-lines text{fill:#e8eef5}
}
"""


def draw_lines(lines: Mapping[str, Sequence[float]], counted: str = "epoch") -> str:
    """Draw lines over 1, 2, 3 and so on, as SVG.

    Args:
        lines: the numbers by name; values that are not finite are omitted.
        counted: the unit of the x-axis.
    """
    known = [y for numbers in lines.values() for y in numbers if math.isfinite(y)]
    low, high = min(0.0, *known, 0.0), max(known, default=0.0)
    step = _step(high - low)
    high = max(math.ceil(high / step), 1) * step
    low = math.floor(low / step) * step
    longest = max(map(len, lines.values()), default=0)

    def height(y: float) -> float:
        return HEIGHT * (high - y) / (high - low)

    elements = []
    for number in range(round(low / step), round(high / step) + 1):
        y = height(number * step)
        elements.append(
            f'<path class="ruler" d="M{LEFT} {y:.1f}h{WIDTH}"/>'
            + text("mark", LEFT - 6, y + 4, f"{number * step:.3g}")
        )
    for place, (name, numbers) in enumerate(lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        points = [
            (LEFT + WIDTH * i / max(longest - 1, 1), height(numbers[i]))
            for i in _spread(len(numbers))
            if math.isfinite(numbers[i])
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        if points:
            elements.append(f'<path class="line" stroke="{colour}" d="M{path}"/>')
        x = LEFT + 100.0 * place
        elements.append(f'<rect x="{x}" y="{HEIGHT + 12}" width="18" height="4" fill="{colour}"/>')
        elements.append(text("name", x + 24, HEIGHT + 18, name))
    elements.append(text("mark", LEFT + WIDTH, HEIGHT + 18, f"{counted} {longest}"))
    title = f"{' and '.join(lines)} over {longest} of {counted}"
    return document("mt-lines", title, (LEFT + WIDTH, HEIGHT + 24), STYLE, elements)


def _step(size: float) -> float:
    """Return a round step that divides a range into about four parts."""
    if not size > 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size / 4.0))
    return next(each * power for each in (1.0, 2.0, 2.5, 5.0, 10.0) if size / each / power <= 4.5)


def _spread(count: int) -> list[int]:
    """Return evenly spaced indices from the first to the last."""
    if count <= MOST_POINTS:
        return list(range(count))
    return [i * (count - 1) // (MOST_POINTS - 1) for i in range(MOST_POINTS)]
