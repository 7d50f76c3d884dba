"""The map of concepts, `map.toml`: where each idea is found in each stage, and a sentence on it.

A concept is a table of the file, and each of its steps one place:

    [tanh]
    text = "what the idea is"

    [[tanh.steps]]
    column = "operators"
    text = "how it appears here"
    symbols = ["mt_operators.table[tanh]"]

A step can show a kernel that is generated, `kernel = { operator = "tanh", layout = "flat" }`, with
`gradient = true` for its backward.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.errors import ToolError
from mt.source.symbols import Symbols, UnknownSymbolError

FILE = Path(__file__).with_name("map.toml")

COLUMNS = ("operators", "autodiff", "tensor", "simple", "numpy", "fast", "cuda", "nn")
"""Where an idea can appear, in the order of reading: stages, and the backends of tensors."""

BACKENDS = ("simple", "numpy", "fast", "cuda")


class ConceptError(ToolError):
    """The map of concepts is not what it should be, or has no such concept."""


@dataclass(frozen=True)
class GeneratedKernel:
    """A kernel that a backend writes while it runs.

    Attributes:
        operator: its name in the table of operators.
        layout: for what layout of memory, as the backend calls it.
        gradient: whether the backward is meant.
    """

    operator: str
    layout: str
    gradient: bool = False


@dataclass(frozen=True)
class Step:
    """A concept in one column.

    Attributes:
        column: a stage or a backend.
        text: a sentence on how the idea appears there.
        symbols: the qualified names of the code.
        kernel: generated code that is shown below it, or None.
    """

    column: str
    text: str
    symbols: tuple[str, ...]
    kernel: GeneratedKernel | None = None


@dataclass(frozen=True)
class Concept:
    """An idea, and where it is.

    Attributes:
        name: what it is called.
        text: a sentence on what it is.
        steps: where it is, in the order of the columns.
    """

    name: str
    text: str
    steps: tuple[Step, ...]


def read_map(file: Path = FILE) -> dict[str, Concept]:
    """Read the map.

    Raises:
        ConceptError: something in it is missing, unknown, or in the wrong order.
    """
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        return {name: _concept(name, table) for name, table in tables.items()}
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ConceptError(f"{file.name}: {error!r}") from error


def _concept(name: str, table: Mapping[str, Any]) -> Concept:
    steps = tuple(_step(name, step) for step in table["steps"])
    order = [COLUMNS.index(step.column) for step in steps]
    if order != sorted(set(order)):
        raise ConceptError(
            f"{FILE.name}: the steps of {name!r} must be in the order {', '.join(COLUMNS)}, and "
            "each at most once."
        )
    return Concept(name, table["text"], steps)


def _step(name: str, table: Mapping[str, Any]) -> Step:
    if table["column"] not in COLUMNS:
        raise ConceptError(
            f"{FILE.name}: {name!r} has a step in {table['column']!r}; the columns are "
            f"{', '.join(COLUMNS)}."
        )
    kernel = GeneratedKernel(**table["kernel"]) if "kernel" in table else None
    return Step(table["column"], table["text"], tuple(table["symbols"]), kernel)


def concept_of(concepts: Mapping[str, Concept], name: str) -> Concept:
    """Return the concept of a name, in any spelling of its words.

    Raises:
        ConceptError: there is none; names the nearest.
    """
    wanted = name.lower().replace("_", " ").replace("-", " ")
    if wanted in concepts:
        return concepts[wanted]
    near = difflib.get_close_matches(wanted, concepts, 3, 0.5)
    hint = f"Is it {' or '.join(near)}? " if near else ""
    raise ConceptError(f"no concept is called {name!r}. {hint}There are {', '.join(concepts)}.")


def unresolved(concepts: Mapping[str, Concept], symbols: Symbols) -> Iterator[str]:
    """Yield a line for each name in the map for which the source has nothing; says where."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    for concept in concepts.values():
        for step in concept.steps:
            for name in step.symbols:
                try:
                    symbols.find(name)
                except UnknownSymbolError as error:
                    number = next(n for n, line in enumerate(lines, 1) if f'"{name}"' in line)
                    yield f"{FILE.name}:{number}: concept {concept.name!r}, {step.column}: {error}"
