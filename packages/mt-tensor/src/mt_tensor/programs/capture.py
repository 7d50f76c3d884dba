"""One call of a function while its program is recorded."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mt_tensor.core.generator import current_generator
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.mixed_precision.precision import asked
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.code_writer import CodeWriter
from mt_tensor.programs.effects import NotReplayable
from mt_tensor.programs.gradients import behind_boundary, record_gradients
from mt_tensor.programs.pytree import Copies, map_leaves
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.replay import Replay, replay_of
from mt_tensor.programs.snapshot import Snapshot, opaque_in, variables_of
from mt_tensor.programs.symbolic_numbers import SymbolicNumbers
from mt_tensor.programs.tensor_paths import TensorPaths


class Capture:
    """One call of a function while its program is recorded.

    An exception leaves what the function has done until then, as without a program.

    Attributes:
        snapshot: what lay around the function before.
        replay: the program, which can be run again.
        reason: why there is none; empty if there is one.

    Raises:
        CompileError: the function is given, or names, something that a program cannot compare.
    """

    def __init__(self, function: Callable[..., Any], moving: set[Any], given: Arguments) -> None:
        self.function = function
        self.moving = moving
        self.given = given
        self.name = getattr(function, "__name__", type(function).__name__)
        self.replay: Replay | None = None
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
        self.snapshot = Snapshot([function, *others, *tensors])

    def _check_known(self, how: str, value: Any) -> None:
        """Raise CompileError if there is something that a program cannot compare."""
        found = opaque_in(value)
        if found is not None:
            raise CompileError(
                f"{self.name} {how} an object of type {type(found).__name__}. A program could not "
                "tell whether that is as it was: pass tensors, plain values or containers of these."
            )

    def run(self) -> Any:
        """Run the function, record its program, and return its result.

        Raises:
            CompileError: it did what no program can.
        """
        taken = self._placeholders()
        recorder = Recorder(self.name, SymbolicNumbers(self.snapshot))
        leaves = iter(taken)
        copies: Copies = {}
        whole = (self.given.args, self.given.kwargs)
        args, kwargs = map_leaves(whole, lambda _: next(leaves), copies)
        before = {key: _items(copy) for key, (_, copy) in copies.items()}
        pairs = list(zip(taken, self.given.leaves, strict=True))
        own = {id(inside): leaf for inside, leaf in pairs if isinstance(leaf, Tensor)}
        own |= {id(copy): original for original, copy in copies.values()}
        began, others = current_generator().get_state(), _states_of_others()
        uncached = {
            device: None if each is None else replace(each, kept=None)
            for device, each in asked.get().items()
        }
        unkept = asked.set(uncached)  # so that the program converts for `autocast`, too
        try:
            with recorder:
                result = self.function(*args, **kwargs)
        finally:
            asked.reset(unkept)
            changed = [
                key for key, (_, copy) in copies.items() if not _alike(_items(copy), before[key])
            ]
            for key in changed:
                original, copy = copies[key]
                items = map_leaves(_items(copy), lambda x: own.get(id(x), x))
                original.clear()
                (original.update if isinstance(original, dict) else original.extend)(items)
        self._check_randomness(recorder, began, others)
        locations = TensorPaths(CodeWriter(), self.snapshot, self.moving, pairs)
        try:
            if changed:
                raise NotReplayable("it changes a list or dictionary that it is given")
            gradients = record_gradients(self.name, taken, result, recorder, locations)
            self.replay = replay_of(self.name, self.given, result, recorder, locations, gradients)
        except NotReplayable as reason:
            self.reason = str(reason)
        finally:
            recorder.buffers.close()
        return map_leaves(result, lambda value: own.get(id(value), value))

    def _placeholders(self) -> list[Any]:
        """Return for each argument what the function is given in its place."""
        taken: list[Any] = []
        for leaf, data in zip(self.given.leaves, self.given.data, strict=True):
            if isinstance(leaf, Tensor) and leaf.requires_grad and leaf._node is not None:
                taken.append(behind_boundary(leaf))
            elif isinstance(leaf, Tensor) and data is not leaf._tensor:
                taken.append(Tensor._make(data, leaf.backend))
            else:
                taken.append(leaf)
        return taken

    def _check_randomness(self, recorder: Recorder, before: Any, others: Any) -> None:
        state = current_generator().get_state()
        began = state["seed"] != before["seed"]
        if began or state["blocks"] - before["blocks"] != recorder.drawn:
            raise CompileError(
                f"{self.name} "
                + (
                    "begins a sequence of random numbers anew"
                    if began
                    else "draws integers, orders or choices, which come from the host"
                )
                + ": a program would have the same ones for ever. Do so before, and pass a tensor."
            )
        if _states_of_others() != others:
            raise CompileError(
                f"{self.name} draws random numbers of Python or NumPy: a program would have the "
                "same ones for ever. RandomSource them before, or with functions of mt_tensor."
            )


def _items(container: Any) -> Any:
    """Return a copy of a list or dictionary."""
    return type(container)(container)


def _alike(now: Any, before: Any) -> bool:
    """Whether copies of a list or dictionary hold the same items in the same order."""
    if len(now) != len(before) or (isinstance(now, dict) and list(now) != list(before)):
        return False
    if isinstance(now, dict):
        now, before = now.values(), before.values()
    return all(a is b for a, b in zip(now, before, strict=True))


def _states_of_others() -> Any:
    """Return the positions in the random sequences of Python and of NumPy."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - that is what is looked at
    return random.getstate(), name, np.asarray(keys).tolist(), rest
