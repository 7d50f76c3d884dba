"""The files of a stage by their parts, with their lines of code, and the order of reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mt.source.modules import Library
from mt.source.parts import PARTS, Part, lines_of_code, part_of
from mt.source.reading import reading_order
from mt.workspace import Stage


@dataclass(frozen=True)
class StageSize:
    """How large a stage is.

    Attributes:
        stage: its short name.
        files: by part, the lines of code of each file that has some, by its path in the package.
        order: the paths of the lesson's files as they are read; empty if the README says nothing.
    """

    stage: str
    files: dict[Part, dict[str, int]]
    order: tuple[str, ...]

    def code(self, part: Part) -> int:
        """Return how many lines of code a part has."""
        return sum(self.files[part].values())

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows: `stage`, and for each part `files` and `code`, both counts.

        The lesson has its `order`, too: a list of paths.
        """
        parts: dict[str, dict[str, Any]] = {
            part: {"files": len(self.files[part]), "code": self.code(part)} for part in PARTS
        }
        parts["lesson"]["order"] = list(self.order)
        return {"stage": self.stage, **parts}


def size_of(library: Library, stage: Stage) -> StageSize:
    """Return how large a stage is."""
    files: dict[Part, dict[str, int]] = {part: {} for part in PARTS}
    for module in library.modules(stage.import_name):
        code = lines_of_code(module)
        if code:
            files[part_of(module.name)][library.path(module)] = code
    return StageSize(stage.short, files, tuple(reading_order(stage.folder / "README.md")))
