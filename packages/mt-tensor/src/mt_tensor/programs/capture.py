"""One call of a function while its program is recorded."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mt_tensor.core.generator import current_generator
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.mixed_precision.precision import active_precisions
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.buffers import BufferTable
from mt_tensor.programs.gradients import placeholder_of, record_gradients
from mt_tensor.programs.pytree import Copies, leaves_in, map_leaves, structure_of
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.replay import Replay, build_replay
from mt_tensor.programs.replay_writer import NotReplayable, ReplayWriter
from mt_tensor.programs.snapshot import MISSING, Snapshot, free_variables, incomparable_in
from mt_tensor.programs.symbolic_numbers import SymbolicNumbers


class Capture:
    """One call of a function while its program is recorded.

    After an exception, the side effects of the function remain, as without a program.

    Attributes:
        snapshot: the state before the call.
        replay: the replay; None if there is none.
        reason: why there is none.

    Raises:
        CompileError: an argument or a variable of the function cannot be compared.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        given: Arguments,
        static: Sequence[Any],
        rebound: set[Any],
    ) -> None:
        self.function = function
        self.static = static
        self.rebound = rebound
        self.given = given
        self.name = getattr(function, "__name__", type(function).__name__)
        self.replay: Replay | None = None
        self.reason = ""
        changing = [each for each in given.objects if not any(each is other for other in static)]
        if any(isinstance(each, np.ndarray) for each in changing):
            raise CompileError(
                f"{self.name} was given a NumPy array, and a program would repeat its elements for "
                "ever: pass a tensor, as from_numpy() makes it."
            )
        self._check_comparable("is given", given.leaves)
        for name, slot in free_variables(function):
            value = slot.get()
            if value is not MISSING:
                self._check_comparable(f"reads {name!r},", value)
        self.snapshot = Snapshot((function, *given.roots), static)

    def _check_comparable(self, how: str, value: Any) -> None:
        found = incomparable_in(value, self.static)
        if found is not None:
            raise CompileError(
                f"{self.name} {how} an object of type {type(found).__name__}. A program could not "
                "tell whether it has changed: pass tensors, plain values or containers of these. "
                "If it does not change, promise that: compile(..., static=[...])."
            )

    def run(self) -> Any:
        """Run the function, record its program, and return its result.

        Raises:
            CompileError: no program can do what the function did.
        """
        placeholders = list(map(self._placeholder, self.given.leaves, self.given.data))
        buffers = BufferTable(self.snapshot.keep_gradients)
        recorder = Recorder(self.name, SymbolicNumbers(self.snapshot), buffers)
        leaves = iter(placeholders)
        copies: Copies = {}
        inputs = map_leaves((self.given.args, self.given.kwargs), lambda _: next(leaves), copies)
        structure, before = structure_of(inputs), list(leaves_in(inputs))
        states = current_generator().get_state(), _states_of_other_generators()
        uncached = {
            device: None if each is None else replace(each, cache=None)
            for device, each in active_precisions.get().items()
        }
        self.snapshot.forget_gradients()
        cached = active_precisions.set(
            uncached
        )  # so that the conversions of autocast are recorded, too
        try:
            with recorder:
                result = self.function(*inputs[0], **inputs[1])
        finally:
            active_precisions.reset(cached)
            self.snapshot.find_gradients()
            after = list(leaves_in(inputs))
            changed = structure_of(inputs) != structure or any(
                a is not b for a, b in zip(before, after, strict=True)
            )
            given = dict(zip(map(id, placeholders), self.given.leaves, strict=True))
            originals = {id(copy): (copy, original) for original, copy in copies.values()}

            def restore(value: Any) -> Any:
                return map_leaves(value, lambda x: given.get(id(x), x), originals)

            if changed:
                for original, copy in copies.values():
                    if isinstance(original, dict):
                        items = {restore(key): restore(item) for key, item in copy.items()}
                        original.clear()
                        original.update(items)
                    else:
                        original[:] = map(restore, copy)
        self._check_randomness(recorder, *states)
        code = ReplayWriter(recorder, self.snapshot, self.given, placeholders, self.rebound)
        try:
            if changed:
                raise NotReplayable("it changes a list or dictionary that it is given")
            gradients = record_gradients(code, placeholders, result)
            self.replay = build_replay(code, result, gradients)
        except NotReplayable as reason:
            self.reason = str(reason)
        finally:
            recorder.buffers.close()
        return restore(result)

    def _placeholder(self, leaf: Any, data: Any) -> Any:
        """Return what the function is given in place of an argument."""
        if not isinstance(leaf, Tensor):
            return leaf
        if leaf.requires_grad and leaf._node is not None:
            return placeholder_of(leaf)
        return leaf if data is leaf._tensor else Tensor._make(data, leaf.backend)

    def _check_randomness(self, recorder: Recorder, before: Any, others: Any) -> None:
        state = current_generator().get_state()
        what = ""
        if state["seed"] != before["seed"]:
            what = "begins a sequence of random numbers anew"
        elif state["blocks"] - before["blocks"] != recorder.drawn:
            what = "draws integers, orders or choices, which are drawn on the host"
        elif _states_of_other_generators() != others:
            what = "draws random numbers from Python or NumPy"
        if what:
            raise CompileError(
                f"{self.name} {what}: a program would repeat them for ever. Do that before the "
                "call, and pass a tensor."
            )


def _states_of_other_generators() -> Any:
    """Return the states of the global generators of Python and NumPy."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - the global one is meant
    return random.getstate(), name, np.asarray(keys).tolist(), rest
