"""Threads of a GPU: which element each one processes, and which memory a warp of them reads."""

from __future__ import annotations

from drawings.picture import COLOURS, INK, MUTED, OUTLINE, Picture, element, svg, text

WARP = 32
"""The number of threads that execute an instruction together."""

SECTOR = 8
"""The number of float32 elements in 32 bytes, the smallest piece of memory that a GPU reads."""

ACROSS, DOWN = 8, 8
"""The number of sectors in a row and in a column of the drawing of a memory."""


def grid(count: int, blocks: int, threads: int) -> Picture:
    """Draw the threads of a grid below the elements that they process.

    Args:
        count: the number of elements; further threads have none.
        blocks: the number of blocks.
        threads: the number of threads in each block.
    """
    side, gap, left, top = 38.0, 14.0, 8.0, 24.0
    width = 2.0 * left + blocks * threads * side + (blocks - 1) * gap
    parts = [text(left, 14.0, "elements", "start", MUTED)]
    for block in range(blocks):
        start = left + block * (threads * side + gap)
        frame = f"fill: none; stroke: {MUTED}; stroke-width: 1.5"
        parts.append(_box(start, top + 74.0, threads * side, 62.0, frame))
        middle = start + threads * side / 2.0
        parts.append(text(middle, top + 154.0, f"block {block}", "middle", MUTED))
        for thread in range(threads):
            i = block * threads + thread
            parts.append(_thread(start + thread * side, top, side, i, thread, i < count))
    idle = max(0, blocks * threads - count)
    alt = f"{blocks} blocks of {threads} threads above {count} elements; {idle} threads have none."
    return Picture(svg(width, top + 164.0, *parts), alt)


def _thread(x: float, top: float, side: float, i: int, thread: int, busy: bool) -> str:
    """Return a thread, and if it is busy the element that it processes."""
    middle, y = x + side / 2.0, top + 105.0
    dashes = "" if busy else "; stroke-dasharray: 2 4"
    circle = f"fill: none; stroke: {COLOURS[0] if busy else MUTED}; stroke-width: 2{dashes}"
    colour = INK if busy else MUTED
    parts = [
        element("circle", cx=middle, cy=y, r=13, style=circle),
        text(middle, y + 4.5, str(thread), "middle", colour),
    ]
    if busy:
        parts.append(_box(x, top, side, 30.0, f"fill: none; stroke: {INK}; stroke-width: 1"))
        parts.append(text(middle, top + 20.0, str(i)))
        line = f"stroke: {COLOURS[0]}; stroke-width: 1.5"
        parts.append(element("line", x1=middle, x2=middle, y1=y - 13, y2=top + 31, style=line))
    return "".join(parts)


def _box(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, style=style)


def warp(stride: int, start: int = 0) -> Picture:
    """Draw the memory that a warp reads if thread t reads element `start + stride * t`.

    A sector is a box of 8 elements. It is tinted if it is read; the elements that some thread uses
    are filled.
    """
    cell, gap, side = 8.0, 6.0, 13.0
    used = {start + stride * thread for thread in range(WARP)}
    read = {at // SECTOR for at in used}
    parts = []
    for sector in range(ACROSS * DOWN):
        x = gap + (sector % ACROSS) * (SECTOR * cell + gap)
        y = gap + (sector // ACROSS) * (side + gap)
        tint, line = (COLOURS[1],) * 2 if sector in read else ("none", OUTLINE)
        frame = f"fill: {tint}; fill-opacity: 0.28; stroke: {line}"
        parts.append(_box(x, y, SECTOR * cell, side, frame))
        for k in range(SECTOR):
            if sector * SECTOR + k in used:
                fill = f"fill: {COLOURS[0]}"
                parts.append(_box(x + k * cell + 1.0, y + 1.0, cell - 2.0, side - 2.0, fill))
    share = len(used) / (len(read) * SECTOR)
    alt = f"With stride {stride} a warp reads {len(read)} sectors and uses {share:.0%} of them."
    width = gap + ACROSS * (SECTOR * cell + gap)
    return Picture(svg(width, gap + DOWN * (side + gap), *parts), alt)
