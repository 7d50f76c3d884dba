"""The same input through every column: what comes out, how far it is off, and how long it takes.

What is run for a concept is a file of `mt/concept/inputs`: a docstring that says what it does, and
a function for each of the stages `operators`, `autodiff`, `tensor` and `nn` that can do it, which
returns a value and its gradient, or None if it has no gradient. `tensor` runs on every backend, and
`nn` on the default one. `reference` returns what is right, in float64.
"""

from __future__ import annotations

import ast
import os
import runpy
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.concept.maps import BACKENDS

FOLDER = Path(__file__).parent / "inputs"
ROUNDS = 5
"""How often it is run; the fastest counts, as the first may have to compile."""


@dataclass(frozen=True)
class Result:
    """What a column makes of the input.

    Attributes:
        value: the value, as nested lists of numbers.
        gradient: its gradient by the input, likewise; None if the column has none.
        error: the largest difference from what is right, of value and gradient.
        seconds: how long the fastest run took.
        failure: why there is no result; empty if there is.
    """

    value: Any = None
    gradient: Any = None
    error: float = 0.0
    seconds: float = 0.0
    failure: str = ""

    def cells(self) -> tuple[str, str, str, str]:
        """Return value, gradient, error and time as the cells of a table."""
        if self.failure:
            return self.failure, "", "", ""
        gradient = "none here" if self.gradient is None else _short(self.gradient)
        return _short(self.value), gradient, f"{self.error:.1e}", f"{1e6 * self.seconds:,.1f} µs"


@dataclass(frozen=True)
class Input:
    """What is run for a concept.

    Attributes:
        text: what it does.
        functions: by the name of a stage, and `reference`.
    """

    text: str
    functions: dict[str, Any]

    def of(self, column: str) -> Callable[[], tuple[Any, Any]] | None:
        """Return what is run in a column; None if there is nothing."""
        found: Any = self.functions.get("tensor" if column in BACKENDS else column)
        return found if callable(found) else None


def input_of(concept: str) -> Input:
    """Return what is run for a concept."""
    file = FOLDER / f"{concept.replace(' ', '_')}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return Input(text, runpy.run_path(str(file)))


def results(concept: str, columns: tuple[str, ...]) -> dict[str, Result]:
    """Return what each column makes of the concept's input, where it can be run."""
    given = input_of(concept)
    right = given.functions["reference"]()
    programs = {column: given.of(column) for column in columns}
    return {
        column: _result(column, program, right)
        for column, program in programs.items()
        if program is not None
    }


def _result(column: str, program: Callable[[], tuple[Any, Any]], right: tuple[Any, Any]) -> Result:
    try:
        if column not in BACKENDS:
            return _measured(program, right)
        import mt_tensor as mt

        if column == "cuda" and mt.backends()["cuda"].status() != "ready":
            os.environ["MT_CUDA_SIM"] = "1"
        with mt.use_backend(column):
            return _measured(program, right)
    except (ImportError, KeyError, RuntimeError) as error:
        return Result(failure=f"{type(error).__name__}: {error}")


def _measured(program: Callable[[], tuple[Any, Any]], right: tuple[Any, Any]) -> Result:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        value, gradient = program()
        seconds.append(time.perf_counter() - start)
    value, gradient = _lists(value), _lists(gradient)
    pairs = [(value, right[0])] + ([] if gradient is None else [(gradient, right[1])])
    error = max(_difference(found, expected) for found, expected in pairs)
    return Result(value, gradient, error, min(seconds))


def _lists(value: Any) -> Any:
    """Return numbers, Scalars, arrays and tensors as nested lists of floats."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return [_lists(part) for part in value]
    if hasattr(value, "detach"):
        value = value.detach()
    return value.tolist() if hasattr(value, "tolist") else float(value)


def _short(value: Any) -> str:
    """Return nested lists of numbers with four digits each."""
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.4g}"


def _difference(found: Any, right: Any) -> float:
    import numpy as np

    return float(np.max(np.abs(np.asarray(found, "float64") - np.asarray(_lists(right)))))
