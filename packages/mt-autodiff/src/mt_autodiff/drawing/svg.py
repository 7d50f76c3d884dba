"""How a graph looks: boxes with their text, edges with arrows, light and dark, as SVG.

The document stands for itself: it asks for nothing from outside and runs nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mt_autodiff.drawing.layout import Box, Edge, layered_layout

CHARACTER = 7.9  # the width of a character, in nearly every monospace font of 13 pixels
LONGEST = 14  # how many characters of a name a box shows
LINE = 18.0  # from one line of text to the next
PORT = 14.0  # the height that each edge needs to arrive
PADDING = 12.0  # on either side of a text
RING = 3.0  # how far the second outline is around the result
MARGIN = 10.0  # around the picture

STYLE = """
.mt-graph{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
.mt-graph text{fill:#1c2733;text-anchor:middle}
.mt-graph .derivative{fill:#96570a}
.mt-graph .box{fill:#f6f8fa;stroke:#66788a;stroke-width:1.5}
.mt-graph .cap{fill:#66788a}
.mt-graph .operator{fill:#fff;font-weight:bold}
.mt-graph .sign{font-size:18px}
.mt-graph .input .box{fill:#e3edfb;stroke:#4a6fa5}
.mt-graph .constant .box{fill:#fff;stroke-dasharray:4 3}
.mt-graph .result .box{fill:#e3f5e8;stroke:#2f7d48}
.mt-graph .result .cap{fill:#2f7d48}
.mt-graph .ring{fill:none;stroke:#2f7d48;stroke-width:1.5}
.mt-graph .edge,.mt-graph .track{fill:none;stroke:#8494a4;stroke-width:1.5;stroke-linecap:round}
@media (prefers-color-scheme:dark){
.mt-graph text{fill:#e8eef5}
.mt-graph .derivative{fill:#f2b866}
.mt-graph .box{fill:#20262e}
.mt-graph .input .box{fill:#1d2f4a}
.mt-graph .constant .box{fill:#14181d}
.mt-graph .result .box{fill:#173423}
}
"""

FORBIDDEN = (*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
"""The characters that XML cannot hold, not even escaped."""

ESCAPES = str.maketrans(
    dict.fromkeys(FORBIDDEN, "\ufffd") | {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
)


class Svg(str):
    """SVG text, which a notebook shows as the picture that it is."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Node:
    """What a box shows.

    Attributes:
        kind: "input", "constant" or "operation".
        name: what it is called, or "".
        value: its value.
        derivative: the derivative of the result with respect to it, or "".
        operator: the symbol or the name of what made it, or "".
        details: what is told of it when it is pointed at.
    """

    kind: str
    name: str
    value: str
    derivative: str
    operator: str
    details: str


def render(nodes: Sequence[Node], inputs: Sequence[Sequence[int]], title: str) -> Svg:
    """Return the picture of a graph in which everything leads to the first node.

    Args:
        nodes: what each box shows.
        inputs: for each node the nodes it was made from, each of which comes after it.
        title: what a screen reader tells of the picture.
    """
    looks = [_Look(node, len(made_from)) for node, made_from in zip(nodes, inputs, strict=True)]
    looks[0].ring = RING  # it is the result
    layout = layered_layout([look.size() for look in looks], inputs)
    width, height = _number(layout.width + 2 * MARGIN), _number(layout.height + 2 * MARGIN)
    origin = _number(-MARGIN)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mt-graph" role="img" width="{width}" '
        f'height="{height}" viewBox="{origin} {origin} {width} {height}">',
        f"<title>{_escaped(title)}</title>",
        f"<style>{STYLE}</style>",
        *(_path(edge) for edge in layout.edges),
    ]
    for look, box in zip(looks, layout.boxes, strict=True):
        lines += look.draw(box)
    return Svg("\n".join([*lines, "</svg>\n"]))


class _Look:
    """How one node looks: its texts, the room that they need, and its elements.

    A box has a line for name and value, and one for the derivative. What made it is told in a cap
    at its left end, at which the edges arrive.
    """

    def __init__(self, node: Node, edges: int) -> None:
        self.node = node
        self.ring = 0.0
        self.operator = _shortened(node.operator)
        name = _shortened(node.name)
        self.lines = [f"{name} = {node.value}" if name else node.value]
        if node.derivative:
            self.lines.append(f"∂ {node.derivative}")
        self.cap = max(_width(self.operator) + PADDING, 28.0) if self.operator else 0.0
        self.body = max(map(_width, self.lines)) + 2 * PADDING
        self.height = max(len(self.lines) * LINE + 8.0, edges * PORT)

    def size(self) -> tuple[float, float]:
        """Return how wide and how high it is."""
        return self.cap + self.body + 2 * self.ring, self.height + 2 * self.ring

    def draw(self, place: Box) -> Iterator[str]:
        """Yield the elements, at a place of this size."""
        x, y = place.x + self.ring, place.y + self.ring
        corner = {"input": self.height / 2, "constant": 0.0}.get(self.node.kind, 7.0)
        yield f'<g class="{self.node.kind}{" result" if self.ring else ""}">'
        yield f"<title>{_escaped(self.node.details)}</title>"
        if self.ring:
            yield _rectangle("ring", place.x, place.y, *self.size(), corner + self.ring)
        yield _rectangle("box", x, y, self.cap + self.body, self.height, corner)
        middle = y + self.height / 2 + 4.5  # the base line of a text that stands in the middle
        if self.operator:
            yield _cap(x, y, self.cap, self.height, corner)
            kind = "operator sign" if len(self.operator) == 1 else "operator"
            yield _text(kind, x + self.cap / 2, middle, self.operator)
        center = x + self.cap + self.body / 2
        rise = LINE / 2 * (len(self.lines) - 1)
        yield _text("value", center, middle - rise, self.lines[0])
        for line in self.lines[1:]:
            yield _text("derivative", center, middle + rise, line)
        yield "</g>"


def _rectangle(kind: str, x: float, y: float, width: float, height: float, corner: float) -> str:
    sides = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect class="{kind}" {sides} rx="{_number(corner)}"/>'


def _cap(x: float, y: float, width: float, height: float, corner: float) -> str:
    """Return the left end of a box, which has round corners on that side only."""
    across, down, r = _number(width - corner), _number(height - 2 * corner), _number(corner)
    return (
        f'<path class="cap" d="M{_number(x + width)} {_number(y)}h-{across}a{r} {r} 0 0 0 -{r} {r}'
        f'v{down}a{r} {r} 0 0 0 {r} {r}h{across}z"/>'
    )


def _text(kind: str, x: float, y: float, content: str) -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{_escaped(content)}</text>'


def _path(edge: Edge) -> str:
    """Return an edge, with an arrow if it arrives; its head is a part of the path."""
    (x, y), (end_x, end_y) = map(_number, edge.start), map(_number, edge.end)
    half = _number((edge.bend + edge.end[0]) / 2)
    line = f"M{x} {y}H{_number(edge.bend)}C{half} {y} {half} {end_y} {end_x} {end_y}"
    if not edge.arrives:
        return f'<path class="track" d="{line}"/>'
    return f'<path class="edge" d="{line}m-6 -4l6 4l-6 4"/>'


def _number(number: float) -> str:
    """Return a coordinate, to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0")


def _shortened(text: str) -> str:
    """Return a name on one line, and no longer than a box shows."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _width(text: str) -> float:
    """Estimate how wide a text is; the characters of East Asia and emoji take the room of two."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return CHARACTER * (len(text) + wide)


def _escaped(text: str) -> str:
    """Return a text as XML, with a mark in place of each character that XML cannot hold."""
    return text.translate(ESCAPES)
