"""Draw memory, with each part in the color of the thread that writes it."""

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
"""The colors of the threads, repeated; white text is readable on each."""

WIDEST, NARROWEST = 2.0, 1.5
"""The maximum and minimum aspect ratio of a picture with several rows."""

ROOM = 0.16, 0.12
"""The fraction of the width and the height that the label of a thread needs."""


def rectangles(tiles: Array) -> Iterator[tuple[int, int, int, int, int]]:
    """Split a matrix into rectangles of equal numbers.

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
    """Draw memory, and list the number of elements that each thread writes, as HTML."""
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
    counts = [f"thread {thread}: {count:,}" for thread, count in elements.items()]
    keys = "".join(
        f'<span><i style="background:{COLOURS[thread % len(COLOURS)]}"></i>{words}</span>'
        for thread, words in zip(elements, counts, strict=True)
    )
    ratio = min(max(columns / rows, NARROWEST), WIDEST)
    size = "height:3.2rem" if rows == 1 else f"aspect-ratio:{ratio:.2f}"
    picture = base64.b64encode(svg.encode()).decode()
    return (
        f'<div class="mt-strips"><div class="memory" style="{size}">'
        f'<img alt="{"; ".join(counts)}" src="data:image/svg+xml;base64,{picture}">'
        f"{''.join(name for _, name in names.values())}</div>"
        f'<div class="keys">{keys}</div></div>'
    )
