"""Trees of modules, and the order in which they are traversed."""

from __future__ import annotations

from collections.abc import Hashable

from drawings.boxes import Box, Edge, boxes
from drawings.picture import Picture, Steps
from mt_operators import Module

GAP = 18.0
"""The space between two boxes in a row."""


def traversal(root: Module) -> Steps:
    """Draw the steps of `root.named_modules()`."""
    kinds: dict[int, str] = {}
    pictures = []
    for path, module in root.named_modules():
        kinds[id(module)] = "marked"
        own = [name for name, _ in module.named_parameters(path, recurse=False)]
        found = f"its parameters: {', '.join(own)}" if own else "no parameters of its own"
        caption = f"{path or 'The root, with an empty name'}: {found}."
        pictures.append((caption, _draw(root, kinds, caption)))
        kinds[id(module)] = "done"
    return Steps(pictures)


def _draw(root: Module, kinds: dict[int, str], alt: str) -> Picture:
    """Draw a tree, with shared modules once; `kinds` are the kinds of boxes by `id` of a module."""
    places: dict[Hashable, Box] = {}
    edges: list[Edge] = []
    widths: list[float] = []
    leaves = 0

    def place(module: Module, name: str, row: int) -> float:
        """Add the boxes of a subtree, and return the column of its root."""
        nonlocal leaves
        columns = []
        for child_name, child in module._modules.items():
            if id(child) not in places:
                columns.append(place(child, child_name, row + 1))
            edges.append(Edge(id(module), id(child)))
        if not columns:
            columns.append(float(leaves))
            leaves += 1
        column = (min(columns) + max(columns)) / 2.0
        kind = type(module).__name__
        lines = [f"{name}: {kind}" if name else kind]
        lines += [f"{key} = {value.value:.3g}" for key, value in module._parameters.items()]
        places[id(module)] = Box(column, row, lines, kinds.get(id(module), ""))
        widths.append(places[id(module)].width)
        return column

    place(root, "", 0)
    return boxes(places, edges, alt=alt, column=max(widths) + GAP, row=92.0)
