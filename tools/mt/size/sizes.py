"""The files of a stage by part, with their lines of code, and the reading order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mt.source.parts import PARTS, Part, lines_of_code, part_of
from mt.source.reading import reading_order
from mt.workspace import Stage


@dataclass(frozen=True)
class StageSize:
    """The size of a stage.

    Attributes:
        stage: its short name.
        files: by part, the lines on the page and the lines of code of each file, by its path below
            the package; the core is in reading order.
        order: the paths in reading order; empty if the README has no list.
    """

    stage: str
    files: dict[Part, dict[str, tuple[int, int]]]
    order: tuple[str, ...]

    def code(self, part: Part) -> int:
        """Return the lines of code of a part."""
        return sum(code for _, code in self.files[part].values())

    def lines(self, part: Part) -> int:
        """Return all lines of a part, including blank lines and comments."""
        return sum(lines for lines, _ in self.files[part].values())

    def count(self, part: Part) -> int:
        """Return the number of files of a part that have code."""
        return sum(code > 0 for _, code in self.files[part].values())

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


def size_of(stage: Stage) -> StageSize:
    """Return the size of a stage."""
    order = reading_order(stage.folder / "README.md")
    place = {path: number for number, path in enumerate(order)}
    paths = [file.relative_to(stage.source) for file in sorted(stage.source.rglob("*.py"))]
    files: dict[Part, dict[str, tuple[int, int]]] = {part: {} for part in PARTS}
    for path in sorted(paths, key=lambda path: place.get(path.as_posix(), len(order))):
        text = (stage.source / path).read_text(encoding="utf-8")
        part = part_of(".".join([stage.import_name, *path.with_suffix("").parts]))
        files[part][path.as_posix()] = len(text.splitlines()), lines_of_code(text)
    return StageSize(stage.short, files, tuple(order))
