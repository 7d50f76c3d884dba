"""The concept map, `map/*.toml`: each idea, and the code that implements it in each stage.

A concept is a file such as `sum.toml`, named after the concept, with underscores for spaces. It
starts with a description, followed by a step for each column in which the concept appears:

    text = "what the idea is"
    also = ["another name"]
    asks = ["a question that this page answers"]

    [[steps]]
    column = "operators"
    text = "what is new in this column"
    symbols = ["mt_operators.core.table[tanh]"]

Texts may have several lines. A step can show a generated kernel,
`kernel = { name = "tanh", layout = "flat" }`, with `gradient = true` for its backward; see
`GeneratedKernel`.

A counterexample shows what goes wrong without the idea. Its code is a function of the concept's
input (`mt.concept.running`), with underscores for the spaces of its name, which runs as another
column; `shown` lists the functions to show, by default this one:

    [[counterexamples]]
    name = "naive"
    proves = "wrong"
    text = "what one might try, and why it fails"
    shown = ["on_first_contribution"]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from mt.source.symbols import Symbols, UnknownSymbolError
from mt.tables import TableError, check_table, read_table

FOLDER = Path(__file__).with_name("map")

COLUMNS = ("operators", "autodiff", "tensor", "simple", "numpy", "fast", "cuda", "nn")
"""The columns in reading order: stages, and the backends of tensors."""

BACKENDS = ("simple", "numpy", "fast", "cuda")

STEP = "[[steps]]"

Flaw = Literal["wrong", "slow", "refused"]
"""The flaw of a counterexample: a wrong result, a long time, or an error."""


@dataclass(frozen=True)
class GeneratedKernel:
    """A kernel that a backend generates.

    Attributes:
        name: an operator of the table; in `cuda` also `matmul`, `gather`, `scatter` or `copy`; in
            `fast` also a function of the concept's input, which is fused. In other columns, a
            function of the input that returns the text to show, such as a program.
        layout: the backend's name for the memory layout; empty for the default.
        gradient: whether to show the backward.
        repeats: for `fast`: for each argument, whether it is constant along a row; empty if none
            is.
    """

    name: str
    layout: str = ""
    gradient: bool = False
    repeats: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Step:
    """A concept in one column.

    Attributes:
        column: a stage or a backend.
        text: what is new compared with the columns before.
        symbols: the qualified names of the code.
        kernel: generated code to show below it, or None.
        line: the line of the concept's file where it starts.
    """

    column: str
    text: str
    symbols: tuple[str, ...]
    kernel: GeneratedKernel | None
    line: int


@dataclass(frozen=True)
class Counterexample:
    """A plausible implementation without the idea, which fails.

    Attributes:
        name: its name among the results.
        proves: its flaw.
        text: what it does, and why it fails.
        shown: the functions of the concept's input to show.
    """

    name: str
    proves: Flaw
    text: str
    shown: tuple[str, ...]

    @property
    def program(self) -> str:
        """The name of its function."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True)
class Concept:
    """An idea, and the code that implements it.

    Attributes:
        name: its name.
        text: a sentence that describes it.
        steps: its implementations, in the order of the columns.
        counterexamples: what goes wrong without it.
        also: other names for it.
        asks: questions that its page answers, in the words of a beginner.
        file: the file that describes it.
    """

    name: str
    text: str
    steps: tuple[Step, ...]
    counterexamples: tuple[Counterexample, ...]
    also: tuple[str, ...]
    asks: tuple[str, ...]
    file: Path


# --- Reading ------------------------------------------------------------------------------------


def read_map(folder: Path = FOLDER) -> dict[str, Concept]:
    """Read the map.

    Raises:
        TableError: something in it is missing, unknown, or in the wrong order.
    """
    concepts = [_concept(file) for file in sorted(folder.glob("*.toml"))]
    owners: dict[str, Concept] = {}
    for concept in concepts:
        for name in (concept.name, *concept.also):
            owner = owners.setdefault(name, concept)
            if owner is not concept:
                raise TableError(
                    f"{concept.file.name}: {name!r} is already a name of {owner.file.name}."
                )
    return {concept.name: concept for concept in concepts}


