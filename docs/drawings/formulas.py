"""Graphs of formulas: every expression once, below its operands."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from drawings.boxes import Box, Edge, boxes
from drawings.picture import Picture, Steps
from mt_operators.core.graph import PYTHON, Graph
from mt_operators.core.lowering import evaluated

GAP = 22.0
"""The space between boxes in a row."""

Point = tuple[float, int]


def formula_graph(graph: Graph, names: Sequence[str]) -> Picture:
    """Draw a graph; `names` are those of its arguments."""
    alt = f"A graph of {len(graph.expressions)} expressions: " + "; ".join(_texts(graph, names))
    return _draw(graph, names, {}, len(graph.expressions), alt)


def evaluation_steps(graph: Graph, names: Sequence[str], operands: Sequence[Any]) -> Steps:
    """Draw the steps of an evaluation, one expression after the other."""
    values = evaluated(graph, operands)
    texts = _texts(graph, names)
    pictures = []
    for position, value in enumerate(values):
        known = {i: f"{float(values[i]):.4g}" for i in range(position + 1)}
        caption = texts[position]
        if graph.expressions[position].operation != "constant":
            caption += f" = {float(value):.4g}"
        pictures.append((caption, _draw(graph, names, known, position, caption)))
    return Steps(pictures)


def _texts(graph: Graph, names: Sequence[str]) -> list[str]:
    """Return a line of text for each expression."""
    lines = []
    for position, expression in enumerate(graph.expressions):
        parts = [f"e{i}" for i in expression.operands]
        operation = expression.operation
        if operation == "argument":
            text = names[int(expression.number)]
        elif operation == "constant":
            text = f"{expression.number:g}"
        elif operation in PYTHON:
            text = PYTHON[operation].format(*parts)
        else:
            text = f"{operation}({', '.join(parts)})"
        lines.append(f"e{position} = {text}")
    return lines


def _draw(graph: Graph, names: Sequence[str], known: dict[int, str], now: int, alt: str) -> Picture:
    """Draw a graph with the values that are known, and mark the expression `now`."""
    texts = _texts(graph, names)
    kinds = {"argument": "source", "constant": "dashed"}
    places: dict[Hashable, Box] = {}
    edges: list[Edge] = []
    points, routes = _layout(graph, [_width(text) for text in texts])
    for position, expression in enumerate(graph.expressions):
        lines = [texts[position]]
        if known and expression.operation != "constant":
            lines.append(known.get(position, "?"))
        kind = kinds.get(expression.operation, "")
        if position in graph.outputs:
            kind = "done"
        if position == now:
            kind = "marked"
        places[position] = Box(*points[position], lines, kind)
        edges += [
            Edge(i, position, routes[i, position]) for i in dict.fromkeys(expression.operands)
        ]
    return boxes(places, edges, alt=alt, column=1.0, row=74.0 if known else 58.0)


def _width(text: str) -> float:
    return Box(0.0, 0, [text]).width


# --- Layout ---------------------------------------------------------------------------------------


def _layout(
    graph: Graph, widths: Sequence[float]
) -> tuple[dict[int, Point], dict[tuple[int, int], list[Point]]]:
    """Return the places of expressions, and the points that each edge passes through."""
    rows = _rows(graph)
    layers: list[list[Hashable]] = [[] for _ in range(max(rows) + 1)]
    above: dict[Hashable, list[Hashable]] = {}
    routes: dict[tuple[int, int], list[Hashable]] = {}
    for position, expression in enumerate(graph.expressions):
        layers[rows[position]].append(position)
        above[position] = []
        for operand in dict.fromkeys(expression.operands):
            last: Hashable = operand
            routes[operand, position] = []
            for row in range(rows[operand] + 1, rows[position]):
                between = (operand, position, row)
                layers[row].append(between)
                above[between] = [last]
                routes[operand, position].append(between)
                last = between
            above[position].append(last)
    size = {key: widths[key] if isinstance(key, int) else 8.0 for layer in layers for key in layer}
    at = _spread(layers, above, size)
    for (start, end), keys in routes.items():
        _straighten(keys, layers, at, size, (at[start] + at[end]) / 2.0)
    places = {key: (at[key], rows[key]) for key in at if isinstance(key, int)}
    return places, {
        edge: [(at[key], key[2]) for key in keys]  # type: ignore[index]
        for edge, keys in routes.items()
    }


def _straighten(
    route: list[Hashable],
    layers: list[list[Hashable]],
    at: dict[Hashable, float],
    size: dict[Hashable, float],
    middle: float,
) -> None:
    """Route an edge straight down, if one of its positions is free in all of its rows."""
    others = [
        (at[key] - size[key] / 2.0, at[key] + size[key] / 2.0)
        for layer in layers
        if not set(route).isdisjoint(layer)
        for key in layer
        if key not in route
    ]
    for x in sorted({at[key] for key in route}, key=lambda x: abs(x - middle)):
        if all(x + GAP / 2.0 <= left or x - GAP / 2.0 >= right for left, right in others):
            at.update(dict.fromkeys(route, x))
            return


def _rows(graph: Graph) -> list[int]:
    """Return the row of each expression, below its operands; constants are close to their use."""
    rows: list[int] = []
    for expression in graph.expressions:
        rows.append(1 + max((rows[i] for i in expression.operands), default=-1))
    for position, expression in enumerate(graph.expressions):
        uses = [rows[i] for i, e in enumerate(graph.expressions) if position in e.operands]
        if expression.operation == "constant" and uses:
            rows[position] = min(uses) - 1
    return rows


def _spread(
    layers: list[list[Hashable]],
    above: dict[Hashable, list[Hashable]],
    size: dict[Hashable, float],
) -> dict[Hashable, float]:
    """Return horizontal positions: each close to its neighbors, without overlaps."""
    below: dict[Hashable, list[Hashable]] = {key: [] for key in above}
    for key, keys in above.items():
        for other in keys:
            below[other].append(key)
    at: dict[Hashable, float] = {}
    for layer in layers:
        _place(layer, at, {key: float(i) for i, key in enumerate(layer)}, size)
    for neighbors, order in [(above, layers[1:]), (below, layers[-2::-1])] * 12:
        for layer in order:
            wanted = {
                key: sum(at[n] for n in neighbors[key]) / len(neighbors[key])
                if neighbors[key]
                else at[key]
                for key in layer
            }
            layer.sort(key=wanted.__getitem__)
            _place(layer, at, wanted, size)
    return at


def _place(
    layer: list[Hashable],
    at: dict[Hashable, float],
    wanted: dict[Hashable, float],
    size: dict[Hashable, float],
) -> None:
    """Place a row in its order, as close to the wanted positions as its sizes allow."""
    end = -1e9
    for key in layer:
        at[key] = max(wanted[key], end + size[key] / 2.0)
        end = at[key] + size[key] / 2.0 + GAP
    shift = sum(at[key] - wanted[key] for key in layer) / len(layer)
    for key in layer:
        at[key] -= shift
