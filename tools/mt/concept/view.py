"""A concept with everything to show: code, generated kernels, and results of its input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mt.concept.kernels import kernel_text
from mt.concept.maps import Concept, Counterexample, Step
from mt.concept.running import Result, input_of, results
from mt.source.symbols import Symbol, Symbols


@dataclass(frozen=True)
class StepView:
    """A step with its code.

    Attributes:
        step: the step in the map.
        symbols: the definitions that it names.
        kernel: the source of the generated kernel; empty if there is none.
    """

    step: Step
    symbols: tuple[Symbol, ...]
    kernel: str


@dataclass(frozen=True)
class CounterexampleView:
    """A counterexample with its code.

    Attributes:
        counterexample: the entry in the map.
        code: the functions to show.
    """

    counterexample: Counterexample
    code: str


@dataclass(frozen=True)
class ConceptView:
    """A concept with everything to show.

    Attributes:
        concept: the concept in the map.
        steps: its steps with their code.
        counterexamples: its counterexamples with their code.
        input: a description of its input.
        results: the results by column; empty if the input was not run.
    """

    concept: Concept
    steps: tuple[StepView, ...]
    counterexamples: tuple[CounterexampleView, ...]
    input: str
    results: Mapping[str, Result]

    def as_json(self) -> dict[str, Any]:
        """Return the view for JSON.

        - `name`, `also`, `asks`, `text`: as in the map.
        - `steps`: a list of `column`, `text`, `symbols` and `kernel` (its source, or empty); a
          symbol has `symbol` (its qualified name), `module`, `line` and `text`.
        - `counterexamples`: a list of `name`, `proves`, `text` and `code`.
        - `input`: a description of the input.
        - `results`: by column or counterexample `value` and `gradient` (numbers or nested lists of
          numbers; the gradient may be null), `error`, `seconds`, `failure`, `simulated` and
          `is_right`. JSON has no nan and no infinity: both are null.
        """
        return {
            "name": self.concept.name,
            "also": list(self.concept.also),
            "asks": list(self.concept.asks),
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
            "counterexamples": [
                {
                    "name": view.counterexample.name,
                    "proves": view.counterexample.proves,
                    "text": view.counterexample.text,
                    "code": view.code,
                }
                for view in self.counterexamples
            ],
            "input": self.input,
            "results": {
                name: _finite({**asdict(result), "is_right": result.is_right})
                for name, result in self.results.items()
            },
        }


def _finite(value: Any) -> Any:
    """Return nested values with None for each number that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _shown(symbol: Symbol) -> dict[str, Any]:
    return {
        "symbol": symbol.name,
        "module": symbol.module.name,
        "line": symbol.lines[0],
        "text": symbol.text,
    }


def view(concept: Concept, symbols: Symbols, *, run: bool = True) -> ConceptView:
    """Return a concept with everything to show.

    Args:
        concept: the concept.
        symbols: the source of all stages.
        run: whether to run its input in every column.

    Raises:
        UnknownSymbolError: the source does not define a name of the map.
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
        tuple(
            CounterexampleView(each, "\n\n\n".join(given.sources[name] for name in each.shown))
            for each in concept.counterexamples
        ),
        given.text,
        results(given, columns, concept.counterexamples) if run else {},
    )
