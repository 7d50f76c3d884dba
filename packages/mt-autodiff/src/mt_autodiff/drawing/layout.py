"""Where the boxes and the edges of a directed acyclic graph go, from left to right.

This is the layered method of Sugiyama, Tagawa and Toda (1981). Each node gets a layer, one further
left than all that use it, so that inputs stand next to where they are needed. An edge that spans
several layers passes the ones between at points of its own, and so never runs through a box; all
edges from one node share them. Each layer is then sorted by where its neighbours are, in sweeps to
and fro, and the order with the fewest crossings wins. At last each slot goes as near as it may to
its neighbours. Every step is a loop in time nearly linear in the number of slots, and gives the
same for the same graph.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

SPACE = 14.0  # between two slots of a layer
GAPS = (40.0, 120.0)  # between two layers: at least, and at most
SLOPE = 0.4  # the width of a gap for each unit that its steepest edge climbs
SORTING_SWEEPS = 12
PLACING_SWEEPS = 8

# How firmly a slot holds its place among others that are pushed aside: the straightness of long
# edges matters most, and inputs make way.
INPUT_WEIGHT, BOX_WEIGHT, PASSING_WEIGHT = 0.001, 1.0, 4.0


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node is: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece of an edge: straight from `start` as far right as `bend`, then a curve to `end`.

    Attributes:
        start: where it leaves a box, or goes on from the piece before.
        bend: where the straight part ends, at the right side of the layer.
        end: where it arrives, at the left side of the next layer.
        arrives: whether that is at a box, and not at the next piece.
    """

    start: tuple[float, float]
    bend: float
    end: tuple[float, float]
    arrives: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """A finished layout, from the origin to `(width, height)`.

    Attributes:
        width: how far it reaches to the right.
        height: how far it reaches down.
        boxes: one for each node.
        edges: for each input of each node one that arrives, and the pieces which lead there.
    """

    width: float
    height: float
    boxes: list[Box]
    edges: list[Edge]


@dataclass(eq=False, slots=True)
class _Slot:
    """A place in a layer: that of a node, or of a point at which long edges pass.

    `y` is its middle. Layers are counted from the result, which is in layer 0, to the left. Each
    user comes with where the edge arrives there, relative to its middle.
    """

    width: float = 0.0
    height: float = 0.0
    weight: float = PASSING_WEIGHT
    layer: int = 0
    y: float = 0.0
    sources: list[_Slot] = field(default_factory=list)
    users: list[tuple[_Slot, float]] = field(default_factory=list)

    def is_input(self) -> bool:
        return not self.sources


def layered_layout(sizes: Sequence[tuple[float, float]], inputs: Sequence[Sequence[int]]) -> Layout:
    """Lay out a graph in which everything leads to node 0.

    Edges arrive at a node in the order of its inputs, from top to bottom.

    Args:
        sizes: width and height of each node's box.
        inputs: for each node the nodes that it is made from, each of which has a higher number; a
            node that is named twice is joined by two edges.
    """
    slots = [
        _Slot(width, height, BOX_WEIGHT if sources else INPUT_WEIGHT)
        for (width, height), sources in zip(sizes, inputs, strict=True)
    ]
    _assign_layers(slots, inputs)
    _connect(slots, inputs)
    layers = _sort(_first_order(slots[0]))
    _place(layers)
    return _measure(slots, layers)


def _assign_layers(slots: list[_Slot], inputs: Sequence[Sequence[int]]) -> None:
    """Put each node one layer further from the result than its furthest user."""
    for user, sources in zip(slots, inputs, strict=True):
        for source in sources:
            slots[source].layer = max(slots[source].layer, user.layer + 1)


def _connect(slots: list[_Slot], inputs: Sequence[Sequence[int]]) -> None:
    """Join neighbouring layers, with a slot in each layer that the edges from a node must pass."""
    tracks = [[slot] for slot in slots]
    for user, sources in zip(slots, inputs, strict=True):
        for index, source in enumerate(sources):
            track = tracks[source]
            distance = slots[source].layer - user.layer
            while len(track) < distance:
                passing = _Slot(layer=track[-1].layer - 1)
                _join(track[-1], passing)
                track.append(passing)
            port = ((index + 0.5) / len(sources) - 0.5) * user.height
            _join(track[distance - 1], user, port)


def _join(source: _Slot, user: _Slot, port: float = 0.0) -> None:
    source.users.append((user, port))
    user.sources.append(source)


