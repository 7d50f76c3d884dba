"""A concept with everything to show: code, generated kernels, and results of its input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
