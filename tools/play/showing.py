"""Helpers for pages: drawings, times and error messages."""

from __future__ import annotations

import base64
import re
from html import escape

import streamlit as st

from drawings import Picture


def show_picture(picture: Picture) -> None:
    """Show a drawing, as an image that follows the color scheme of the page."""
    svg = picture.svg.replace("<svg", '<svg style="color-scheme: light dark"', 1)
    data = base64.b64encode(svg.encode()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    st.html(f'<img alt="{escape(picture.alt)}" style="max-width: 100%" src="{source}">')


def format_time(seconds: float) -> str:
    """Format a time in microseconds."""
    return f"{seconds * 1e6:,.1f}\u00a0µs"


def plain(text: str) -> str:
    """Escape a text for Markdown."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def show_error(error: Exception) -> None:
    """Show an error message on the page."""
    st.error(plain(str(error)))
