"""Pictures: SVG with a text alternative, and sequences of them to step through."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

INK = "light-dark(#1b1d22, #e4e5e7)"
MUTED = "light-dark(#5b6069, #a3a8b0)"
RULE = "light-dark(#d5d8dd, #3b3f45)"
OUTLINE = "light-dark(#a4a9b1, #676c74)"
PAPER = "light-dark(#ffffff, #131416)"

COLOURS = (
    "light-dark(#0b57d0, #7cacf8)",
    "light-dark(#b3440a, #f5a623)",
    "light-dark(#1a7a3c, #6fd58a)",
    "light-dark(#8430ce, #c58af9)",
)
"""Colors of lines and classes, which differ in lightness, too."""

FONT = "font-family: system-ui, sans-serif; font-size: 13px"


@dataclass(frozen=True)
class Picture:
    """A picture.

    Attributes:
        svg: an `<svg>` element.
        alt: the text alternative, for readers who cannot see it.
    """

    svg: str
    alt: str

    def _repr_svg_(self) -> str:
        label = f'role="img" aria-label="{html.escape(self.alt)}"'
        plain = re.sub(r' (role|aria-label)="[^"]*"', "", self.svg[: self.svg.index(">")])
        return plain.replace("<svg", f"<svg {label}", 1) + self.svg[self.svg.index(">") :]


@dataclass(frozen=True)
class Steps:
    """Pictures of the steps of a process; the page shows one at a time.

    Attributes:
        pictures: pairs of a caption and a picture.
    """

    pictures: tuple[tuple[str, Picture], ...]

    def __init__(self, pictures: Iterable[tuple[str, Picture]]) -> None:
        object.__setattr__(self, "pictures", tuple(pictures))

    def _repr_html_(self) -> str:
        frames = (
            f"<figure>{picture._repr_svg_()}<figcaption>{html.escape(text)}</figcaption></figure>"
            for text, picture in self.pictures
        )
        return f'<div class="steps">{"".join(frames)}</div>'


def element(name: str, text: str = "", **attributes: object) -> str:
    """Return an SVG element; underscores in the names of attributes become hyphens."""
    settings = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{settings}>{text}</{name}>"


def text(x: float, y: float, content: str, anchor: str = "middle", colour: str = INK) -> str:
    """Return a line of text."""
    style = f"{FONT}; fill: {colour}"
    return element("text", html.escape(content), x=x, y=y, text_anchor=anchor, style=style)


def svg(width: float, height: float, *parts: str) -> str:
    """Return an `<svg>` element."""
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}"}
    return element("svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", **size)
