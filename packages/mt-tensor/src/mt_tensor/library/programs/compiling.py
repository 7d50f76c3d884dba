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
import itertools
import random
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import Any

import numpy as np

from mt_autodiff.extending import recording
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.registry import created, current_backend
from mt_tensor.dtypes import get_default_dtype
from mt_tensor.errors import CompileError, CompileWarning
from mt_tensor.library.products.precision import get_float32_matmul_precision
from mt_tensor.library.programs.addresses import Addresses
from mt_tensor.library.programs.gradients import derivatives_written, within_borders
from mt_tensor.library.programs.learned import MOVING, PLAINLY, VARYING, Learned
from mt_tensor.library.programs.leaving import Reason, alike
from mt_tensor.library.programs.numbers import Undecided, Varying
from mt_tensor.library.programs.program import Program
from mt_tensor.library.programs.source import MISS, Source
from mt_tensor.library.programs.structure import (
    PLAIN,
    exchanged_leaves,
    leaves_in,
    shape_of,
)
from mt_tensor.library.programs.surroundings import MISSING, Picture, Place, same
from mt_tensor.library.programs.whole import NOW
from mt_tensor.library.programs.writing import Writer, group_of
from mt_tensor.library.programs.written import EXACT, Written, written
from mt_tensor.library.randomness.generator import current_generator
from mt_tensor.precision import BLOCKS, asked
from mt_tensor.public import function as public_function
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

MOST = 16
"""Programs that are kept of a function; the one that was used longest ago goes."""

PATIENCE = 4
"""Calls in a row whose programs cannot be run again, before a warning says why."""


@public_function
def compile(function: Callable[..., Any]) -> Compiled:
    """Return a function that does the same from a program, after a first call.

    >>> import mt_tensor as mt
    >>> @mt.compile
    ... def distance(x, y):
    ...     return ((x - y) ** 2).sum().sqrt()
    >>> distance(mt.tensor([3.0, 0.0]), mt.tensor([0.0, 4.0]))
    tensor(5.)
    >>> distance(mt.tensor([6.0, 0.0]), mt.tensor([0.0, 8.0]))  # from the program
    tensor(10.)

    It may do what steps of training do: change tensors in place, call `backward()`, put gradients
    into parameters, call an optimizer, draw random numbers. It may be differentiated, once.
    Tensors in arguments, also in lists, tuples and dictionaries, may be others at each call. So may
    numbers, where the function only computes with them; what it decides by one is written down for
    each. Other shapes, types and settings are written down for themselves. See `Compiled`.

    Args:
        function: takes and returns tensors, numbers and the like. It may be a method or a module.

    Raises:
        CompileError: on a call, if the function looks at elements on the host, or takes something
            from elsewhere that a program would have for ever: NumPy's arrays, Python's random
            numbers. Everything is then as it was before the call.
    """
    return Compiled(function)


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
        self._exact = False
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
        if NOW.writer is not None:  # within another one that is written down
            return self.function(*args, **kwargs)
        with self._alone:
            given = Given(args, kwargs, self._exact, self._learned)
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
        session = _Session(self, given)
        while not self._is_done(session):
            given = Given(given.args, given.kwargs, self._exact, self._learned)
            session = _Session(self, given)
        result = session.result
        self._last = session.picture
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

    def _is_done(self, session: _Session) -> bool:
        """Run the function; return False if that was undone, to be done in another way."""
        try:
            session.result = session.run()
        except Undecided as error:
            session.undo()
            self._learned |= dict.fromkeys(error.origins, PLAINLY)
            return False
        except (TypeError, AttributeError):
            session.undo()
            if not session.origins:
                raise
            # Perhaps it was a number that varies.
            self._learned |= dict.fromkeys(session.origins, PLAINLY)
            return False
        except BaseException:
            session.undo()
            raise
        if session.reason == EXACT:
            session.undo()
            self._exact = True
            return False
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
            if _is_numbers(before) and _is_numbers(now) and place.can_be_set:
                self._learned.setdefault(place.id, VARYING)
            elif isinstance(before, (Tensor, tuple)) and alike(before, now):
                self._learned.setdefault(place.id, MOVING)


