"""The tape: intercept every backend call of a thread.

A program computes by calling the methods of the contract (`core/contract.py`). While a `Tape` is
active, in `with tape:`, each call of its thread is passed to it. Profilers and `compile` run calls
immediately; `lazy` delays them. Without an active tape, a call only checks a counter.

Tapes nest: while a tape handles a call, the enclosing tape is active, and sees the backend calls of
the handler. Calls inside a backend's method are not intercepted.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from mt_operators import Formula
from mt_tensor.core.elementwise import UNCHANGED
from mt_tensor.core.extensions import ACTIVE_TAPES, extends
from mt_tensor.core.plans import drop_plans

Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class Call:
    """A call of a backend's method.

    Attributes:
        backend: the backend.
        name: the name of the method; for a run of `elementwise`, the name of the formula.
        function: computes the results for any arguments, invisible to tapes.
        arguments: the positional arguments.
        options: the keyword arguments.
        formula: the formula, for a run of `elementwise`.
        planned: computes the results for these arguments with a plan, or None.
    """

    backend: Any
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    formula: Formula | None = None
    planned: Callable[[], Any] | None = None

    def run(self) -> Any:
        """Run the call, under the active tape if there is one, and return the results."""
        tapes = active_tapes()
        if not tapes and self.planned is not None:
            return self.planned()
        if not tapes:
            return self.function(*self.arguments, **self.options)
        with tapes[-1].paused():
            return tapes[-1].handle(self)


class Tape:
    """Intercept every backend call of a thread inside a `with` block.

    Subclasses define how calls are handled. The tape includes asyncio tasks that start inside the
    block, but no other threads.

    Attributes:
        captures: whether the tape records calls to run them later.
        backward_depth: how many nested backward passes are running.
    """

    captures = False

    def __init__(self) -> None:
        self.backward_depth = 0
        self._thread = 0
        self._token: Token[tuple[Tape, ...]] | None = None

    @property
    def is_active(self) -> bool:
        """Whether its block is active."""
        return self._token is not None

    def handle(self, call: Call) -> Any:
        """Handle a backend call, and return its results."""
        return call.run()

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Run an operation, whose backend calls the tape also sees, and return its result.

        Operations are those of `mt_tensor.fused`, Functions, and the VJPs of nodes.
        """
        return function(*arguments)

    def handle_backward(self, walk: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run a backward pass, whose VJPs the tape also sees, and return its result."""
        self.backward_depth += 1
        try:
            return walk(*arguments)
        finally:
            self.backward_depth -= 1

    def refuse(self, what: str) -> None:
        """Raise an error if this tape captures calls.

        Args:
            what: what the call does that cannot be captured, such as "reads the address of
                elements".
        """

    def __enter__(self) -> Self:
        self._thread = threading.get_ident()
        self._token = _TAPES.set((*_TAPES.get(), self))
        _change(1)
        return self

    def __exit__(self, *error: object) -> None:
        _change(-1)
        if self._token is not None:
            _TAPES.reset(self._token)
            self._token = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Return a context in which this tape and the tapes inside it are inactive."""
        tapes = _TAPES.get()
        before = _TAPES.set(tapes[: tapes.index(self)] if self in tapes else tapes)
        try:
            yield
        finally:
            _TAPES.reset(before)


_TAPES: ContextVar[tuple[Tape, ...]] = ContextVar("mt_tensor_tapes", default=())
"""The active tapes, the innermost last."""


_CHANGING = threading.Lock()


def _change(by: int) -> None:
    """Change the number of active tapes, and drop all plans.

    Plans hold functions of backends, whose calls the tape must intercept.
    """
    with _CHANGING:
        ACTIVE_TAPES.count += by
    drop_plans()


def active_tapes() -> tuple[Tape, ...]:
    """Return the tapes that are active in this thread, the innermost last."""
    tapes = _TAPES.get()
    thread = threading.get_ident()
    return tapes if all(tape._thread == thread for tape in tapes) else ()


@contextmanager
def without_tapes() -> Iterator[None]:
    """Return a context in which no tape sees the calls of this thread."""
    before = _TAPES.set(())
    try:
        yield
    finally:
        _TAPES.reset(before)


def cached_constants(
    size: int,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Decorate a function to cache the constant tensors that it returns.

    The result, a tensor or a tuple of tensors, must never be changed. Programs treat the tensors
    as constants. The cache holds at most `size` results.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @functools.lru_cache(size)
        @functools.wraps(function)
        def cached(*arguments: Any) -> Result:
            with without_tapes():
                result: Any = function(*arguments)
            for each in result if isinstance(result, tuple) else (result,):
                if each is not None:
                    each._tensor._version = UNCHANGED
            return result  # type: ignore[no-any-return]

        return cached

    return decorate


def capturing() -> Any:
    """Return the innermost active tape that records calls to run them later, or None."""
    return next((tape for tape in reversed(active_tapes()) if tape.captures), None)


def refuse_to_capture(what: str) -> None:
    """Raise CompileError if a program is being recorded; see `Tape.refuse` for `what`."""
    tape = capturing() if ACTIVE_TAPES.count else None
    if tape is not None:
        tape.refuse(what)


@extends("operation on tape")
def run_operation(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run an operation under all active tapes; see `Tape.handle_operation`."""
    for tape in reversed(active_tapes()):
        function, arguments = tape.handle_operation, (name, function, arguments)
    return function(*arguments)


@extends("backward on tape")
def run_backward(walk: Callable[..., Any], *arguments: Any) -> Any:
    """Run a backward pass under all active tapes; see `Tape.handle_backward`."""
    for tape in reversed(active_tapes()):
        walk, arguments = tape.handle_backward, (walk, arguments)
    return walk(*arguments)


@extends("elementwise on tape")
class ElementwiseOnTape:
    """The result of `elementwise` while a tape is active, which intercepts its runs."""

    def __init__(self, backend: Any, formula: Formula, function: Callable[..., Any]) -> None:
        self.backend, self.formula, self.function = backend, formula, function

    def __call__(self, out: Any, *inputs: Any) -> Any:
        """Compute the formula; see `TensorBackend.elementwise`."""
        return self._call(out, inputs).run()

    def plan(self, out: Any, inputs: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Return the function for one signature; see `PlannedRun.plan`."""
        plan = getattr(self.function, "plan", None)
        planned = plan and plan(out, inputs)
        if not planned:
            return None
        return lambda *views: self._call(out, views, functools.partial(planned, *views)).run()

    def _call(self, out: Any, inputs: tuple[Any, ...], planned: Any = None) -> Call:
        formula, arguments = self.formula, (out, *inputs)
        return Call(self.backend, formula.name, self.function, arguments, {}, formula, planned)


@extends("call on tape")
def run_call(
    backend: Any,
    name: str,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    options: Mapping[str, Any],
) -> Any:
    """Run a call of a backend's method under the active tape, and return the results."""
    return Call(backend, name, function, arguments, options).run()
