"""`compile`: a function of tensors that is run from a program after it has been written down.

    @mt.compile
    def step(images, labels):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

The first call runs the function and writes down what it asks of backends. Calls with tensors of the
same shapes and types, and with everything around as it was, then run the program. Nothing is taken
for granted that could be otherwise: flags of modules, settings, variables, modes are compared at
each call; numbers that vary are inputs of the program; what it would freeze is refused.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from types import MethodType
from typing import Any

from mt_tensor.core.extensions import ACTIVE
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileWarning
from mt_tensor.programs.arguments import Given
from mt_tensor.programs.learned import MOVING, PLAINLY, VARYING, Learned
from mt_tensor.programs.leaving import alike
from mt_tensor.programs.numbers import Undecided, is_numbers
from mt_tensor.programs.program import Program
from mt_tensor.programs.session import Session
from mt_tensor.programs.source import MISS
from mt_tensor.programs.surroundings import Picture
from mt_tensor.programs.written import Written
from mt_tensor.tape import capturing

MOST = 16
"""Programs that are kept of a function; the one that was used longest ago goes."""

PATIENCE = 4
"""Calls in a row whose programs cannot be run again, before a warning says why."""


class Compiled:
    """A function that is run from programs; made by `compile`.

    Attributes:
        function: what was given.
        program: the program of the last call, to print; None if there is none.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"compile() takes a function; {function!r} was given.")
        self.function = function
        self.program: Program | None = None
        self._programs: dict[Any, list[Written]] = {}
        self._learned: Learned = {}
        self._alone = threading.RLock()
        self._unkept = 0
        self._last: Picture | None = None
        functools.update_wrapper(self, function, updated=())

    program_of = None  # by which pictures of surroundings tell it

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Be a method where a class has it."""
        return self if instance is None else MethodType(self, instance)

    @property
    def programs(self) -> list[Program]:
        """All programs that are kept, the last used ones first."""
        return [each.program for some in self._programs.values() for each in some]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a program, or the function, which is written down."""
        if ACTIVE.count and capturing() is not None:  # which sees what is called
            return self.function(*args, **kwargs)
        with self._alone:
            given = Given(args, kwargs, self._learned)
            for written in self._programs.get(given.key, ()):
                result = written.run(given)
                if result is not MISS:
                    self.program = written.program
                    return result
            return self._write(given)

    # --- Writing down ---------------------------------------------------------------------------

    def _write(self, given: Given) -> Any:
        """Run the function while it is written down, and keep its program if it has one."""
        if self._last is not None:
            self._learn(self._last)
        session = Session(self.function, self._learned, given)
        while not self._is_done(session):
            given = Given(given.args, given.kwargs, self._learned)
            session = Session(self.function, self._learned, given)
        result = session.result
        self._last = session.picture
        self._last.tensors.clear()  # only places are compared with those of the next time
        reason = session.reason
        if reason:
            self._unkept += 1
            if self._unkept == PATIENCE:
                warnings.warn(
                    f"{session.name} is written down anew at each call, for {reason}.",
                    CompileWarning,
                    stacklevel=4,
                )
            return result
        self._unkept = 0
        self._keep(given.key, session.written)
        return result

    def _is_done(self, session: Session) -> bool:
        """Run the function; return False if that was undone, to be done in another way."""
        try:
            session.result = session.run()
        except Undecided as error:
            session.undo()
            self._learned.update(dict.fromkeys(error.origins, PLAINLY))
            return False
        except (TypeError, AttributeError):
            session.undo()
            if not session.origins:
                raise
            # Perhaps it was a number that varies.
            self._learned.update(dict.fromkeys(session.origins, PLAINLY))
            return False
        except BaseException:
            session.undo()
            raise
        return True

    def _keep(self, key: Any, written: Any) -> None:
        """Keep a program, and let the one go that was kept longest if there are too many."""
        self.program = written.program
        self._programs.setdefault(key, []).insert(0, written)
        while sum(map(len, self._programs.values())) > MOST:
            oldest = next(key for key, some in self._programs.items() if some)
            self._programs[oldest].pop()
            if not self._programs[oldest]:
                del self._programs[oldest]

    def _learn(self, picture: Picture) -> None:
        """Take note of what is another number, or another tensor, than it was."""
        for place, before, now in picture.changed():
            if is_numbers(before) and is_numbers(now) and place.can_be_set:
                self._learned.setdefault(place.id, VARYING)
            elif isinstance(before, (Tensor, tuple)) and alike(before, now):
                self._learned.setdefault(place.id, MOVING)
