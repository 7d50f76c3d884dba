"""A concept with all that is shown of it: code, generated kernels, and what came of the input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mt.concept.kernels import kernel_text
from mt.concept.maps import Concept, Step
from mt.concept.running import Result, input_of, results
from mt.source.symbols import Symbol, Symbols


@dataclass(frozen=True)
class StepView:
    """A step with its code.

    Attributes:
        step: what the map says.
        symbols: the definitions that it names.
        kernel: the text of the generated kernel; empty if it names none.
    """

    step: Step
    symbols: tuple[Symbol, ...]
    kernel: str


@dataclass(frozen=True)
class ConceptView:
    """A concept with all that is shown of it.

    Attributes:
        concept: what the map says.
        steps: each with its code.
        input: what is run, in words.
        results: what came of it, by column; empty if it was not to be run.
    """

    concept: Concept
    steps: tuple[StepView, ...]
    input: str
    results: Mapping[str, Result]

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows."""
        return {
            "name": self.concept.name,
            "also": list(self.concept.also),
            "text": self.concept.text,
            "steps": [
                {
                    "column": view.step.column,
                    "text": view.step.text,
                    "symbols": [_shown(symbol) for symbol in view.symbols],
                    "kernel": view.kernel,
                }
                for view in self.steps
            ],
            "input": self.input,
            "results": {column: asdict(result) for column, result in self.results.items()},
        }


def _shown(symbol: Symbol) -> dict[str, Any]:
    return {
        "symbol": symbol.name,
        "module": symbol.module.name,
        "line": symbol.lines[0],
        "text": symbol.text,
    }


def view(concept: Concept, symbols: Symbols, *, run: bool = True) -> ConceptView:
    """Return a concept with all that is shown of it.

    Args:
        concept: which one.
        symbols: the source of all stages.
        run: whether its input is run through every column.

    Raises:
        UnknownSymbolError: the map names something that the source does not have.
    """
    given = input_of(concept.name)
    columns = [step.column for step in concept.steps]
    return ConceptView(
        concept,
        tuple(
            StepView(
                step,
                tuple(symbols.find(name) for name in step.symbols),
                kernel_text(step.column, step.kernel, given.functions) if step.kernel else "",
            )
            for step in concept.steps
        ),
        given.text,
        results(given, columns) if run else {},
    )
