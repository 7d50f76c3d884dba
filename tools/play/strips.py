"""Memory as a picture: each part of it in the colour of the thread that writes it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from mt_tensor.extending import Array
from play.sharing import Written

COLOURS = (
    *("#2f6fab", "#b8501f", "#2f7d48", "#8250b0"),
    *("#1f7f86", "#b8406f", "#8a6a12", "#5b6b7d"),
)
"""Of the threads, again and again; white can be read on each."""

STYLE = """<style>
.mt-strips .memory{position:relative;margin:.3rem 0 .6rem}
.mt-strips img{display:block;width:100%;height:100%;border-radius:.4rem}
.mt-strips .memory span{position:absolute;transform:translate(-50%,-50%);color:#fff;
font-size:.85rem;font-weight:600;white-space:nowrap}
.mt-strips .keys{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;font-size:.85rem;
font-variant-numeric:tabular-nums}
.mt-strips .keys i{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;
margin-right:.4rem;vertical-align:-.08rem}
</style>"""

WIDEST, NARROWEST = 2.0, 1.5
"""How many times as wide as high a picture of several rows is at most, and at least."""

ROOM = 0.16, 0.12
"""Which share of the width and of the height the name of a thread needs."""


def rectangles(tiles: Array) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield a matrix of numbers as rectangles of one number each.

    Yields:
        The number, the first row and column, and the row and column after the last.
    """
    changes = np.flatnonzero((tiles[1:] != tiles[:-1]).any(1)) + 1
    for top, bottom in pairwise([0, *changes.tolist(), len(tiles)]):
        row = tiles[top]
        ends = np.flatnonzero(np.diff(row)) + 1
        for left, right in pairwise([0, *ends.tolist(), row.size]):
            yield int(row[left]), top, left, bottom, right


def strips_html(shown: Written) -> str:
    """Return a picture of memory, and how many elements each thread writes, as HTML."""
    rows, columns = shown.tiles.shape
    paths = [""] * len(shown.owners)
    names: dict[int, tuple[float, str]] = {}
    for tile, top, left, bottom, right in rectangles(shown.tiles):
        paths[tile] += f"M{left} {top}H{right}V{bottom}H{left}z"
        owner, width, height = shown.owners[tile], (right - left) / columns, (bottom - top) / rows
        if width > ROOM[0] and height > ROOM[1] and width * height > names.get(owner, (0.0,))[0]:
            x, y = 50 * (left + right) / columns, 50 * (top + bottom) / rows
            place = f"left:{x:.2f}%;top:{y:.2f}%"
            names[owner] = width * height, f'<span style="{place}">thread {owner}</span>'
    seams = len(paths) > len(set(shown.owners))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns} {rows}" '
        f'preserveAspectRatio="none"><g stroke="#fff" stroke-opacity="0.5" '
        f'stroke-width="{float(seams)}">'
        + "".join(
            f'<path d="{path}" fill="{COLOURS[owner % len(COLOURS)]}" '
            'vector-effect="non-scaling-stroke" shape-rendering="crispEdges"/>'
            for path, owner in zip(paths, shown.owners, strict=True)
        )
        + "</g></svg>"
    )
    elements = shown.elements()
    told = [f"thread {thread}: {count:,}" for thread, count in elements.items()]
    keys = "".join(
        f'<span><i style="background:{COLOURS[thread % len(COLOURS)]}"></i>{words}</span>'
        for thread, words in zip(elements, told, strict=True)
    )
    ratio = min(max(columns / rows, NARROWEST), WIDEST)
    size = "height:3.2rem" if rows == 1 else f"aspect-ratio:{ratio:.2f}"
    picture = base64.b64encode(svg.encode()).decode()
    return (
        f'{STYLE}<div class="mt-strips"><div class="memory" style="{size}">'
        f'<img alt="{"; ".join(told)}" src="data:image/svg+xml;base64,{picture}">'
        f"{''.join(name for _, name in names.values())}</div>"
        f'<div class="keys">{keys}</div></div>'
    )
