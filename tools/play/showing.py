"""Helpers for pages: numbers, pictures and error messages."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import streamlit as st

VALUE, DERIVATIVE = "#3b82c4", "#d1622b"
"""Blue and orange, which are easy to distinguish on light and dark pages."""


def is_dark() -> bool:
    """Return whether the page has a dark theme, for pictures made of pixels."""
    return bool(st.context.theme.type == "dark")


def show_numbers(numbers: Mapping[str, str], notes: Mapping[str, str] | None = None) -> None:
    """Show numbers next to each other, as many as fit.

    Args:
        numbers: the numbers by label.
        notes: tooltips by label.
    """
    with st.container(horizontal=True, gap="medium"):
        for label, number in numbers.items():
            st.metric(label, number, help=(notes or {}).get(label), width="content")


def show_svg(svg: str, *, fits: bool = False) -> None:
    """Show a picture in its original size; if it is wider than the page, it can be scrolled.

    It follows the color scheme of the system, like the page.

    Args:
        svg: a complete document, whose title is the alternative text.
        fits: whether to scale it down to the page instead.
    """
    picture = base64.b64encode(svg.encode()).decode()
    title = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    width = "100%" if fits else "none"
    st.html(
        '<div style="overflow-x:auto;max-width:100%">'
        f'<img alt="{title[1] if title else ""}" style="max-width:{width}" '
        f'src="data:image/svg+xml;base64,{picture}"></div>'
    )


def format_time(seconds: float) -> str:
    """Format a time with three digits, in s, ms or µs."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g}\u00a0{unit}"
    return f"{seconds * 1e6:.3g}\u00a0µs"


def plain(text: str) -> str:
    """Escape a text for Markdown."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def show_error(error: Exception) -> None:
    """Show an error message on the page."""
    st.error(plain(str(error)))
