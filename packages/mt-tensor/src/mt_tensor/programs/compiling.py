"""`compile`: a function of tensors that is run from a program once that has been recorded.

    @mt.compile
    def step(images, labels):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

The first call runs the function and records what it asks of backends. Calls with tensors of the
same shapes and dtypes, and with equal plain values and unchanged objects, then run the program.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from types import MethodType
from typing import Any

from mt_tensor.core.arguments import as_integer
from mt_tensor.core.extensions import ACTIVE
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileWarning
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.capture import Capture
from mt_tensor.programs.checking import checked
from mt_tensor.programs.code_writer import MISS
from mt_tensor.programs.effects import alike
from mt_tensor.programs.program import Program
from mt_tensor.programs.replay import Replay
from mt_tensor.programs.snapshot import Snapshot
from mt_tensor.tape import capturing

MOST = 16
"""Programs that are kept of a function; the one that was used longest ago goes."""

PATIENCE = 4
"""Calls in a row whose programs cannot be run again, before a warning says why."""


class Compiled:
    """A function that is run from programs; made by `compile`.

    Attributes:
        function: what was given.
        check: at which of the calls of a program the function is run beside it; 0 for none.
        program: the program of the last call, to print; None if there is none.
    """

    def __init__(self, function: Callable[..., Any], check: int = 0) -> None:
        if not callable(function):
            raise TypeError(f"compile() takes a function; {function!r} was given.")
        self.function = function
        self.check = as_integer("check", check, least=0)
        self._runs = 0
        self.program: Program | None = None
        self._programs: dict[Any, list[Replay]] = {}
        self._moving: set[Any] = set()
        self._alone = threading.RLock()
        self._unkept = 0
        self._is_full = False
        self._last: tuple[Arguments, Snapshot] | None = None
        functools.update_wrapper(self, function, updated=())

    program_of = None  # by which a `Snapshot` recognizes it

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Be a method where a class has it."""
        return self if instance is None else MethodType(self, instance)

    @property
    def programs(self) -> list[Program]:
        """All programs that are kept, the last used ones first."""
        return [each.program for some in self._programs.values() for each in some]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a program, or run the function and record one."""
        if ACTIVE.count and capturing() is not None:  # which sees what is called
            return self.function(*args, **kwargs)
        with self._alone:
            given = Arguments(args, kwargs)
            for replay in self._programs.get(given.key, ()):
                self._runs += 1
                if self.check and self._runs % self.check == 0:
                    result = checked(self.function, given, replay)
                else:
                    result = replay.run(given)
                if result is not MISS:
                    self.program = replay.program
                    return result
            return self._record(given)

    def _record(self, given: Arguments) -> Any:
        """Run the function, and keep its program if it has one."""
        differs = self._difference(given)
        capture = Capture(self.function, self._moving, given)
        result = capture.run()
        capture.snapshot.release()
        self._last = given.without_elements(), capture.snapshot
        if capture.replay is None:
            self._unkept += 1
            if self._unkept == PATIENCE:
                self._warn(f"is recorded anew at each call: {capture.reason}")
        else:
            self._unkept = 0
            self._keep(given.key, capture.replay, differs)
        return result

    def _warn(self, what: str) -> None:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        warnings.warn(f"{name} {what}.", CompileWarning, stacklevel=5)

    def _difference(self, given: Arguments) -> str:
        """Return what differs from the last call that was recorded, and note tensors that move."""
        if self._last is None:
            return ""
        last, snapshot = self._last
        differs = last.difference(given)
        for place, before, now in snapshot.changed():
            if isinstance(before, (Tensor, tuple)) and alike(before, now):
                self._moving.add(place.id)
            differs = differs or f"what is in {place} differs: pass it as a tensor"
        return differs

    def _keep(self, key: Any, replay: Replay, differs: str) -> None:
        """Keep a program, and let the one go that was kept longest if there are too many."""
        self.program = replay.program
        self._programs.setdefault(key, []).insert(0, replay)
        if len(self.programs) <= MOST:
            return
        oldest = next(key for key, some in self._programs.items() if some)
        self._programs[oldest].pop()
        if not self._programs[oldest]:
            del self._programs[oldest]
        if not self._is_full:
            self._is_full = True
            self._warn(f"has more than {MOST} programs, of which the last are kept: {differs}")
