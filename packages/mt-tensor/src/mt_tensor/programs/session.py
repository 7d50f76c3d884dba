"""One call of a function while it is written down, and how all is put back if that fails.

Around the function, numbers that vary are exchanged for such that remember how they are computed,
and are put back behind it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mt_tensor.core.generator import current_generator
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.mixed_precision.precision import asked
from mt_tensor.programs.addresses import Addresses
from mt_tensor.programs.arguments import Given
from mt_tensor.programs.gradients import derivatives_written, within_borders
from mt_tensor.programs.learned import PLAINLY, VARYING, Learned
from mt_tensor.programs.leaving import Reason
from mt_tensor.programs.numbers import Varying, is_numbers
from mt_tensor.programs.source import Source
from mt_tensor.programs.structure import Copies, exchanged_leaves, leaves_in
from mt_tensor.programs.surroundings import (
    MISSING,
    Picture,
    Place,
    opaque_in,
    same,
    variables_of,
)
from mt_tensor.programs.writing import Writer
from mt_tensor.programs.written import Written, written


class Session:
    """One call of a function while it is written down.

    Attributes:
        picture: what lay around it before.
        result: what the function has returned.
        written: what can be run again.
        reason: why nothing can; empty if something can.
    """

    def __init__(self, function: Callable[..., Any], learned: Learned, given: Given) -> None:
        self.function = function
        self.learned = learned
        self.given = given
        self.name = getattr(function, "__name__", type(function).__name__)
        self.result: Any = None
        self.written: Written | None = None
        self.reason = ""
        others = given.others
        for each in others:
            if isinstance(each, np.ndarray):
                raise CompileError(
                    f"{self.name} was given an array of NumPy, whose elements a program would have "
                    "for ever: give it a tensor, as from_numpy() makes it."
                )
        self._check_known("is given", given.leaves)
        for variable, value in variables_of(function):
            self._check_known(f"reads {variable!r},", value)
        tensors = [each for each in given.leaves if isinstance(each, Tensor)]
        self.picture = Picture([function, *others, *tensors])
        self._random = current_generator().get_state()
        self._others = _states_of_others()
        self.numbers: list[tuple[Place, Any]] = []
        self.answers: list[tuple[str, bool]] = []
        self.writer: Writer | None = None

    def _check_known(self, how: str, value: Any) -> None:
        """Raise CompileError if there is something that a program cannot compare."""
        found = opaque_in(value)
        if found is not None:
            raise CompileError(
                f"{self.name} {how} an object of type {type(found).__name__}. A program could not "
                "tell whether that is as it was: pass tensors, plain values or containers of these."
            )

    @property
    def origins(self) -> list[Any]:
        """The keys of all numbers that vary."""
        learned = self.learned
        arguments = [("argument", at) for at, x in enumerate(self.given.leaves) if type(x) is float]
        places = [place.id for place, _ in self.numbers]
        return [each for each in (*arguments, *places) if learned.get(each) != PLAINLY]

    def run(self) -> Any:
        """Run the function, and make a program of what it did.

        Raises:
            CompileError: it did what no program can.
            Undecided: it asked which number a varying one is.
        """
        taken = self._stand_ins()
        writer = self.writer = Writer(self.name)
        leaves = iter(taken)
        copies: Copies = {}
        whole = (self.given.args, self.given.kwargs)
        args, kwargs = exchanged_leaves(whole, lambda _: next(leaves), copies)
        before = {key: _items(copy) for key, (_, copy) in copies.items()}
        self._numbers_vary()
        unkept = asked.set(
            {
                device: None if each is None else replace(each, kept=None)
                for device, each in asked.get().items()
            }
        )
        try:
            with writer:
                result = self.function(*args, **kwargs)
        finally:
            asked.reset(unkept)
        self._check_randomness(writer)
        changed = [
            key for key, (_, copy) in copies.items() if not _alike(_items(copy), before[key])
        ]
        pairs = list(zip(taken, self.given.leaves, strict=True))
        addresses = Addresses(Source(), self.picture, self.learned, pairs)
        try:
            if changed:
                raise Reason("it changes a list or dictionary that it is given")
            gradients = derivatives_written(self.name, taken, result, writer, addresses)
            numbers = self.numbers, self._numbers_stored(), self.answers
            self.written = written(
                self.name, self.given, result, writer, addresses, numbers, gradients
            )
        except Reason as reason:
            self.reason = str(reason)
        finally:
            writer.storages.close()
        self._leave_numbers(result)
        own = {id(inside): leaf for inside, leaf in pairs if isinstance(leaf, Tensor)}
        own |= {id(copy): original for original, copy in copies.values()}
        for key in changed:
            original, copy = copies[key]
            items = exchanged_leaves(_items(copy), lambda x: own.get(id(x), _plain(x)))
            original.clear()
            (original.update if isinstance(original, dict) else original.extend)(items)
        return exchanged_leaves(result, lambda value: own.get(id(value), _plain(value)))

    def _leave_numbers(self, result: Any) -> None:
        """Replace numbers that were stored somewhere new by plain ones."""
        if not self.numbers and not any(type(leaf) is float for leaf in self.given.leaves):
            return
        roots = [self.function, *self.given.leaves, *leaves_in(result)]
        for place, value in Picture(roots).places:
            if isinstance(value, Varying):
                place.set(value.value)

    def _stand_ins(self) -> list[Any]:
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
            elif isinstance(leaf, float) and self.learned.get(origin) != PLAINLY:
                taken.append(Varying(leaf, f"a[{position}]", frozenset({origin}), self.answers))
            else:
                taken.append(leaf)
        return taken

    def _numbers_vary(self) -> None:
        """Put numbers that remember how they are computed in the places of those that vary."""
        names = self.picture.varying
        count = itertools.count(1)
        for place, value in self.picture.places:
            if not place.can_be_set or not is_numbers(value):
                continue
            said = self.learned.get(place.id)
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
            self.writer.storages.close()
        self.picture.restore()
        for place, value in self.numbers:
            place.set(value)
        current_generator().set_state(self._random)


def _items(container: Any) -> Any:
    """Return a copy of a list or dictionary."""
    return type(container)(container)


def _alike(now: Any, before: Any) -> bool:
    """Whether copies of a list or dictionary hold the same things in the same order."""
    if len(now) != len(before) or (isinstance(now, dict) and list(now) != list(before)):
        return False
    if isinstance(now, dict):
        now, before = now.values(), before.values()
    return all(a is b for a, b in zip(now, before, strict=True))


def _states_of_others() -> Any:
    """Return where the random sequences of Python and of NumPy are that everybody shares."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - that is what is looked at
    return random.getstate(), name, np.asarray(keys).tolist(), rest


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Varying) else value
