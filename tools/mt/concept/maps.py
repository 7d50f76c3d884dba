"""The map of concepts, `map/*.toml`: where each idea is found in each stage, in sentences.

A concept is a file, `sum.toml`; its name is that of the file, with spaces for underscores. What it
is comes first, and then each place where it appears, in the order of the columns:

    text = "what the idea is"
    also = ["another name"]
    asks = ["a question of a newcomer that its page answers"]

    [[steps]]
    column = "operators"
    text = "what is new in this column"
    symbols = ["mt_operators.core.table[tanh]"]

Texts may be broken into lines. A step can show a kernel that is generated,
`kernel = { name = "tanh", layout = "flat" }`, with `gradient = true` for its backward; see
`GeneratedKernel`.

What goes wrong without the idea can be shown as well. The code of a counterexample is a function of
the concept's input (`mt.concept.running`), by its name with underscores for spaces, which is run
beside the columns; `shown` names the functions that are worth reading, if it is not that one:

    [[counterexamples]]
    name = "naive"
    proves = "wrong"
    text = "what somebody might try, and what comes of it"
    shown = ["on_first_share"]
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
"""Where an idea can appear, in the order of reading: stages, and the backends of tensors."""

BACKENDS = ("simple", "numpy", "fast", "cuda")

STEP = "[[steps]]"

Flaw = Literal["wrong", "slow", "refused"]
"""What is bad about a counterexample: its result, its time, or that it ends with an error."""


@dataclass(frozen=True)
class GeneratedKernel:
    """A kernel that a backend writes while it runs.

    Attributes:
        name: an operator of the table; of `cuda` also `matmul`, `gather`, `scatter` or `copy`; of
            `fast` also a function of the concept's input, which is fused. In other columns it is a
            function of the input that returns what is shown, such as a program.
        layout: for what layout of memory, as the backend calls it; empty for the usual one.
        gradient: whether the backward is meant.
        repeats: of `fast`: for each argument, whether it stays at one element all along a row;
            empty if none does.
        compiled: of `cuda`: whether it is compiled as well, to say what becomes of it.
    """

    name: str
    layout: str = ""
    gradient: bool = False
    repeats: tuple[bool, ...] = ()
    compiled: bool = False


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
class Counterexample:
    """What somebody might do who does not have the idea.

    Attributes:
        name: what it is called among the results.
        proves: what is bad about it.
        text: what it does, and why that goes wrong.
        shown: the functions of the concept's input that are shown.
    """

    name: str
    proves: Flaw
    text: str
    shown: tuple[str, ...]

    @property
    def program(self) -> str:
        """The name of the function that is run."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True)
class Concept:
    """An idea, and where it is.

    Attributes:
        name: what it is called.
        text: a sentence on what it is.
        steps: where it is, in the order of the columns.
        counterexamples: what goes wrong without it.
        also: other names under which it is found.
        asks: questions of a newcomer that its page answers, in a newcomer's words.
        file: where all of this stands.
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
        TableError: something in it is missing, unknown, or in the wrong order; says where.
    """
    concepts = [_concept(file) for file in sorted(folder.glob("*.toml"))]
    owners: dict[str, Concept] = {}
    for concept in concepts:
        for name in (concept.name, *concept.also):
            owner = owners.setdefault(name, concept)
            if owner is not concept:
                raise TableError(
                    f"{concept.file.name}: {name!r} is what {owner.file.name} is called, too."
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
        raise TableError(f"{file.name}:1: each step must be a table of its own, below {STEP}.")
    steps = [_step(file, *each) for each in zip(lines, table["steps"], strict=True)]
    for before, step in itertools.pairwise(steps):
        if COLUMNS.index(before.column) >= COLUMNS.index(step.column):
            raise TableError(
                f"{file.name}:{step.line}: {step.column!r} comes after {before.column!r}; columns "
                f"are in the order {', '.join(COLUMNS)}, and each is there at most once."
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
            f"{where}: there is no column {column!r}; the columns are {', '.join(COLUMNS)}."
        )
    kernel = None
    if "kernel" in table:
        kernel = _kernel(where, column, table["kernel"])
    return Step(column, joined(table["text"]), tuple(table["symbols"]), kernel, line)


def _kernel(where: str, column: str, table: Mapping[str, Any]) -> GeneratedKernel:
    if column not in ("fast", "cuda"):
        check_table(where, table, {"name": str}, {})
        return GeneratedKernel(table["name"])
    only = {"repeats": list} if column == "fast" else {"compiled": bool}
    optional = {"layout": str, "gradient": bool, **only}
    check_table(where, table, {"name": str}, optional, held={"repeats": bool})
    return GeneratedKernel(**{**table, "repeats": tuple(table.get("repeats", ()))})


def _counterexample(where: str, table: Mapping[str, Any]) -> Counterexample:
    check_table(where, table, {"name": str, "proves": str, "text": str}, {"shown": list})
    name, proves = table["name"], table["proves"]
    if proves not in get_args(Flaw):
        raise TableError(
            f"{where}: {name!r} proves {proves!r}; it can be {', '.join(get_args(Flaw))}."
        )
    if name in COLUMNS:
        raise TableError(f"{where}: a counterexample cannot be called {name!r}, as a column is.")
    shown = table.get("shown", [name.replace(" ", "_")])
    return Counterexample(name, proves, joined(table["text"]), tuple(shown))


def _lines_of(wanted: str, text: str, after: int = 0) -> list[int]:
    """Return the numbers of the lines below `after` in which something stands."""
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if number > after and wanted in line]


def joined(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


def spoken(name: str) -> str:
    """Return a name in the spelling of the map: in small letters, and with spaces."""
    return name.lower().replace("_", " ").replace("-", " ")


# --- Checking it ----------------------------------------------------------------------------------


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
