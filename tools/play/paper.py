"""Paper to draw on, with a mouse, a pen or a finger: a component of the page."""

from __future__ import annotations

import streamlit as st

HTML = """<div class="mt-paper"><canvas role="img" aria-label="paper to draw on"></canvas>
<button type="button">Clear the paper</button></div>"""

CSS = """
.mt-paper{display:flex;flex-direction:column;gap:.6rem;max-width:20rem;
font-family:var(--st-font);color:var(--st-text-color)}
.mt-paper canvas{width:100%;aspect-ratio:1;touch-action:none;cursor:crosshair;
border-radius:.5rem;border:1px solid var(--st-border-color);
background:var(--st-secondary-background-color)}
.mt-paper button{font:inherit;color:inherit;padding:.45rem;border-radius:.5rem;cursor:pointer;
border:1px solid var(--st-border-color);background:transparent}
"""

# Strokes stay with the canvas, for this function is called again after each change of the page.
SCRIPT = """
export default function ({ parentElement, setStateValue }) {
  const canvas = parentElement.querySelector('canvas');
  const side = canvas.width = canvas.height = 480;
  const strokes = canvas.strokes ??= [];
  const send = () => setStateValue('strokes', strokes.slice());
  const draw = () => {
    const pen = canvas.getContext('2d');
    pen.clearRect(0, 0, side, side);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = side / 11;
    pen.lineCap = pen.lineJoin = 'round';
    for (const stroke of strokes) {
      pen.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) pen.lineTo(x * side, y * side);
      pen.stroke();
    }
  };
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  canvas.onpointerdown = event => {
    canvas.setPointerCapture(event.pointerId);
    canvas.stroke = [place(event)];
    strokes.push(canvas.stroke);
    draw();
  };
  canvas.onpointermove = event => {
    if (!canvas.stroke) return;
    canvas.stroke.push(place(event));
    draw();
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (!canvas.stroke) return;
    canvas.stroke = null;
    send();
  };
  parentElement.querySelector('button').onclick = () => {
    strokes.length = 0;
    draw();
    send();
  };
  draw();
}
"""

_paper = st.components.v2.component("paper", html=HTML, css=CSS, js=SCRIPT, isolate_styles=False)


def paper(key: str) -> object:
    """Show paper, and return what is drawn on it: for each stroke its points, from 0 to 1."""
    return _paper(key=key, default={"strokes": []}, on_strokes_change=_nothing).strokes


def _nothing() -> None:
    """Do nothing: the page is computed anew after each stroke as it is."""
