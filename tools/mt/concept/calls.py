"""Which code runs when a concept's input does: that the map names the code that really does it.

Python reports every call of a function of its own; of what Numba has compiled there is no report,
but Numba knows what it has compiled or loaded, and the functions which that refers to. Code that
prepares something only once, as the writer of a kernel's text, is seen as well, for each column
runs in a process that has run nothing before.

`python -m mt.concept.calls` prints, for each concept and column, what is named but does not run.
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
"""What backends import when they are first used, and takes longer than the use."""

Place = tuple[str, int]
"""File and first line of a piece of code."""

COMPOSED = ("tensor", "nn")
"""Columns whose compositions run where a backend has no kernel, which is so for `simple`."""


def _named(concept: Concept, column: str, symbols: Symbols) -> list[Symbol]:
    """Return what the map names for a column and has code."""
    (step,) = [step for step in concept.steps if step.column == column]
    return [symbol for symbol in map(symbols.find, step.symbols) if _can_run(symbol)]


def uncalled(concept: Concept, column: str, named: Iterable[Symbol]) -> list[str]:
    """Return the names of symbols that do not run in a column.

    It must be the first thing that a process runs.
    """
    program = input_of(concept.name).programs([column])[column]
    seen = called(program, column if column in BACKENDS else None)
    if column in COMPOSED:
        seen |= called(program, "simple")
    return [symbol.name for symbol in named if not _runs(symbol, seen)]


def _can_run(symbol: Symbol) -> bool:
    """Whether a symbol has code of its own; a method that others must define has none."""
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
    """Return all code that a program runs.

    Args:
        program: what is run.
        column: the backend on which it is; None for the default.
    """
    codes: set[CodeType] = set()

    def note(frame: FrameType, *_: object) -> None:
        codes.add(frame.f_code)  # and returns nothing: no line of the call need be reported

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
    """Yield the functions of which Numba has machine code, and those that they refer to."""
    from numba.core.dispatcher import Dispatcher

    everything = gc.get_objects()  # of which some only stand for what is no more
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
    """Return the function of Python behind one of Numba's; None if it is something else."""
    function = getattr(thing, "py_func", None) or getattr(thing, "_defn", None)
    return function if isinstance(function, FunctionType) else None


# --- All of them --------------------------------------------------------------------------------


def _prepare(symbols: Symbols) -> None:
    """Do once what every process would do for itself, and what no name of the map stands for."""
    import numba

    for name in (*symbols.library.folders, *LATER):
        import_module(name)
    nothing: Any = numba.njit(lambda: None)
    nothing()  # Numba prepares itself when it first compiles


def main(names: Iterable[str]) -> None:
    """Print a line of JSON for each column: the concept, the column, and what does not run."""
    concepts = read_map()
    symbols = Symbols(Workspace.read().library())
    _prepare(symbols)
    for name in names or concepts:
        concept = concepts[name]
        for column in input_of(name).programs([step.column for step in concept.steps]):
            named = _named(concept, column, symbols)  # here, so that one process reads for all
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
