"""The reading order, `order.toml`: themes with their concepts, and questions about two stages.

Each concept belongs to one theme, and is read after the one above it. Questions about what one
stage adds to another are answered by comparing the two, `mt diff`; they are in this file, because
comparisons have no files:

    [[themes]]
    name = "Derivatives"
    text = "what the concepts have in common"
    concepts = ["chain rule", "backward"]

    [[additions]]
    before = "operators"
    after = "autodiff"
    asks = ["What does mt-autodiff add to mt-operators?"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.concept.maps import Concept, joined, read_map
from mt.tables import TableError, check_table, read_table

FILE = Path(__file__).with_name("order.toml")


@dataclass(frozen=True)
class Theme:
    """Concepts that are read together.

    Attributes:
        name: its name.
        text: a sentence on what they have in common.
        concepts: the concepts, in reading order.
    """

    name: str
    text: str
    concepts: tuple[Concept, ...]


@dataclass(frozen=True)
class Addition:
    """Two stages, and the questions that comparing them answers.

    Attributes:
        before: the short name of the first.
        after: the short name of the second, which adds something to it.
        asks: the questions.
    """

    before: str
    after: str
    asks: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that answers the questions."""
        return f"mt diff {self.before} {self.after}"


@dataclass(frozen=True)
class Order:
    """All concepts in reading order, and the comparisons of stages.

    Attributes:
        themes: the themes, in reading order.
        additions: pairs of stages, in reading order.
    """

    themes: tuple[Theme, ...]
    additions: tuple[Addition, ...]

    @property
    def concepts(self) -> dict[str, Concept]:
        """All concepts by name, in reading order."""
        return {concept.name: concept for theme in self.themes for concept in theme.concepts}

    def theme_of(self, name: str) -> Theme:
        """Return the theme of a concept."""
        return next(
            theme for theme in self.themes if name in {each.name for each in theme.concepts}
        )

    def neighbours(self, name: str) -> tuple[Concept | None, Concept | None]:
        """Return the concepts before and after one; None at the ends of the order."""
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


def read_order(concepts: Mapping[str, Concept] | None = None, file: Path = FILE) -> Order:
    """Read the reading order.

    Args:
        concepts: the map; by default, it is read as well.
        file: the file with the order.

    Raises:
        TableError: it is invalid, or a concept is missing or repeated.
    """
    concepts = read_map() if concepts is None else concepts
    table = read_table(file)
    tables = ("themes", "additions")
    check_table(file.name, table, dict.fromkeys(tables, list), held=dict.fromkeys(tables, dict))
    left = dict(concepts)
    themes = tuple(_theme(file.name, each, concepts, left) for each in table["themes"])
    if left:
        raise TableError(f"{file.name}: no theme contains {', '.join(left)}.")
    additions = tuple(_addition(file.name, each) for each in table["additions"])
    return Order(themes, additions)


def _theme(
    where: str, table: Mapping[str, Any], concepts: Mapping[str, Concept], left: dict[str, Concept]
) -> Theme:
    """Return a theme, and remove its concepts from `left`."""
    check_table(where, table, {"name": str, "text": str, "concepts": list})
    for name in table["concepts"]:
        if name not in concepts:
            raise TableError(f"{where}: theme {table['name']!r}: unknown concept {name!r}.")
        if left.pop(name, None) is None:
            raise TableError(f"{where}: theme {table['name']!r}: {name!r} is used twice.")
    own = tuple(concepts[name] for name in table["concepts"])
    return Theme(table["name"], joined(table["text"]), own)


def _addition(where: str, table: Mapping[str, Any]) -> Addition:
    check_table(where, table, {"before": str, "after": str, "asks": list})
    return Addition(table["before"], table["after"], tuple(table["asks"]))
