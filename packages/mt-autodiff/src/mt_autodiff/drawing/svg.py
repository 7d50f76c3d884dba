"""SVG drawings of graphs: boxes with text and edges with arrows, in light and dark colors.

The documents are standalone: they load no other files and run no scripts. Inside a page they use
the page's color scheme, otherwise the reader's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mt_autodiff.drawing.layout import Edge, Slot, layered_layout

CHARACTER = 7.9  # the width of a character in nearly every monospace font of 13 pixels
LINE = 18.0  # the height of a line of text
PORT = 14.0  # the height that each incoming edge needs
PADDING = 12.0  # on either side of a text
MARGIN = 10.0  # around the picture

STYLE = """
svg:root{color-scheme:light dark}
.mt-graph{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
.mt-graph text{fill:light-dark(#1c2733,#e8eef5);text-anchor:middle}
.mt-graph .derivative{fill:light-dark(#96570a,#f2b866)}
.mt-graph .box{fill:light-dark(#f6f8fa,#20262e);stroke:#66788a;stroke-width:1.5}
.mt-graph .cap{fill:#66788a}
.mt-graph .operator{fill:#fff;font-weight:bold}
.mt-graph .sign{font-size:18px}
.mt-graph .input .box{fill:light-dark(#e3edfb,#1d2f4a);stroke:#4a6fa5}
.mt-graph .constant .box{fill:light-dark(#fff,#14181d);stroke-dasharray:4 3}
.mt-graph .result .box{fill:light-dark(#e3f5e8,#173423);stroke:#2f7d48;stroke-width:3.5}
.mt-graph .result .cap{fill:#2f7d48}
.mt-graph .edge,.mt-graph .track{fill:none;stroke:#8494a4;stroke-width:1.5;stroke-linecap:round}
"""

FORBIDDEN = (*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
"""The code points that XML does not allow, not even escaped."""

ESCAPES = str.maketrans(
    dict.fromkeys(FORBIDDEN, "\ufffd") | {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
)


class Svg(str):
    """SVG text that notebooks display as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


@dataclass(slots=True)
class Node:
    """The content of a box: lines of text, and a cap at its left end that shows the operator.

    Edges enter at the cap. The `details` are the tooltip; the `kind` is "input", "constant" or
    "operation", followed by "result" for the first node.
    """

    kind: str
    operator: str
    lines: list[str]
    details: str

    def cap(self) -> float:
        """Return the width of the cap."""
        return max(text_width(self.operator) + PADDING, 28.0) if self.operator else 0.0

    def size(self, edges: int) -> tuple[float, float]:
        """Return the width and height of the box if it has this many incoming edges."""
        width = self.cap() + max(map(text_width, self.lines)) + 2 * PADDING
        return width, max(len(self.lines) * LINE + 8.0, edges * PORT)

    def draw(self, slot: Slot) -> Iterator[str]:
        """Yield the SVG elements of the box in a slot."""
        x, y, width, height = slot.x, slot.y - slot.height / 2, slot.width, slot.height
        corner = height / 2 if "input" in self.kind else 0.0 if "constant" in self.kind else 7.0
        yield f'<g class="{self.kind}">'
        yield f"<title>{escaped(self.details)}</title>"
        yield (
            f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="{corner:.1f}"/>'
        )
        base = slot.y + 4.5  # the baseline of a line of text in the middle
        if self.operator:
            yield _cap(x, y, self.cap(), height, corner)
            kind = "operator sign" if len(self.operator) == 1 else "operator"
            yield text(kind, x + self.cap() / 2, base, self.operator)
        base -= LINE / 2 * (len(self.lines) - 1)
        for number, line in enumerate(self.lines):
            kind = "derivative" if number else "value"
            yield text(kind, x + (self.cap() + width) / 2, base + LINE * number, line)
        yield "</g>"


def render(nodes: Sequence[Node], inputs: Sequence[Sequence[int]], title: str) -> Svg:
    """Return the drawing of a graph in which every path leads to the first node.

    Args:
        nodes: the content of each box.
        inputs: for each node the indices of its inputs, which come after it.
        title: the description for screen readers.
    """
    sizes = [node.size(len(parents)) for node, parents in zip(nodes, inputs, strict=True)]
    layout = layered_layout(sizes, inputs)
    lines = [*map(_path, layout.edges)]
    for node, slot in zip(nodes, layout.boxes, strict=True):
        lines += node.draw(slot)
    return document("mt-graph", title, (layout.width, layout.height), STYLE, lines)


def document(
    kind: str, title: str, size: tuple[float, float], style: str, elements: Iterable[str]
) -> Svg:
    """Return a standalone SVG document with a margin around its content.

    Args:
        kind: the CSS class of the root element.
        title: the description for screen readers.
        size: the width and height of the content, which begins at (0, 0).
        style: the style sheet.
        elements: the SVG elements, from back to front.
    """
    width, height = (f"{side + 2 * MARGIN:.1f}" for side in size)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" width="{width}" '
        f'height="{height}" viewBox="{-MARGIN} {-MARGIN} {width} {height}">',
        f"<title>{escaped(title)}</title>",
        f"<style>{style}</style>",
        *elements,
    ]
    return Svg("\n".join([*lines, "</svg>\n"]))


def _cap(x: float, y: float, width: float, height: float, r: float) -> str:
    """Return the left end of a box, with round corners on the left only."""
    across, down = width - r, height - 2 * r
    return (
        f'<path class="cap" d="M{x + width:.1f} {y:.1f}h-{across:.1f}a{r} {r} 0 0 0 -{r} {r}'
        f'v{down:.1f}a{r} {r} 0 0 0 {r} {r}h{across:.1f}z"/>'
    )


def text(kind: str, x: float, y: float, content: str) -> str:
    """Return a line of text at `x`, which is its middle if the style sheet centers text."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escaped(content)}</text>'


def _path(edge: Edge) -> str:
    """Return the path of an edge, including the arrowhead if it arrives."""
    (x, y), (end_x, end_y) = edge.start, edge.end
    half = (edge.bend + end_x) / 2
    line = (
        f"M{x:.1f} {y:.1f}H{edge.bend:.1f}"
        f"C{half:.1f} {y:.1f} {half:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}"
    )
    if not edge.arrives:
        return f'<path class="track" d="{line}"/>'
    return f'<path class="edge" d="{line}m-6 -4l6 4l-6 4"/>'


def text_width(text: str) -> float:
    """Estimate the width of a text; East Asian characters and emoji count twice."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return CHARACTER * (len(text) + wide)


def escaped(text: str) -> str:
    """Return a text escaped for XML, with U+FFFD for each character that XML does not allow."""
    return text.translate(ESCAPES)