def _first_order(result: _Slot) -> list[list[_Slot]]:
    """Return the layers as a depth-first walk meets them: a tree is without crossings then."""
    layers: list[list[_Slot]] = []
    seen: set[_Slot] = set()
    stack = [result]
    while stack:
        slot = stack.pop()
        if slot not in seen:
            seen.add(slot)
            layers += [[] for _ in range(slot.layer + 1 - len(layers))]
            layers[slot.layer].append(slot)
            stack += reversed(slot.sources)
    return layers


def _sort(layers: list[list[_Slot]]) -> list[list[_Slot]]:
    """Return the order with the fewest crossings that barycentre sweeps to and fro find."""
    for layer in layers:
        _settle(layer, _mean_of_ports)
    best, fewest = list(layers), _crossings(layers)
    for sweep in range(SORTING_SWEEPS):
        if not fewest:
            break
        leftwards = sweep % 2 == 0
        wanted = _mean_of_ports if leftwards else _mean_of_sources
        for index in _direction(len(layers), leftwards):
            layers[index] = sorted(layers[index], key=wanted)
            _settle(layers[index], wanted)
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = list(layers), crossings
    return best


def _place(layers: list[list[_Slot]]) -> None:
    """Move slots as near to their neighbours as their order allows."""
    for sweep in range(PLACING_SWEEPS):
        leftwards = sweep % 2 == 0
        for index in _direction(len(layers), leftwards):
            _settle(layers[index], _mean_of_users if leftwards else _mean_of_sources)
    for layer in layers:
        _settle(layer, lambda slot: _mean_of_ports(slot) if slot.is_input() else slot.y)


def _direction(count: int, leftwards: bool) -> Iterable[int]:
    return range(count) if leftwards else reversed(range(count))


def _mean_of_ports(slot: _Slot) -> float:
    """Return the mean of where the edges from a slot arrive."""
    return _mean([user.y + port for user, port in slot.users]) if slot.users else slot.y


def _mean_of_users(slot: _Slot) -> float:
    """Return the mean of the users' middles: chains stay level, whichever port they arrive at."""
    return _mean([user.y for user, _ in slot.users]) if slot.users else slot.y


def _mean_of_sources(slot: _Slot) -> float:
    """Return the mean of the operations that a slot is made from, or else of all its sources."""
    operations = [source.y for source in slot.sources if source.weight == BOX_WEIGHT]
    return _mean(operations or [source.y for source in slot.sources] or [slot.y])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _settle(layer: list[_Slot], wanted: Callable[[_Slot], float]) -> None:
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


def _crossings(layers: list[list[_Slot]]) -> int:
    """Count the pairs of edges between neighbouring layers that cross."""
    count = 0
    for layer in layers:
        arrivals: list[float] = []  # of the edges from slots further up, in order
        for slot in layer:
            for arrival in sorted(user.y + port for user, port in slot.users):
                count += len(arrivals) - bisect_right(arrivals, arrival)
                insort(arrivals, arrival)
    return count


def _measure(slots: list[_Slot], layers: list[list[_Slot]]) -> Layout:
    """Turn layers into columns, and return where everything is."""
    top = min(slot.y - slot.height / 2 for layer in layers for slot in layer)
    bottom = max(slot.y + slot.height / 2 for layer in layers for slot in layer)
    left, right = [0.0] * len(layers), [0.0] * len(layers)
    x = 0.0
    for index in reversed(range(len(layers))):
        left[index] = x
        right[index] = x + max(slot.width for slot in layers[index])
        x = right[index] + _gap(layers[index])

    def x_of(slot: _Slot) -> float:
        return right[slot.layer] - slot.width if slot.is_input() else left[slot.layer]

    boxes = [
        Box(x_of(slot), slot.y - slot.height / 2 - top, slot.width, slot.height) for slot in slots
    ]
    edges = [
        Edge(
            (x_of(slot) + slot.width, slot.y - top),
            right[slot.layer],
            (left[user.layer], user.y + port - top),
            arrives=user.width > 0,
        )
        for layer in reversed(layers)
        for slot in layer
        for user, port in slot.users
    ]
    return Layout(right[0], bottom - top, boxes, edges)


def _gap(layer: list[_Slot]) -> float:
    """Return the width that the edges from a layer need to climb gently."""
    climbs = [abs(user.y + port - slot.y) for slot in layer for user, port in slot.users]
    return min(max(SLOPE * max(climbs, default=0.0), GAPS[0]), GAPS[1])
