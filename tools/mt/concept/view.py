"""A concept with all that is shown of it: code, generated kernels, and what came of the input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mt.concept.kernels import kernel_text
from mt.concept.machine import compiled_facts
from mt.concept.maps import Concept, Counterexample, Step
from mt.concept.running import Result, input_of, results
from mt.source.symbols import Symbol, Symbols


@dataclass(frozen=True)
class StepView:
    """A step with its code.

    Attributes:
        step: what the map says.
        symbols: the definitions that it names.
        kernel: the text of the generated kernel; empty if it names none.
        compiled: what becomes of the kernel on a GPU; empty unless the map wants it said, and
            things are run.
    """

    step: Step
    symbols: tuple[Symbol, ...]
    kernel: str
    compiled: str


@dataclass(frozen=True)
class CounterexampleView:
    """A counterexample with its code.

    Attributes:
        counterexample: what the map says.
        code: the functions that are shown.
    """

    counterexample: Counterexample
    code: str


@dataclass(frozen=True)
class ConceptView:
    """A concept with all that is shown of it.

    Attributes:
        concept: what the map says.
        steps: each with its code.
        counterexamples: what goes wrong without the idea, each with its code.
        input: what is run, in words.
        results: what came of it, by column; empty if it was not to be run.
    """

    concept: Concept
    steps: tuple[StepView, ...]
    counterexamples: tuple[CounterexampleView, ...]
    input: str
    results: Mapping[str, Result]

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows.

        - `name`, `also`, `asks`, `text`: as in the map.
        - `steps`: a list of `column`, `text`, `symbols`, `kernel` (the generated text, or nothing)
          and `compiled` (what becomes of it on a GPU, or nothing); a symbol has `symbol` (its
          qualified name), `module`, `line` and `text`.
        - `counterexamples`: a list of `name`, `proves`, `text` and `code`.
        - `input`: what was run, in words.
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
                    "compiled": view.compiled,
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
    """Return mappings, lists and numbers with None for each number that JSON does not know."""
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
                compiled_facts(step.kernel) if run and step.kernel and step.kernel.compiled else "",
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
