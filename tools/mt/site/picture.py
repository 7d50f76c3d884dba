"""The diagram of the stages: a box for each, above the stages it depends on, with arrows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from mt.workspace import Stage, Workspace

WIDTH, HEIGHT = 200, 64
"""The size of a box."""

GAP = 40
"""The distance between boxes."""


@dataclass(frozen=True)
class Box:
    """A stage in the diagram.

    Attributes:
        stage: the stage.
        x: the center of the box.
        y: its top edge.
    """

    stage: Stage
    x: float
    y: float


@dataclass(frozen=True)
class Picture:
    """The layout of the diagram.

    Attributes:
        width: its width.
        height: its height.
        boxes: the stages.
        arrows: pairs of boxes, of which the second depends on the first.
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
    """Return the direct dependencies of a stage, without transitive ones."""
    below = workspace.upstream(stage)[:-1]
    deeper = [other for each in below for other in workspace.upstream(each)[:-1]]
    return [each for each in below if each not in deeper]


def picture(workspace: Workspace) -> Picture:
    """Return the layout for a workspace, with the first stage at the bottom."""
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