class Given:
    """The arguments of a call.

    Attributes:
        args, kwargs: as they were given.
        leaves: all that is in them, in order.
        data: for each leaf the elements, if it is a tensor: by themselves in memory, in order.
        groups: of the memory of each tensor.
        key: what must be the same for a program to be run: structure, shapes, types and modes.
    """

    __slots__ = ("args", "data", "groups", "key", "kwargs", "leaves")

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        exact: bool,
        learned: Learned,
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.leaves = list(leaves_in((args, kwargs) if kwargs else args))
        self.data: list[Any] = []
        self.groups: list[Any] = []
        key: list[Any] = []
        for position, leaf in enumerate(self.leaves):
            if isinstance(leaf, Tensor):
                data = leaf._tensor
                layout = data.layout
                wanted = leaf.requires_grad
                if layout.contiguous is not layout and not wanted and not exact:
                    data = _by_itself(leaf.backend, data)
                    layout = data.layout
                self.data.append(data)
                self.groups.append(group_of(data.storage))
                known = layout if layout.contiguous is layout else _facts(layout)
                key.append((known, leaf.backend, wanted, leaf._node is None, leaf._grad is None))
            elif isinstance(leaf, float):
                self.data.append(leaf)
                plain = learned and learned.get(("argument", position)) == PLAINLY
                key.append(leaf.hex() if plain else float)
            elif isinstance(leaf, PLAIN):
                self.data.append(leaf)
                key.append((type(leaf), leaf))
            else:
                self.data.append(leaf)
                key.append(id(leaf))
        several = len(self.groups) > 1
        self.key = (
            tuple(key),
            shape_of(args)
            if any(isinstance(each, (tuple, list, dict)) for each in args)
            else len(args),
            shape_of(kwargs) if kwargs else None,
            tuple(map(self.groups.index, self.groups)) if several else None,
            recording.get(),
            _precision() if BLOCKS.count else None,
            get_default_dtype(),
            current_backend(),
            get_float32_matmul_precision(),
        )


def _facts(layout: Any) -> Any:
    return layout.dtype, layout.shape, layout.strides, layout.offset


def _precision() -> Any:
    return tuple(
        (device, None if each is None else each.dtype) for device, each in asked.get().items()
    )


def _by_itself(backend: TensorBackend, data: TensorData) -> TensorData:
    """Return elements in order, from the beginning of a storage on."""
    layout = data.layout
    if layout.row_major and isinstance(data.storage, np.ndarray):
        part = data.storage[layout.offset : layout.offset + layout.size]
        return TensorData(part, layout.shape, dtype=layout.dtype)
    return backend.copy(data, layout.contiguous)


def _is_numbers(value: Any) -> bool:
    """Whether something is a number, or a tuple of numbers."""
    if isinstance(value, tuple):
        return bool(value) and all(type(x) in (int, float) for x in value)
    return type(value) in (int, float)


