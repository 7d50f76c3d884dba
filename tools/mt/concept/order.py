"""The order of reading, `order.toml`: themes with their concepts, and what is asked of two stages.

Each concept belongs to one theme, and follows the one above it. Questions of what one stage adds
to another are answered by a comparison of the two, `mt diff`, and stand here, as a comparison has
no file of its own:

    [[themes]]
    name = "Derivatives"
    text = "what they have in common"
    concepts = ["chain rule", "backward"]

    [[additions]]
    before = "operators"
    after = "autodiff"
    asks = ["What does mt-autodiff add to mt-operators?"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mt.concept.maps import Concept, joined, read_map
from mt.tables import TableError, check_table, read_table

FILE = Path(__file__).with_name("order.toml")


@dataclass(frozen=True)
class Theme:
    """Concepts that are read together.

    Attributes:
        name: what it is called.
        text: a sentence on what they have in common.
        concepts: in the order of reading.
    """

    name: str
    text: str
    concepts: tuple[Concept, ...]


@dataclass(frozen=True)
class Addition:
    """Two stages, and what a newcomer asks about them.

    Attributes:
        before: the first, by its short name.
        after: the second, which adds something to it.
        asks: the questions that their comparison answers.
    """

    before: str
    after: str
    asks: tuple[str, ...]

    @property
    def command(self) -> str:
        """What is typed for the answer."""
        return f"mt diff {self.before} {self.after}"

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows: `before`, `after`, `asks`, and the `command` to type."""
        return {**asdict(self), "command": self.command}


@dataclass(frozen=True)
class Order:
    """All concepts in the order of reading, and the comparisons beside them.

    Attributes:
        themes: in order.
        additions: pairs of stages, in order.
    """

    themes: tuple[Theme, ...]
    additions: tuple[Addition, ...]

    @property
    def concepts(self) -> dict[str, Concept]:
        """All concepts by name, in the order of reading."""
        return {concept.name: concept for theme in self.themes for concept in theme.concepts}

    def theme_of(self, name: str) -> Theme:
        """Return the theme to which a concept belongs."""
        return next(
            theme for theme in self.themes if name in {each.name for each in theme.concepts}
        )

    def neighbours(self, name: str) -> tuple[Concept | None, Concept | None]:
        """Return the concepts before and after one of this name; None where the order ends."""
        around = [None, *self.concepts.values(), None]
        place = list(self.concepts).index(name)
        return around[place], around[place + 2]

    def as_text(self) -> str:
        """Return all themes, concepts and questions as lines."""
        lines = []
        for theme in self.themes:
            lines.append(f"{theme.name}. {theme.text}\n")
            for concept in theme.concepts:
                lines.append(f"  {concept.name}: {concept.text}")
                lines += [f"    - {question}" for question in concept.asks]
            lines.append("")
        lines.append("Two stages side by side.\n")
        for addition in self.additions:
            lines.append(f"  {addition.command}")
            lines += [f"    - {question}" for question in addition.asks]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows.

        `themes` is a list of objects with `name`, `text` and `concepts`, a list of objects with
        `name`, `text` and `asks`; `additions` is a list of what `Addition.as_json` describes.
        """
        return {
            "themes": [
                {
                    "name": theme.name,
                    "text": theme.text,
                    "concepts": [
                        {"name": each.name, "text": each.text, "asks": list(each.asks)}
                        for each in theme.concepts
                    ],
                }
                for theme in self.themes
            ],
            "additions": [addition.as_json() for addition in self.additions],
        }

    def place_as_json(self, name: str) -> dict[str, str | None]:
        """Return where a concept stands: names of its `theme`, and of `previous` and `next`."""
        before, after = self.neighbours(name)
        return {
            "theme": self.theme_of(name).name,
            "previous": before.name if before else None,
            "next": after.name if after else None,
        }


def read_order(concepts: Mapping[str, Concept] | None = None, file: Path = FILE) -> Order:
    """Read the order of reading.

    Args:
        concepts: the map; without it, the whole one is read.
        file: where the order stands.

    Raises:
        TableError: it is not what it should be, leaves a concept out, or has one twice.
    """
    concepts = read_map() if concepts is None else concepts
    table = read_table(file)
    tables = ("themes", "additions")
    check_table(file.name, table, dict.fromkeys(tables, list), held=dict.fromkeys(tables, dict))
    left = dict(concepts)
    themes = tuple(_theme(file.name, each, concepts, left) for each in table["themes"])
    if left:
        raise TableError(f"{file.name}: no theme has {', '.join(left)}.")
    additions = tuple(_addition(file.name, each) for each in table["additions"])
    return Order(themes, additions)


def _theme(
    where: str, table: Mapping[str, Any], concepts: Mapping[str, Concept], left: dict[str, Concept]
) -> Theme:
    """Return a theme, and take its concepts from those that are left."""
    check_table(where, table, {"name": str, "text": str, "concepts": list})
    for name in table["concepts"]:
        if name not in concepts:
            raise TableError(f"{where}: theme {table['name']!r}: there is no concept {name!r}.")
        if left.pop(name, None) is None:
            raise TableError(f"{where}: theme {table['name']!r}: {name!r} is there twice.")
    own = tuple(concepts[name] for name in table["concepts"])
    return Theme(table["name"], joined(table["text"]), own)


def _addition(where: str, table: Mapping[str, Any]) -> Addition:
    check_table(where, table, {"before": str, "after": str, "asks": list})
    return Addition(table["before"], table["after"], tuple(table["asks"]))
