"""The map of concepts, `map/*.toml`: where each idea is found in each stage, in sentences.

A concept is a file, `sum.toml`; its name is that of the file, with spaces for underscores. What it
is comes first, and then each place where it appears, in the order of the columns:

    text = "what the idea is"
    also = ["another name"]

    [[steps]]
    column = "operators"
    text = "what is new in this column"
    symbols = ["mt_operators.table[tanh]"]

Texts may be broken into lines. A step can show a kernel that is generated,
`kernel = { name = "tanh", layout = "flat" }`, with `gradient = true` for its backward.
"""

from __future__ import annotations

import difflib
import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.errors import ToolError
from mt.source.symbols import Symbols, UnknownSymbolError

FOLDER = Path(__file__).with_name("map")

COLUMNS = ("operators", "autodiff", "tensor", "simple", "numpy", "fast", "cuda", "nn")
"""Where an idea can appear, in the order of reading: stages, and the backends of tensors."""

BACKENDS = ("simple", "numpy", "fast", "cuda")

STEP = "[[steps]]"


class ConceptError(ToolError):
    """The map of concepts is not what it should be, or has no such concept."""


@dataclass(frozen=True)
class GeneratedKernel:
    """A kernel that a backend writes while it runs.

    Attributes:
        name: an operator of the table; of `cuda` also `matmul`, `gather`, `scatter` or `copy`; of
            `fast` also a function of the concept's input, which is fused.
        layout: for what layout of memory, as the backend calls it; empty for the usual one.
        gradient: whether the backward is meant.
    """

    name: str
    layout: str = ""
    gradient: bool = False


@dataclass(frozen=True)
class Step:
    """A concept in one column.

    Attributes:
        column: a stage or a backend.
        text: what is new there, compared with the columns before.
        symbols: the qualified names of the code.
        kernel: generated code that is shown below it, or None.
        line: where it begins in the concept's file.
    """

    column: str
    text: str
    symbols: tuple[str, ...]
    kernel: GeneratedKernel | None
    line: int


@dataclass(frozen=True)
class Concept:
    """An idea, and where it is.

    Attributes:
        name: what it is called.
        text: a sentence on what it is.
        steps: where it is, in the order of the columns.
        also: other names under which it is found.
        file: where all of this stands.
    """

    name: str
    text: str
    steps: tuple[Step, ...]
    also: tuple[str, ...]
    file: Path


# --- Reading ------------------------------------------------------------------------------------


def read_map(folder: Path = FOLDER) -> dict[str, Concept]:
    """Read the map.

    Raises:
        ConceptError: something in it is missing, unknown, or in the wrong order; says where.
    """
    concepts = [_concept(file) for file in sorted(folder.glob("*.toml"))]
    owners: dict[str, Concept] = {}
    for concept in concepts:
        for name in (concept.name, *concept.also):
            owner = owners.setdefault(name, concept)
            if owner is not concept:
                raise ConceptError(
                    f"{concept.file.name}: {name!r} is what {owner.file.name} is called, too."
                )
    return {concept.name: concept for concept in concepts}


def _concept(file: Path) -> Concept:
    text = file.read_text(encoding="utf-8")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConceptError(f"{file.name}: {error}") from error
    _check(f"{file.name}:1", table, {"text": str, "steps": list}, {"also": list})
    lines = _lines_of(STEP, text)
    if len(lines) != len(table["steps"]):
        raise ConceptError(f"{file.name}:1: each step must be a table of its own, below {STEP}.")
    steps = [_step(file, *each) for each in zip(lines, table["steps"], strict=True)]
    for before, step in itertools.pairwise(steps):
        if COLUMNS.index(before.column) >= COLUMNS.index(step.column):
            raise ConceptError(
                f"{file.name}:{step.line}: {step.column!r} comes after {before.column!r}; columns "
                f"are in the order {', '.join(COLUMNS)}, and each is there at most once."
            )
    also = tuple(table.get("also", ()))
    for other in also:
        if other != _spoken(other):
            raise ConceptError(f"{file.name}:1: write {other!r} as {_spoken(other)!r} in 'also'.")
    return Concept(_spoken(file.stem), _joined(table["text"]), tuple(steps), also, file)


def _step(file: Path, line: int, table: Mapping[str, Any]) -> Step:
    where = f"{file.name}:{line}"
    _check(where, table, {"column": str, "text": str, "symbols": list}, {"kernel": dict})
    column = table["column"]
    if column not in COLUMNS:
        raise ConceptError(
            f"{where}: there is no column {column!r}; the columns are {', '.join(COLUMNS)}."
        )
    kernel = None
    if "kernel" in table:
        _check(where, table["kernel"], {"name": str}, {"layout": str, "gradient": bool})
        if column not in ("fast", "cuda"):
            raise ConceptError(f"{where}: {column!r} generates no kernels; fast and cuda do.")
        kernel = GeneratedKernel(**table["kernel"])
    return Step(column, _joined(table["text"]), tuple(table["symbols"]), kernel, line)


def _check(
    where: str, table: Mapping[str, Any], needed: Mapping[str, type], optional: Mapping[str, type]
) -> None:
    """Raise ConceptError unless a table has what is needed, nothing unknown, and fitting values."""
    known = {**needed, **optional}
    for key in needed:
        if key not in table:
            raise ConceptError(f"{where}: {key!r} is missing.")
    for key, value in table.items():
        if key not in known:
            raise ConceptError(f"{where}: {key!r} is unknown; there are {', '.join(known)}.")
        if not isinstance(value, known[key]):
            raise ConceptError(
                f"{where}: {key!r} must be of type {known[key].__name__}; {value!r} was given."
            )
        names = value if isinstance(value, list) and key != "steps" else []
        if not all(isinstance(name, str) for name in names):
            raise ConceptError(f"{where}: {key!r} must hold names; {value!r} was given.")


def _lines_of(wanted: str, text: str, after: int = 0) -> list[int]:
    """Return the numbers of the lines below `after` in which something stands."""
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if number > after and wanted in line]


def _joined(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


def _spoken(name: str) -> str:
    """Return a name in the spelling of the map: in small letters, and with spaces."""
    return name.lower().replace("_", " ").replace("-", " ")


# --- Using it -----------------------------------------------------------------------------------


def concept_of(concepts: Mapping[str, Concept], name: str) -> Concept:
    """Return the concept of a name, one of its other names too, in any spelling of its words.

    Raises:
        ConceptError: there is none; names the nearest.
    """
    by_name = {each: concept for concept in concepts.values() for each in concept.also}
    by_name |= concepts
    wanted = _spoken(name)
    if wanted in by_name:
        return by_name[wanted]
    near = difflib.get_close_matches(wanted, by_name, 3, 0.5)
    hint = f"Is it {' or '.join(near)}? " if near else ""
    raise ConceptError(f"no concept is called {name!r}. {hint}There are {', '.join(concepts)}.")


def unresolved(concepts: Iterable[Concept], symbols: Symbols) -> Iterator[str]:
    """Yield a line for each name in the map for which the source has nothing; says where."""
    for concept in concepts:
        text = concept.file.read_text(encoding="utf-8")
        for step in concept.steps:
            for name in step.symbols:
                try:
                    symbols.find(name)
                except UnknownSymbolError as error:
                    line = _lines_of(f'"{name}"', text, after=step.line)[0]
                    yield (
                        f"{concept.file.name}:{line}: concept {concept.name!r}, column "
                        f"{step.column!r}: {error}"
                    )