def _states_of_others() -> Any:
    """Return where the random sequences of Python and of NumPy are that everybody shares."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - that is what is looked at
    return random.getstate(), name, np.asarray(keys).tolist(), rest


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Varying) else value


class _Session:
    """One call of a function while it is written down.

    Attributes:
        picture: what lay around it before.
        result: what the function has returned.
        written: what can be run again.
        reason: why nothing can; empty if something can.
    """

    def __init__(self, compiled: Compiled, given: Given) -> None:
        self.compiled = compiled
        self.given = given
        function = compiled.function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.result: Any = None
        self.written: Written | None = None
        self.reason = ""
        others = [each for each in given.leaves if not isinstance(each, (Tensor, *PLAIN))]
        for each in others:
            if isinstance(each, np.ndarray):
                raise CompileError(
                    f"{self.name} was given an array of NumPy, whose elements a program would have "
                    "for ever: give it a tensor, as from_numpy() makes it."
                )
        tensors = [each for each in given.leaves if isinstance(each, Tensor)]
        self.picture = Picture([function, *others, *tensors])
        self._random = current_generator().get_state()
        self._others = _states_of_others()
        self.numbers: list[tuple[Place, Any]] = []
        self.answers: list[tuple[str, bool]] = []
        self.writer: Writer | None = None

    @property
    def origins(self) -> list[Any]:
        """The keys of all numbers that vary."""
        learned = self.compiled._learned
        arguments = [("argument", at) for at, x in enumerate(self.given.leaves) if type(x) is float]
        places = [place.id for place, _ in self.numbers]
        return [each for each in (*arguments, *places) if learned.get(each) != PLAINLY]

    def run(self) -> Any:
        """Run the function, and make a program of what it did.

        Raises:
            CompileError: it did what no program can.
            Undecided: it asked which number a varying one is.
        """
        learned = self.compiled._learned
        taken = self._stand_ins(learned)
        known = created()
        backends = [each.backend for each in taken if isinstance(each, Tensor)]
        backends += [tensor.backend for tensor, _ in self.picture.tensors.values()]
        writer = self.writer = Writer(self.name, (current_backend(), *backends, *known))
        leaves = iter(taken)
        whole = exchanged_leaves((self.given.args, self.given.kwargs), lambda _: next(leaves))
        args, kwargs = whole
        self._numbers_vary(learned)
        unkept = asked.set(
            {
                device: None if each is None else replace(each, kept=None)
                for device, each in asked.get().items()
            }
        )
        try:
            with writer:
                result = self.compiled.function(*args, **kwargs)
        finally:
            asked.reset(unkept)
        self._check_randomness(writer)
        pairs = list(zip(taken, self.given.leaves, strict=True))
        addresses = Addresses(Source(), self.picture, learned, pairs)
        try:
            gradients = derivatives_written(self.name, taken, result, writer, addresses)
            numbers = self.numbers, self._numbers_stored(), self.answers
            if len(created()) > len(known):
                raise Reason("a backend is asked for the first time")
            self.written = written(
                self.name, self.given, result, writer, addresses, numbers, gradients
            )
        except Reason as reason:
            self.reason = str(reason)
        self._leave_numbers(result)
        return self._handed_out(taken, result)

    def _handed_out(self, taken: list[Any], result: Any) -> Any:
        """Return what the function has returned to whoever has called it."""
        pairs = zip(taken, self.given.leaves, strict=True)
        own = {id(inside): leaf for inside, leaf in pairs if isinstance(leaf, Tensor)}
        return exchanged_leaves(result, lambda value: own.get(id(value), _plain(value)))

    def _leave_numbers(self, result: Any) -> None:
        """Replace numbers that were stored somewhere new by plain ones."""
        if not self.numbers and not any(type(leaf) is float for leaf in self.given.leaves):
            return
        roots = [self.compiled.function, *self.given.leaves, *leaves_in(result)]
        for place, value in Picture(roots).places:
            if isinstance(value, Varying):
                place.set(value.value)

    def _stand_ins(self, learned: Learned) -> list[Any]:
        """Return for each argument what the function is given in its place."""
        taken: list[Any] = []
        for position, (leaf, data) in enumerate(
            zip(self.given.leaves, self.given.data, strict=True)
        ):
            origin = ("argument", position)
            if isinstance(leaf, Tensor):
                if leaf.requires_grad and leaf._node is not None:
                    taken.append(within_borders(leaf))
                elif data is not leaf._tensor:
                    taken.append(Tensor._make(data, leaf.backend))
                else:
                    taken.append(leaf)
            elif isinstance(leaf, float) and learned.get(origin) != PLAINLY:
                taken.append(Varying(leaf, f"a[{position}]", frozenset({origin}), self.answers))
            else:
                taken.append(leaf)
        return taken

    def _numbers_vary(self, learned: Learned) -> None:
        """Put numbers that remember how they are computed in the places of those that vary."""
        names = self.picture.varying
        count = itertools.count(1)
        for place, value in self.picture.places:
            if not place.can_be_set or not _is_numbers(value):
                continue
            said = learned.get(place.id)
            if said == VARYING or (said is None and place.is_item and place.key in names):
                origins = frozenset({place.id})
                marks = [
                    Varying(x, f"n{next(count)}", origins, self.answers)
                    for x in (value if isinstance(value, tuple) else [value])
                ]
                self.numbers.append((place, value))
                place.set(tuple(marks) if isinstance(value, tuple) else marks[0])

    def _numbers_stored(self) -> list[tuple[Place, Any]]:
        """Put plain numbers back; return the places of new ones, and how they are computed."""
        stored = []
        for place, value in self.numbers:
            now = place.get()
            plain = exchanged_leaves(now, _plain)
            if now is MISSING:
                continue
            if same(plain, value):
                place.set(value)
            else:
                place.set(plain)
                stored.append((place, now))
        return stored

    def _check_randomness(self, writer: Writer) -> None:
        state = current_generator().get_state()
        began = state["seed"] != self._random["seed"]
        if began or state["blocks"] - self._random["blocks"] != writer.drawn:
            raise CompileError(
                f"{self.name} "
                + (
                    "begins a sequence of random numbers anew"
                    if began
                    else "draws whole numbers, orders or choices, which come from the host"
                )
                + ": a program would have the same ones for ever. Do so before, and pass a tensor."
            )
        if _states_of_others() != self._others:
            raise CompileError(
                f"{self.name} draws random numbers of Python or NumPy: a program would have the "
                "same ones for ever. Draw them before, or with functions of mt_tensor."
            )

    def undo(self) -> None:
        """Put everything back as it was before the call."""
        if self.writer is not None:
            self.writer.undo()
        self.picture.restore()
        for place, value in self.numbers:
            place.set(value)
        current_generator().set_state(self._random)
