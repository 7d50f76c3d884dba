"""The picture of the stages: a box for each, above the stages it builds on, with arrows between."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from mt.workspace import Stage, Workspace

WIDTH, HEIGHT = 200, 64
"""The size of a box."""

GAP = 40
"""How far boxes are from each other."""


@dataclass(frozen=True)
class Box:
    """A stage in the picture.

    Attributes:
        stage: which one.
        x: the middle of the box.
        y: its upper edge.
    """

    stage: Stage
    x: float
    y: float


@dataclass(frozen=True)
class Picture:
    """Where everything is.

    Attributes:
        width: of the picture.
        height: of the picture.
        boxes: the stages.
        arrows: pairs of boxes, of which the second is built on the first.
        wide: the width of a box.
        high: the height of a box.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[Box, Box], ...]
    wide: float = WIDTH
    high: float = HEIGHT


def built_on(workspace: Workspace, stage: Stage) -> list[Stage]:
    """Return the stages that one builds on, without those that these bring along."""
    below = workspace.upstream(stage)[:-1]
    deeper = [other for each in below for other in workspace.upstream(each)[:-1]]
    return [each for each in below if each not in deeper]


def picture(workspace: Workspace) -> Picture:
    """Return the picture of a workspace, whose first stage is at the bottom."""
    rows: dict[int, list[Stage]] = defaultdict(list)
    level: dict[str, int] = {}
    for stage in workspace.stages.values():
        below = built_on(workspace, stage)
        level[stage.name] = max((level[each.name] + 1 for each in below), default=0)
        rows[level[stage.name]].append(stage)
    columns = max(map(len, rows.values()))
    width = columns * (WIDTH + GAP)
    boxes = {
        stage.name: Box(
            stage,
            width * (place + 0.5) / len(row),
            (len(rows) - 1 - height) * (HEIGHT + GAP) + 2,
        )
        for height, row in rows.items()
        for place, stage in enumerate(row)
    }
    arrows = tuple(
        (boxes[below.name], boxes[stage.name])
        for stage in workspace.stages.values()
        for below in built_on(workspace, stage)
    )
    return Picture(width, len(rows) * (HEIGHT + GAP) - GAP + 4, tuple(boxes.values()), arrows)
