"""The order in which a fold combines the elements of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from drawings.boxes import Box, Edge, boxes
from drawings.picture import Picture


def left_fold(function: Callable[[Any, Any], Any], start: Any, values: Sequence[Any]) -> Picture:
    """Draw a fold from the left, one element after the other."""
    places: dict[Hashable, Box] = {"start": Box(0.0, 0, [_number(start)], "dashed")}
    edges: list[Edge] = []
    last: Hashable = "start"
    total = start
    for number, value in enumerate(values, 1):
        total = function(total, value)
        places["value", number] = Box(number, number - 1, [_number(value)], "source")
        kind = "done" if number == len(values) else ""
        places["total", number] = Box(number - 0.5, number, [_number(total)], kind)
        edges += [Edge(key, ("total", number)) for key in (last, ("value", number))]
        last = "total", number
    alt = f"A fold from the left: {len(values)} steps, each of which needs the one before."
    return boxes(places, edges, alt=alt, column=62.0, row=50.0)


def pairwise_fold(function: Callable[[Any, Any], Any], values: Sequence[Any]) -> Picture:
    """Draw a fold of neighbors, then of the results, and so on; an unpaired one is carried over."""
    level: list[Hashable] = [("value", number) for number in range(len(values))]
    found: dict[Hashable, Any] = dict(zip(level, values, strict=True))
    places = {key: Box(i, 0, [_number(found[key])], "source") for i, key in enumerate(level)}
    edges: list[Edge] = []
    row = 0
    while len(level) > 1:
        row += 1
        above = level
        level = []
        for number in range(0, len(above) - 1, 2):
            x, y = above[number : number + 2]
            key = row, number
            found[key] = function(found[x], found[y])
            middle = (places[x].column + places[y].column) / 2.0
            places[key] = Box(middle, row, [_number(found[key])], "done" if len(above) == 2 else "")
            edges += [Edge(x, key), Edge(y, key)]
            level.append(key)
        level += above[len(above) - len(above) % 2 :]
    alt = f"A fold of pairs: {row} rounds, and the steps of a round are independent."
    return boxes(places, edges, alt=alt, column=62.0, row=60.0)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
