"""The map of ideas, `ideas/*.toml`: each idea, and the code that implements it in each stage.

An idea is a file such as `sum.toml`, named after it, with underscores for spaces:

    text = "what the idea is"
    also = ["another name"]
    questions = ["a question that it answers, in the words of a beginner"]

    [[steps]]
    column = "operators"
    text = "what is new in this column"
    symbols = ["mt_operators.core.table[tanh]"]

`themes.toml` lists them in reading order.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.errors import ToolError
from mt.tables import TableError, check_table, read_table

FOLDER = Path(__file__).parent

COLUMNS = ("operators", "autodiff", "tensor", "simple", "numpy", "fast", "cuda", "nn")
"""The columns in reading order: stages, and the backends of tensors."""


class UnknownIdeaError(ToolError):
    """The idea does not exist; the message suggests similar names."""


@dataclass(frozen=True)
class Step:
    """An idea in one column.

    Attributes:
        column: a stage or a backend.
        text: what is new compared with the columns before.
        symbols: the qualified names of the code.
    """

    column: str
    text: str
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Idea:
    """An idea, and the code that implements it.

    Attributes:
        name: its name.
        text: one or more sentences that describe it.
        also: other names for it.
        questions: questions that it answers.
        steps: its implementations, in the order of the columns.
    """

    name: str
    text: str
    also: tuple[str, ...]
    questions: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Theme:
    """Ideas that belong together.

    Attributes:
        name: its title.
        text: one sentence that describes it.
        ideas: the ideas, in reading order.
    """

    name: str
    text: str
    ideas: tuple[Idea, ...]


def read_themes(folder: Path = FOLDER) -> list[Theme]:
    """Read the map.

    Raises:
        TableError: something in it is missing, unknown, or in the wrong order.
    """
    ideas = {idea.name: idea for idea in map(_idea, sorted(folder.glob("ideas/*.toml")))}
    themes = []
    for table in read_table(folder / "themes.toml")["themes"]:
        check_table("themes.toml", table, {"name": str, "text": str, "ideas": list})
        missing = [name for name in table["ideas"] if name not in ideas]
        if missing:
            raise TableError(
                f"themes.toml: there is no idea {missing[0]!r}, or it is listed twice."
            )
        found = tuple(ideas.pop(name) for name in table["ideas"])
        themes.append(Theme(table["name"], table["text"], found))
    if ideas:
        raise TableError(f"themes.toml does not list {', '.join(ideas)}.")
    return themes


def _idea(file: Path) -> Idea:
    table = read_table(file)
    needed = {"text": str, "questions": list, "steps": list}
    check_table(file.name, table, needed, {"also": list}, item_types={"steps": dict})
    steps = tuple(_step(file.name, each) for each in table["steps"])
    for before, step in itertools.pairwise(steps):
        if COLUMNS.index(before.column) >= COLUMNS.index(step.column):
            raise TableError(
                f"{file.name}: {step.column!r} comes after {before.column!r}; the order of columns "
                f"is {', '.join(COLUMNS)}, each at most once."
            )
    also, questions = tuple(table.get("also", ())), tuple(table["questions"])
    return Idea(_spoken(file.stem), " ".join(table["text"].split()), also, questions, steps)


def _step(where: str, table: Mapping[str, Any]) -> Step:
    check_table(where, table, {"column": str, "text": str, "symbols": list})
    if table["column"] not in COLUMNS:
        raise TableError(
            f"{where}: unknown column {table['column']!r}; the columns are {', '.join(COLUMNS)}."
        )
    return Step(table["column"], _unwrapped(table["text"]), tuple(table["symbols"]))


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph and of each item of a numbered list."""
    return re.sub(r"(?<!\n)\n(?!\n|\d\. ) *", " ", text.strip())


def _spoken(name: str) -> str:
    """Return a name in lower case, with spaces."""
    return name.lower().replace("_", " ").replace("-", " ")


def find_idea(themes: list[Theme], name: str) -> Idea:
    """Return the idea with a name, regardless of case and separators.

    Raises:
        UnknownIdeaError: no idea has this name.
    """
    ideas = [idea for theme in themes for idea in theme.ideas]
    by_name = {_spoken(each): idea for idea in ideas for each in (idea.name, *idea.also)}
    if _spoken(name) not in by_name:
        near = difflib.get_close_matches(_spoken(name), by_name, 3, 0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UnknownIdeaError(f"no idea is called {name!r}.{hint} `mt stages` lists all.")
    return by_name[_spoken(name)]
