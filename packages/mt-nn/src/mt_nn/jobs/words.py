"""Sentences drawn word by word, in the colour of what each word speaks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LINE = 76
"""How many letters a line has."""
ADVANCE = 0.602
"""The width of a letter of matplotlib's monospaced font, in font sizes."""


class Told(NamedTuple):
    """A sentence, and what is made of it.

    Attributes:
        title: what is said of it.
        words: its own.
        weights: what each speaks for, shape (words,): the first class if below 0, else the second.
        wrong: whether what is said is wrong.
    """

    title: str
    words: Sequence[str]
    weights: npt.NDArray[Any]
    wrong: bool


def draw_told(figure: Any, sentences: Sequence[Told]) -> None:
    """Draw sentences below each other: as many as find room.

    Args:
        figure: where to; matplotlib's.
        sentences: what is drawn.
    """
    from matplotlib import colormaps

    axes = figure.add_axes((0.01, 0.01, 0.98, 0.9))
    size = 0.98 * figure.bbox.width / figure.dpi * 72 / (LINE * ADVANCE)
    lines = int(0.9 * figure.bbox.height / figure.dpi * 72 / (1.5 * size))
    axes.set(xlim=(0, LINE), ylim=(lines, 0))
    axes.axis("off")
    style = {"family": "monospace", "size": size, "va": "center", "parse_math": False}
    strongest = max(float(np.abs(each.weights).max()) for each in sentences) or 1.0
    line = 0.5
    for title, words, weights, wrong in sentences:
        places = placed(words)
        if line + 1 + places[-1][0] > lines:
            break
        axes.text(0, line, title, color="red" if wrong else "black", weight="bold", **style)
        for word, weight, (row, column) in zip(words, weights, places, strict=True):
            color = colormaps["RdBu"](0.5 + 0.4 * float(weight) / strongest)
            box = {"facecolor": color, "linewidth": 0, "boxstyle": "square,pad=0.1"}
            axes.text(column, line + 1 + row, word, bbox=box, **style)
        line += 2.5 + places[-1][0]


def placed(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the line and the column where each word begins, no line being longer than `LINE`."""
    places, row, column = [], 0, 0
    for word in words:
        if column and column + len(word) > LINE:
            row, column = row + 1, 0
        places.append((row, column))
        column += len(word) + 1
    return places
