"""The tape: one object sees every call that a thread makes of backends.

All that a program computes are calls of the methods of the contract (`core/contract.py`). While a
`Tape` is active, in `with tape:`, each call that its thread makes is handed to it. What notes the
calls, a profiler or `compile`, runs each at once; what puts them off, as `lazy`, runs them later.
Without an active tape a call costs one look at a counter.

Tapes nest: while a tape handles a call, the tape around it is active, and sees what the handling
asks of backends. What a backend's method calls inside is not seen.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, Self, TypeVar

from mt_operators import Formula
from mt_tensor.core.elementwise import UNCHANGED
from mt_tensor.core.extensions import ACTIVE, extends
from mt_tensor.core.plans import drop_plans

Result = TypeVar("Result")


class Call:
    """A call of a backend.

    Attributes:
        backend: the backend.
        name: that of the method; for a run of `elementwise`, that of the formula.
        function: computes the results of any arguments. No tape sees what it calls.
        arguments: the positional arguments.
        options: the arguments by keyword.
        formula: what is computed for each element, in a run of `elementwise`.
        planned: computes the results of these arguments, if there is a plan for them.
    """

    __slots__ = ("arguments", "backend", "formula", "function", "name", "options", "planned")

    def __init__(
        self,
        backend: Any,
        name: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        formula: Formula | None = None,
        planned: Callable[[], Any] | None = None,
    ) -> None:
        self.backend, self.name, self.function = backend, name, function
        self.arguments, self.options, self.formula = arguments, options, formula
        self.planned = planned

    def run(self) -> Any:
        """Return the results; the active tape handles the call, if there is one."""
        tapes = active_tapes()
        if not tapes and self.planned is not None:
            return self.planned()
        if not tapes:
            return self.function(*self.arguments, **self.options)
        with tapes[-1].paused():
            return tapes[-1].handle(self)


class Tape:
    """Sees every call that one thread makes of backends inside a `with` block.

    Subclasses say what is done with a call. Tasks of asyncio that begin inside the block belong to
    it; other threads do not.

    Attributes:
        captures: whether it records calls to run them later; see `capturing`.
    """

    captures = False

    def __init__(self) -> None:
        self._thread = 0
        self._token: Token[tuple[Tape, ...]] | None = None

    @property
    def is_active(self) -> bool:
        """Whether its block has been entered, and not left yet."""
        return self._token is not None

    def handle(self, call: Call) -> Any:
        """Return the results of a call of a backend."""
        return call.run()

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Return the result of an operation, whose calls of backends the tape sees as well.

        Operations are the named ones (`named.py`), Functions, and the chain rules of nodes.
        """
        return function(*arguments)

    def handle_backward(self, walk: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return what a walk back through the graph returns, with the chain rules of its nodes."""
        return walk(*arguments)

    def refuse(self, what: str) -> None:
        """Raise an error if a call that does `what` cannot be run later, as `capturing` asks."""

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
        """Return a block in which neither this tape nor those inside of it see anything."""
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
    """Add to the number of active tapes, and drop the plans that were made for another one.

    Plans hold functions of backends, which the tape must see.
    """
    with _CHANGING:
        ACTIVE.count += by
    drop_plans()


def active_tapes() -> tuple[Tape, ...]:
    """Return the tapes that are active in this thread, the innermost last."""
    tapes = _TAPES.get()
    here = threading.get_ident()
    return tapes if all(tape._thread == here for tape in tapes) else ()


@contextmanager
def unseen() -> Iterator[None]:
    """Return a block in which no tape sees the calls of this thread."""
    before = _TAPES.set(())
    try:
        yield
    finally:
        _TAPES.reset(before)


def cached_constants(
    size: int,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return a decorator for functions that return tensors which are never changed.

    The tensors, one or several in a tuple, are made once for the same arguments, and programs take
    them for constants. At most `size` results are kept.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @functools.lru_cache(size)
        @functools.wraps(function)
        def made(*arguments: Any) -> Result:
            with unseen():
                result: Any = function(*arguments)
            for each in result if isinstance(result, tuple) else (result,):
                if each is not None:
                    each._tensor._version = UNCHANGED
            return result  # type: ignore[no-any-return]

        return made

    return decorate


def capturing() -> Any:
    """Return the innermost active tape that records calls to run them later; None without any."""
    return next((tape for tape in reversed(active_tapes()) if tape.captures), None)


def refuse_to_capture(what: str) -> None:
    """Raise CompileError if a program is being recorded, which would keep what it found now."""
    tape = capturing() if ACTIVE.count else None
    if tape is not None:
        tape.refuse(what)


@extends("operation on tape")
def run_operation(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run an operation, of which all active tapes are told; see `Tape.handle_operation`."""
    for tape in reversed(active_tapes()):
        function, arguments = tape.handle_operation, (name, function, arguments)
    return function(*arguments)


@extends("backward on tape")
def run_backward(walk: Callable[..., Any], *arguments: Any) -> Any:
    """Run a walk back through the graph, of which all active tapes are told."""
    for tape in reversed(active_tapes()):
        walk, arguments = tape.handle_backward, (walk, arguments)
    return walk(*arguments)


@extends("elementwise on tape")
class ElementwiseOnTape:
    """What `elementwise` returns while a tape is active: its runs are calls that the tape sees."""

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
        return lambda *given: self._call(out, given, functools.partial(planned, *given)).run()

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
    """Return the results of a call of a method of a backend, which the active tape sees."""
    return Call(backend, name, function, arguments, options).run()
