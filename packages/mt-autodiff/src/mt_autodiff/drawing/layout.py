"""Where the boxes and the edges of a directed acyclic graph go, from left to right.

This is the layered method of Sugiyama, Tagawa and Toda (1981). Each node gets a layer, one further
left than all that use it, so that inputs stand next to where they are needed. An edge that spans
several layers passes the ones between at points of its own, and so never runs through a box; all
edges from one node share them. Sweeps to and fro then sort each layer by where its users are, and
move each slot as near as it may to its users, and to its sources. A sweep is a loop that takes no
longer than sorting the layers, and the same graph always gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SPACE = 14.0  # between two slots of a layer
GAP = 50.0  # between two layers
SWEEPS = 4  # there and back

# How firmly a slot holds its place among others that are pushed aside: the straightness of long
# edges matters most, and inputs make way.
INPUT_WEIGHT, BOX_WEIGHT, PASSING_WEIGHT = 0.001, 1.0, 4.0


@dataclass(eq=False, slots=True)
class Slot:
    """A place in a layer: that of a node's box, or of a point at which long edges pass.

    `x` is its left side, `y` its middle. Layers are counted from the result, which is in layer 0,
    to the left. Each user comes with where the edge arrives there, relative to its middle.
    """

    width: float = 0.0
    height: float = 0.0
    weight: float = PASSING_WEIGHT
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    sources: list[Slot] = field(default_factory=list)
    users: list[tuple[Slot, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece of an edge: straight from `start` as far right as `bend`, then a curve to `end`.

    It `arrives` where it ends at a box, and not at the next piece.
    """

    start: tuple[float, float]
    bend: float
    end: tuple[float, float]
    arrives: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """A box for each node, and the pieces of all edges, from the origin to `(width, height)`."""

    width: float
    height: float
    boxes: list[Slot]
    edges: list[Edge]


def layered_layout(sizes: Sequence[tuple[float, float]], inputs: Sequence[Sequence[int]]) -> Layout:
    """Lay out a graph in which everything leads to node 0.

    Edges arrive at a node in the order of its inputs, from top to bottom.

    Args:
        sizes: width and height of each node's box.
        inputs: for each node the nodes that it is made from, each of which has a higher number; a
            node that is named twice is joined by two edges.
    """
    boxes = [
        Slot(width, height, BOX_WEIGHT if sources else INPUT_WEIGHT)
        for (width, height), sources in zip(sizes, inputs, strict=True)
    ]
    _assign_layers(boxes, inputs)
    layers = _connect(boxes, inputs)
    _place(layers)
    return _measure(boxes, layers)


def _assign_layers(boxes: list[Slot], inputs: Sequence[Sequence[int]]) -> None:
    """Put each node one layer further from the result than its furthest user."""
    for user, sources in zip(boxes, inputs, strict=True):
        for source in sources:
            boxes[source].layer = max(boxes[source].layer, user.layer + 1)


def _connect(boxes: list[Slot], inputs: Sequence[Sequence[int]]) -> list[list[Slot]]:
    """Join neighbouring layers, with a slot in each that the edges from a node must pass."""
    tracks = [[box] for box in boxes]
    for user, sources in zip(boxes, inputs, strict=True):
        for index, source in enumerate(sources):
            track = tracks[source]
            distance = boxes[source].layer - user.layer
            while len(track) < distance:
                passing = Slot(layer=track[-1].layer - 1)
                _join(track[-1], passing)
                track.append(passing)
            port = ((index + 0.5) / len(sources) - 0.5) * user.height
            _join(track[distance - 1], user, port)
    layers: list[list[Slot]] = [[] for _ in range(1 + max(box.layer for box in boxes))]
    for track in tracks:
        for slot in track:
            layers[slot.layer].append(slot)
    return layers


def _join(source: Slot, user: Slot, port: float = 0.0) -> None:
    source.users.append((user, port))
    user.sources.append(source)


def _place(layers: list[list[Slot]]) -> None:
    """Order the slots of each layer by where their users are, and move them to their neighbours."""
    for _ in range(SWEEPS):
        for layer in layers:
            layer.sort(key=_mean_of_ports)
            _settle(layer, _mean_of_ports)
        for layer in reversed(layers):
            _settle(layer, _mean_of_sources)
    for layer in layers:
        _settle(layer, lambda slot: slot.y if slot.sources else _mean_of_ports(slot))


def _mean_of_ports(slot: Slot) -> float:
    """Return the mean of where the edges from a slot arrive."""
    return _mean([user.y + port for user, port in slot.users]) if slot.users else slot.y


def _mean_of_sources(slot: Slot) -> float:
    """Return the mean of the operations that a slot is made from, or else of all its sources."""
    operations = [source.y for source in slot.sources if source.weight == BOX_WEIGHT]
    return _mean(operations or [source.y for source in slot.sources] or [slot.y])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _settle(layer: list[Slot], wanted: Callable[[Slot], float]) -> None:
    """Move a layer's slots to where they want to be, in this order and without overlaps.

    The weighted sum of squared distances from there becomes as small as it can. This is isotonic
    regression, solved by pooling: slots that press against each other move as one block.
    """
    blocks: list[tuple[float, float, int]] = []  # weight, mean of the top slot, number of slots
    below: list[float] = []  # how far each slot is below the first, if all are packed
    for index, slot in enumerate(layer):
        previous = layer[index - 1]
        distance = (previous.height + slot.height) / 2 + SPACE
        below.append(below[-1] + distance if index else 0.0)
        weight, mean, count = slot.weight, wanted(slot) - below[-1], 1
        while blocks and blocks[-1][1] > mean:
            other_weight, other_mean, other_count = blocks.pop()
            mean = (weight * mean + other_weight * other_mean) / (weight + other_weight)
            weight, count = weight + other_weight, count + other_count
        blocks.append((weight, mean, count))
    tops = (mean for _, mean, count in blocks for _ in range(count))
    for slot, top, distance in zip(layer, tops, below, strict=True):
        slot.y = top + distance


def _measure(boxes: list[Slot], layers: list[list[Slot]]) -> Layout:
    """Turn layers into columns, and return where everything is."""
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
