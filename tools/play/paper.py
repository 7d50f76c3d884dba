"""A drawing canvas for mouse, pen or finger, as a component of the page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

HTML = """<div class="mt-paper"><canvas role="img" aria-label="paper to draw on"></canvas>
<button type="button">Clear the paper</button></div>"""

_paper = st.components.v2.component(
    "paper",
    html=HTML,
    css=Path(__file__).with_suffix(".css").read_text("utf-8"),
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


def paper(key: str) -> object:
    """Show a canvas, and return its strokes: lists of points from 0 to 1."""
    return _paper(key=key, default={"strokes": []}, on_strokes_change=_nothing).strokes


def _nothing() -> None:
    """Do nothing: Streamlit reruns the page after each stroke anyway."""
