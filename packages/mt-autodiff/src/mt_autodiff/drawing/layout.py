"""The layout of a directed acyclic graph, drawn from left to right.

This is the layered method of Sugiyama, Tagawa and Toda (1981). Each node gets a layer, one further
left than all its users, so inputs stand next to the operators that use them. An edge that spans
several layers has its own slot in each layer between, so it never crosses a box; all edges from one
node share these slots. A sweep from the result to the left sorts each layer by the positions of its
users and moves each slot as near to them as possible; a sweep back moves it towards its sources.
This takes no longer than sorting the layers, and the same graph always gives the same layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SPACE = 14.0  # between two slots of a layer
GAP = 50.0  # between two layers
INPUT_WEIGHT = 0.001  # the weight of an input's position; operations have weight 1


@dataclass(eq=False, slots=True)
class Slot:
    """A position in a layer: a node's box, or a point that a long edge passes through.

    `x` is its left side and `y` its middle. Layers are counted from the result, in layer 0, to the
    left. Each user is stored with the height at which the edge enters it, relative to its middle.
    """

    width: float = 0.0
    height: float = 0.0
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    sources: list[Slot] = field(default_factory=list)
    users: list[tuple[Slot, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece of an edge: a straight line from `start` to x = `bend`, then a curve to `end`.

    It `arrives` if it ends at a box and not at the next piece.
    """

    start: tuple[float, float]
    bend: float
    end: tuple[float, float]
    arrives: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes of all nodes and the pieces of all edges, within `(width, height)`."""

    width: float
    height: float
    boxes: list[Slot]
    edges: list[Edge]


def layered_layout(sizes: Sequence[tuple[float, float]], inputs: Sequence[Sequence[int]]) -> Layout:
    """Lay out a graph in which every path leads to node 0.

    Edges enter a node in the order of its inputs, from top to bottom.

    Args:
        sizes: the width and height of each node's box.
        inputs: for each node its inputs, which have higher numbers; an input that is listed twice
            gets two edges.
    """
    boxes = [Slot(width, height) for width, height in sizes]
    layers = _connect(boxes, inputs)
    _place(layers)
    return _measure(boxes, layers)


def _connect(boxes: list[Slot], inputs: Sequence[Sequence[int]]) -> list[list[Slot]]:
    """Return the layers, with edges only between neighboring layers.

    Each node is one layer further from the result than its furthest user.
    """
    layers: list[list[Slot]] = []
    users: list[list[tuple[Slot, float]]] = [[] for _ in boxes]
    for box, sources, used in zip(boxes, inputs, users, strict=True):
        box.layer = max((user.layer + 1 for user, _ in used), default=0)
        layers += [[] for _ in range(box.layer + 1 - len(layers))]
        layers[box.layer].append(box)
        _connect_to_users(box, used, layers)
        for index, source in enumerate(sources):
            users[source].append((box, ((index + 0.5) / len(sources) - 0.5) * box.height))
    return layers


def _connect_to_users(box: Slot, users: list[tuple[Slot, float]], layers: list[list[Slot]]) -> None:
    """Connect a box to its users, with a slot in each layer that its edges pass."""
    track = [box]
    for user, port in users:
        while track[-1].layer > user.layer + 1:
            passing = Slot(layer=track[-1].layer - 1)
            layers[passing.layer].append(passing)
            _join(track[-1], passing)
            track.append(passing)
        _join(track[box.layer - user.layer - 1], user, port)


def _join(source: Slot, user: Slot, port: float = 0.0) -> None:
    source.users.append((user, port))
    user.sources.append(source)


def _place(layers: list[list[Slot]]) -> None:
    """Order the slots of each layer by their users' positions, and move them near those."""
    for layer in layers:
        layer.sort(key=_mean_of_ports)
        _settle(layer, _mean_of_ports)
    for layer in reversed(layers):
        _settle(layer, _mean_of_sources)
    for layer in layers:
        _settle(layer, lambda slot: slot.y if slot.sources else _mean_of_ports(slot))


def _mean_of_ports(slot: Slot) -> float:
    """Return the mean height at which a slot's edges enter its users; the result keeps its own."""
    return _mean([user.y + port for user, port in slot.users] or [slot.y])


def _mean_of_sources(slot: Slot) -> float:
    """Return the mean height of the operations among a slot's sources, or of all its sources."""
    operations = [source.y for source in slot.sources if source.sources and source.width]
    return _mean(operations or [source.y for source in slot.sources] or [slot.y])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _settle(layer: list[Slot], target: Callable[[Slot], float]) -> None:
    """Move a layer's slots as near to the wanted positions as possible, in order without overlaps.

    This minimizes the weighted sum of squared distances: isotonic regression, solved by merging
    slots that would overlap into blocks.
    """
    blocks: list[tuple[float, float, int]] = []  # weight, mean of the top slot, number of slots
    offsets: list[float] = []  # each slot's distance below the first if all are packed
    for index, slot in enumerate(layer):
        previous = layer[index - 1]
        distance = (previous.height + slot.height) / 2 + SPACE
        offsets.append(offsets[-1] + distance if index else 0.0)
        weight = 1.0 if slot.sources else INPUT_WEIGHT
        mean, count = target(slot) - offsets[-1], 1
        while blocks and blocks[-1][1] > mean:
            other_weight, other_mean, other_count = blocks.pop()
            mean = (weight * mean + other_weight * other_mean) / (weight + other_weight)
            weight, count = weight + other_weight, count + other_count
        blocks.append((weight, mean, count))
    tops = (mean for _, mean, count in blocks for _ in range(count))
    for slot, top, distance in zip(layer, tops, offsets, strict=True):
        slot.y = top + distance


def _measure(boxes: list[Slot], layers: list[list[Slot]]) -> Layout:
    """Turn the layers into columns and return the finished layout."""
    slots = [slot for layer in layers for slot in layer]
    top = min(slot.y - slot.height / 2 for slot in slots)
    for slot in slots:
        slot.y -= top
    edges, right = [], -GAP
    for layer in reversed(layers):
        left = right + GAP
        right = left + max(slot.width for slot in layer)
        for slot in layer:
            slot.x = left if slot.sources else right - slot.width
            start = (slot.x + slot.width, slot.y)
            for user, port in slot.users:
                edges.append(Edge(start, right, (right + GAP, user.y + port), user.width > 0))
    return Layout(right, max(slot.y + slot.height / 2 for slot in slots), boxes, edges)
