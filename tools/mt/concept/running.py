"""Run the same input in every column, and measure result, error and time.

The input of a concept is a file of `mt/concept/inputs`: a docstring that describes it, and a
function for each of the stages `operators`, `autodiff`, `tensor` and `nn` that supports it, which
returns a value and its gradient, or None without gradient. `tensor` runs on every backend that has
no separate function, and `nn` on the default backend. `reference` returns the correct result, in
float64. Counterexamples are run as well. Other functions are helpers; most files use those of
`mt.concept.gradients`.
"""

from __future__ import annotations

import ast
import math
import runpy
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from mt.concept.maps import BACKENDS, Counterexample

Program = Callable[[], tuple[Any, Any]]

FOLDER = Path(__file__).parent / "inputs"
ROUNDS = 5
"""The number of runs; the fastest counts, because the first may compile."""

TOLERANCE = 1e-5
"""The error allowed in a correct result: float32 has seven digits."""


@dataclass(frozen=True)
class Result:
    """The result of a column.

    Attributes:
        value: the value, as nested lists of numbers.
        gradient: the gradient of the input, likewise; None if the column has none.
        error: the largest difference from the correct value and gradient.
        seconds: the time of the fastest run.
        failure: the reason why there is no result; empty if there is one.
        simulated: whether it ran on the simulator because there is no GPU.
    """

    value: Any = None
    gradient: Any = None
    error: float = 0.0
    seconds: float = 0.0
    failure: str = ""
    simulated: bool = False

    @property
    def is_right(self) -> bool:
        """Whether there is a result, and it is correct."""
        return not self.failure and self.error <= TOLERANCE

    def cells(self) -> tuple[str, str, str, str]:
        """Return value, gradient, error and time as the cells of a table."""
        if self.failure:
            return self.failure, "", "", ""
        gradient = "none here" if self.gradient is None else _short(self.gradient)
        error = f"{self.error:.1e}" if self.error else "0"
        error += "" if self.is_right else ": wrong"
        seconds = f"{1e6 * self.seconds:,.1f} µs{', simulated' if self.simulated else ''}"
        return _short(self.value), gradient, error, seconds


@dataclass(frozen=True)
class Input:
    """The input of a concept.

    Attributes:
        text: its description.
        functions: the functions of the file, by name.
        sources: their source.
    """

    text: str
    functions: Mapping[str, Any]
    sources: Mapping[str, str]

    def programs(self, columns: Iterable[str]) -> dict[str, Program]:
        """Return the functions to run, by column."""
        own = self.functions
        names = {
            column: "tensor" if column in BACKENDS and column not in own else column
            for column in columns
        }
        return {column: own[name] for column, name in names.items() if name in own}


def input_of(concept: str) -> Input:
    """Return the input of a concept."""
    file = FOLDER / f"{concept.replace(' ', '_')}.py"
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = {
        name: value
        for name, value in runpy.run_path(str(file)).items()
        if isinstance(value, FunctionType) and value.__code__.co_filename == str(file)
    }
    own = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    sources = {each.name: ast.get_source_segment(text, each) or "" for each in own}
    return Input(ast.get_docstring(tree) or "", functions, sources)


def results(
    given: Input, columns: Iterable[str], counterexamples: Iterable[Counterexample] = ()
) -> dict[str, Result]:
    """Return the result of each column that supports an input, and of each counterexample.

    Args:
        given: the input.
        columns: stages and backends.
        counterexamples: further functions to run.
    """
    right = given.functions["reference"]()
    programs = given.programs(columns)
    programs |= {each.name: given.functions[each.program] for each in counterexamples}
    return {name: _result(name, program, right) for name, program in programs.items()}


def _result(column: str, program: Program, right: tuple[Any, Any]) -> Result:
    try:
        if column not in BACKENDS:
            return _measured(program, right)
        import mt_tensor as mt

        backend, simulated = backend_of(column)
        with mt.use_backend(backend):
            return replace(_measured(program, right), simulated=simulated)
    except (ImportError, KeyError, RuntimeError) as error:
        return Result(failure=f"{type(error).__name__}: {error}")


def backend_of(column: str) -> tuple[Any, bool]:
    """Return the backend of a column, and whether it is the simulator because there is no GPU."""
    import mt_tensor as mt

    if column == "cuda" and mt.backends()["cuda"].status() != "ready":
        from mt_cuda import CudaOps, Simulator

        return CudaOps(Simulator(), plain=True), True
    return column, False


def _measured(program: Program, right: tuple[Any, Any]) -> Result:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        value, gradient = program()
        seconds.append(time.perf_counter() - start)
    value, gradient = _lists(value), _lists(gradient)
    pairs = [(value, right[0])] + ([] if gradient is None else [(gradient, right[1])])
    error = max(_difference(found, _lists(expected)) for found, expected in pairs)
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
    """Format nested lists of numbers with six digits each."""
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}"


def _difference(found: Any, right: Any) -> float:
    """Return the largest difference between corresponding numbers of nested lists."""
    if isinstance(right, list):
        return max((_difference(*pair) for pair in zip(found, right, strict=True)), default=0.0)
    difference = abs(found - right)
    return math.inf if math.isnan(difference) else float(difference)
