"""What pages have in common: how they show numbers, pictures, and what went wrong."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import streamlit as st

VALUE, DERIVATIVE = "#3b82c4", "#d1622b"
"""Blue and orange, which people tell apart on light and on dark pages."""


def is_dark() -> bool:
    """Whether the page has light text on a dark ground, for pictures that are made of pixels."""
    return bool(st.context.theme.type == "dark")


def show_numbers(numbers: Mapping[str, str], notes: Mapping[str, str] | None = None) -> None:
    """Put numbers on the page beside each other, as many as there is room for.

    Args:
        numbers: what is written large, by what is written above it.
        notes: what is told of some of them when they are pointed at.
    """
    with st.container(horizontal=True, gap="medium"):
        for label, number in numbers.items():
            st.metric(label, number, help=(notes or {}).get(label), width="content")


def show_svg(svg: str, *, fits: bool = False) -> None:
    """Put a picture on the page, in its own size; what is wider than the page can be scrolled.

    It is dark where the reader's system is, as is the page.

    Args:
        svg: a document of its own, whose title is what a screen reader tells.
        fits: whether it becomes smaller instead where there is little room.
    """
    picture = base64.b64encode(svg.encode()).decode()
    title = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    width = "100%" if fits else "none"
    st.html(
        '<div style="overflow-x:auto;max-width:100%">'
        f'<img alt="{title[1] if title else ""}" style="max-width:{width}" '
        f'src="data:image/svg+xml;base64,{picture}"></div>'
    )


def time_told(seconds: float) -> str:
    """Return a time with three digits, in s, ms or µs."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g}\u00a0{unit}"
    return f"{seconds * 1e6:.3g}\u00a0µs"


def plain(text: str) -> str:
    """Return Markdown that shows a text as it is, whatever it holds."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def refuse(error: Exception) -> None:
    """Say on the page why something is not done."""
    st.error(plain(str(error)))
