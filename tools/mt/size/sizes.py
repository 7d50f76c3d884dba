"""The files of a stage by part, with their lines of code, and the reading order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mt.source.modules import Library, Module
from mt.source.parts import PARTS, Part, lines_of_code, lines_on_page, part_of
from mt.source.reading import reading_order
from mt.workspace import Stage


@dataclass(frozen=True)
class StageSize:
    """The size of a stage.

    Attributes:
        stage: its short name.
        files: by part, the lines of code of each file; the core is in reading order.
        order: the paths in reading order; empty if the README has no list.
    """

    stage: str
    files: dict[Part, dict[Module, int]]
    order: tuple[str, ...]

    def code(self, part: Part) -> int:
        """Return the lines of code of a part."""
        return sum(self.files[part].values())

    def lines(self, part: Part) -> int:
        """Return all lines of a part, including blank lines and comments."""
        return sum(map(lines_on_page, self.files[part]))

    def count(self, part: Part) -> int:
        """Return the number of files of a part that have code."""
        return sum(map(bool, self.files[part].values()))

    def as_json(self) -> dict[str, Any]:
        """Return the size for JSON: `stage`, and for each part `files`, `lines` and `code`.

        The core also has `order`, a list of paths.
        """
        parts: dict[str, dict[str, Any]] = {
            part: {"files": self.count(part), "lines": self.lines(part), "code": self.code(part)}
            for part in PARTS
        }
        parts["core"]["order"] = list(self.order)
        return {"stage": self.stage, **parts}


def size_of(library: Library, stage: Stage) -> StageSize:
    """Return the size of a stage."""
    order = reading_order(stage.folder / "README.md")
    place = {path: number for number, path in enumerate(order)}
    files: dict[Part, dict[Module, int]] = {part: {} for part in PARTS}
    modules = library.modules(stage.import_name)
    for module in sorted(modules, key=lambda module: place.get(module.path, len(order))):
        files[part_of(module)][module] = lines_of_code(module)
    return StageSize(stage.short, files, tuple(order))
