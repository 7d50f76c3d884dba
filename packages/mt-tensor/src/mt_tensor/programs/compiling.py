"""`compile`: a function that is replayed from a recorded program.

    @mt.compile
    def step(images, labels):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

The first call runs the function and records its backend calls as a program. Calls with tensors of
the same layouts, equal plain values and unchanged state replay the program.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any

from mt_tensor.core.arguments import as_integer
from mt_tensor.core.extensions import ACTIVE_TAPES
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileWarning
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.capture import Capture
from mt_tensor.programs.checking import run_checked
from mt_tensor.programs.code_writer import MISS
from mt_tensor.programs.effects import same_structure
from mt_tensor.programs.program import Program
from mt_tensor.programs.replay import Replay
from mt_tensor.programs.snapshot import Snapshot
from mt_tensor.tape import capturing

MAX_PROGRAMS = 16
"""The maximum number of programs of a function; a newer one replaces the oldest."""

PATIENCE = 4
"""The number of consecutive calls without a program after which a warning says why."""


class Compiled:
    """A function that is replayed from programs; made by `compile`.

    Attributes:
        function: the original function.
        check: compare every `check`-th replay with a run of the function; 0 for never.
        static: objects that do not change, whose attributes and items programs do not compare.
        program: the program of the last call, to print; None if there is none.
    """

    def __init__(
        self, function: Callable[..., Any], check: int = 0, static: Iterable[Any] = ()
    ) -> None:
        if not callable(function):
            raise TypeError(f"compile() takes a function; {function!r} was given.")
        self.function = function
        self.check = as_integer("check", check, minimum=0)
        self.static = tuple(static)
        self.program: Program | None = None
        self._replays: list[Replay] = []  # the latest first
        self._runs = 0
        self._rebound: set[Any] = set()
        self._lock = threading.RLock()
        self._failures = 0
        self._is_full = False
        self._last: tuple[Arguments, Snapshot] | None = None
        functools.update_wrapper(self, function, updated=())

    program_of = None  # marks compiled functions for `Snapshot`

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions in a class do."""
        return self if instance is None else MethodType(self, instance)

    @property
    def programs(self) -> list[Program]:
        """The programs, the latest first."""
        return [each.program for each in self._replays]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay a program, or run the function and record one."""
        if ACTIVE_TAPES.count and capturing() is not None:  # its calls belong to an outer program
            return self.function(*args, **kwargs)
        with self._lock:
            given = Arguments(args, kwargs)
            for replay in self._replays:
                if replay.key != given.key:
                    continue
                self._runs += 1
                if self.check and self._runs % self.check == 0:
                    result = run_checked(self.function, given, self.static, replay)
                else:
                    result = replay.run(given)
                if result is not MISS:
                    self.program = replay.program
                    return result
            return self._record(given)

    def _record(self, given: Arguments) -> Any:
        """Run the function, and keep its program if it has one."""
        difference = self._difference(given)
        capture = Capture(self.function, given, self.static, self._rebound)
        result = capture.run()
        capture.snapshot.release()
        given.release()
        self._last = given, capture.snapshot
        if capture.replay is not None:
            self._failures = 0
            self._add(capture.replay, difference)
        else:
            self._failures += 1
            if self._failures == PATIENCE:
                self._warn(f"is recorded again at each call: {capture.reason}")
        return result

    def _warn(self, what: str) -> None:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        warnings.warn(f"{name} {what}.", CompileWarning, stacklevel=5)

    def _difference(self, given: Arguments) -> str:
        """Return what differs from the last recorded call; note slots that hold other tensors."""
        if self._last is None:
            return ""
        last, snapshot = self._last
        difference = last.difference(given)
        for slot, before, now in snapshot.changed():
            if isinstance(before, (Tensor, tuple)) and same_structure(before, now):
                self._rebound.add(slot.id)
            difference = difference or f"the value of {slot} differs: pass it as a tensor"
        return difference

    def _add(self, replay: Replay, difference: str) -> None:
        """Add a program, and drop the oldest if there are too many."""
        self.program = replay.program
        self._replays.insert(0, replay)
        if len(self._replays) > MAX_PROGRAMS:
            self._replays.pop()
            if not self._is_full:
                self._is_full = True
                self._warn(
                    f"has more than {MAX_PROGRAMS} programs; the last are kept: {difference}"
                )
