"""A heat map of attention weights: one row for each query, one column for each key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt_autodiff.drawing.svg import document, escaped, text
from mt_tensor.extending import Array

CELL = 36.0
LEFT, TOP = 44.0, 44.0

STYLE = """
.mt-heat{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;
max-width:100%;height:auto}
.mt-heat text{fill:#1c2733;text-anchor:middle}
.mt-heat .token{font-size:16px;font-weight:600}
.mt-heat .cell{fill:#3b82c4;stroke:#66788a;stroke-opacity:.35}
@media (prefers-color-scheme:dark){
.mt-heat text{fill:#e8eef5}
}
"""


def draw_heat(weights: Array, queries: Sequence[str], keys: Sequence[str]) -> str:
    """Draw weights from 0 to 1 as SVG.

    Args:
        weights: shape (queries, keys).
        queries: the labels of the rows.
        keys: the labels of the columns.
    """
    elements = [
        *(text("token", LEFT + (i + 0.5) * CELL, TOP - 12, each) for i, each in enumerate(keys)),
        *(text("token", LEFT - 20, TOP + (i + 0.65) * CELL, e) for i, e in enumerate(queries)),
    ]
    for (row, column), weight in np.ndenumerate(weights):
        x, y = LEFT + column * CELL, TOP + row * CELL
        title = f"position {row + 1} gives {weight:.3f} to {keys[column]}, at position {column + 1}"
        elements.append(
            f'<rect class="cell" x="{x}" y="{y}" width="{CELL}" height="{CELL}" '
            f'fill-opacity="{0.9 * weight:.3f}"><title>{escaped(title)}</title></rect>'
        )
        if weight >= 0.1:
            elements.append(text("weight", x + CELL / 2, y + CELL / 2 + 4, f"{weight:.1f}"))
    size = (LEFT + len(keys) * CELL, TOP + len(queries) * CELL)
    return document("mt-heat", "Attention weights of each letter", size, STYLE, elements)