def _concept(file: Path) -> Concept:
    table = read_table(file)
    check_table(
        f"{file.name}:1",
        table,
        {"text": str, "asks": list, "steps": list},
        {"also": list, "counterexamples": list},
        held={"steps": dict, "counterexamples": dict},
    )
    text = file.read_text(encoding="utf-8")
    lines = _lines_of(STEP, text)
    if len(lines) != len(table["steps"]):
        raise TableError(f"{file.name}:1: each step must be a separate table below {STEP}.")
    steps = [_step(file, *each) for each in zip(lines, table["steps"], strict=True)]
    for before, step in itertools.pairwise(steps):
        if COLUMNS.index(before.column) >= COLUMNS.index(step.column):
            raise TableError(
                f"{file.name}:{step.line}: {step.column!r} comes after {before.column!r}; the "
                f"order of columns is {', '.join(COLUMNS)}, each at most once."
            )
    also = tuple(table.get("also", ()))
    for other in also:
        if other != spoken(other):
            raise TableError(f"{file.name}:1: write {other!r} as {spoken(other)!r} in 'also'.")
    return Concept(
        spoken(file.stem),
        joined(table["text"]),
        tuple(steps),
        tuple(_counterexample(file.name, each) for each in table.get("counterexamples", ())),
        also,
        tuple(table["asks"]),
        file,
    )


def _step(file: Path, line: int, table: Mapping[str, Any]) -> Step:
    where = f"{file.name}:{line}"
    check_table(where, table, {"column": str, "text": str, "symbols": list}, {"kernel": dict})
    column = table["column"]
    if column not in COLUMNS:
        raise TableError(
            f"{where}: unknown column {column!r}; the columns are {', '.join(COLUMNS)}."
        )
    kernel = None
    if "kernel" in table:
        kernel = _kernel(where, column, table["kernel"])
    return Step(column, joined(table["text"]), tuple(table["symbols"]), kernel, line)


def _kernel(where: str, column: str, table: Mapping[str, Any]) -> GeneratedKernel:
    if column not in ("fast", "cuda"):
        check_table(where, table, {"name": str}, {})
        return GeneratedKernel(table["name"])
    optional: dict[str, type] = {"layout": str, "gradient": bool}
    if column == "fast":
        optional["repeats"] = list
    check_table(where, table, {"name": str}, optional, held={"repeats": bool})
    return GeneratedKernel(**{**table, "repeats": tuple(table.get("repeats", ()))})


def _counterexample(where: str, table: Mapping[str, Any]) -> Counterexample:
    check_table(where, table, {"name": str, "proves": str, "text": str}, {"shown": list})
    name, proves = table["name"], table["proves"]
    if proves not in get_args(Flaw):
        raise TableError(
            f"{where}: {name!r} proves {proves!r}, which must be {', '.join(get_args(Flaw))}."
        )
    if name in COLUMNS:
        raise TableError(f"{where}: a counterexample cannot be called {name!r}, which is a column.")
    shown = table.get("shown", [name.replace(" ", "_")])
    return Counterexample(name, proves, joined(table["text"]), tuple(shown))


def _lines_of(wanted: str, text: str, after: int = 0) -> list[int]:
    """Return the numbers of the lines after `after` that contain a text."""
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if number > after and wanted in line]


def joined(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def spoken(name: str) -> str:
    """Return a name as the map spells it: in lower case, with spaces."""
    return name.lower().replace("_", " ").replace("-", " ")


# --- Checking it ----------------------------------------------------------------------------------


def unresolved(concepts: Iterable[Concept], symbols: Symbols) -> Iterator[str]:
    """Yield a message for each name in the map that the source does not define."""
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
