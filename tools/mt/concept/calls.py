"""Check that the code named in the concept map runs for the input of the concept.

Python's trace function reports calls of Python functions. It does not report calls of compiled
functions, but Numba lists those that it has compiled or loaded, and the functions they refer to.
Code that runs only once, such as a generator of kernels, is reported as well, because each column
runs in a new process.

`python -m mt.concept.calls` prints, for each concept and column, the named code that does not run.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import CodeType, FrameType, FunctionType
from typing import Any

from mt.concept.maps import BACKENDS, Concept, read_map
from mt.concept.running import Program, backend_of, input_of
from mt.source.symbols import Symbol, Symbols
from mt.workspace import Workspace

LATER = ("cuda.core", "mt_fast.core.backend", "mt_fast.fused.kernels")
"""Modules that backends import at their first use, which takes longer than the use."""

Place = tuple[str, int]
"""File and first line of a piece of code."""

COMPOSED = ("tensor", "nn")
"""Columns whose compositions run where a backend has no kernel, such as `simple`."""


def _named(concept: Concept, column: str, symbols: Symbols) -> list[Symbol]:
    """Return the symbols with code that the map names for a column."""
    (step,) = [step for step in concept.steps if step.column == column]
    return [symbol for symbol in map(symbols.find, step.symbols) if _can_run(symbol)]


def uncalled(concept: Concept, column: str, named: Iterable[Symbol]) -> list[str]:
    """Return the names of symbols that do not run in a column.

    It must be called first in a new process.
    """
    program = input_of(concept.name).programs([column])[column]
    seen = called(program, column if column in BACKENDS else None)
    if column in COMPOSED:
        seen |= called(program, "simple")
    return [symbol.name for symbol in named if not _runs(symbol, seen)]


def _can_run(symbol: Symbol) -> bool:
    """Return whether a symbol has code; abstract methods have none."""
    for node in ast.walk(symbol.node):
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if "abstractmethod" not in decorators:
                return True
    return False


def _runs(symbol: Symbol, seen: Iterable[Place]) -> bool:
    first, last = symbol.lines
    file = str(symbol.module.file)
    return any(file == where and first <= line <= last for where, line in seen)


def called(program: Program, column: str | None) -> set[Place]:
    """Return the location of all code that a program runs.

    Args:
        program: the program to run.
        column: the backend to run it on; None for the default.
    """
    codes: set[CodeType] = set()

    def note(frame: FrameType, *_: object) -> None:
        codes.add(frame.f_code)  # returns None, so that lines are not traced

    sys.settrace(note)
    threading.settrace(note)
    try:
        if column is None:
            program()
        else:
            import mt_tensor as mt

            with mt.use_backend(backend_of(column)[0]):
                program()
    finally:
        sys.settrace(None)
        threading.settrace(None)
    seen = set(map(_place, codes))
    if column == "fast":
        seen |= {_place(function.__code__) for function in _compiled()}
    return seen


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno


def _compiled() -> Iterator[FunctionType]:
    """Yield the functions that Numba has compiled, and those that they refer to."""
    from numba.core.dispatcher import Dispatcher

    everything = gc.get_objects()  # some are proxies of deleted objects
    kinds = {kind for kind in set(map(type, everything)) if issubclass(kind, Dispatcher)}
    pending = [each for each in everything if type(each) in kinds and each.overloads]
    known: set[int] = set()
    while pending:
        function = _of_python(pending.pop())
        if function is None or id(function) in known:
            continue
        known.add(id(function))
        yield function
        pending += [
            function.__globals__[name]
            for name in function.__code__.co_names
            if name in function.__globals__
        ]


def _of_python(thing: Any) -> FunctionType | None:
    """Return the Python function of a compiled one; None for anything else."""
    function = getattr(thing, "py_func", None) or getattr(thing, "_defn", None)
    return function if isinstance(function, FunctionType) else None


# --- All of them --------------------------------------------------------------------------------


def _prepare(symbols: Symbols) -> None:
    """Import and initialize once, before forking, what every process needs."""
    import numba

    for name in (*symbols.library.folders, *LATER):
        import_module(name)
    nothing: Any = numba.njit(lambda: None)
    nothing()  # Numba initializes itself at its first compilation


def main(names: Iterable[str]) -> None:
    """Print a line of JSON for each column: concept, column, and the names that do not run."""
    concepts = read_map()
    symbols = Symbols(Workspace.read().library())
    _prepare(symbols)
    for name in names or concepts:
        concept = concepts[name]
        for column in input_of(name).programs([step.column for step in concept.steps]):
            named = _named(concept, column, symbols)  # before forking: all processes share it
            child = os.fork()
            if not child:
                row = name, column, uncalled(concept, column, named)
                print(json.dumps(row), flush=True)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if status:
                raise SystemExit(f"{name}, {column}: the process ended with status {status}")


if __name__ == "__main__":
    main(sys.argv[1:])
