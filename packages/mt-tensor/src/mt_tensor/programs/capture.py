"""One call of a function while its program is recorded."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mt_tensor.core.generator import used_blocks
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.mixed_precision.autocast import recasting
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.buffers import BufferTable
from mt_tensor.programs.comparison import incomparable_in
from mt_tensor.programs.gradients import Gradients, boundary_of, record_gradients
from mt_tensor.programs.pytree import leaves_in, structure_of
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.replay import Replay, build_replay
from mt_tensor.programs.replay_writer import NotReplayable, ReplayWriter
from mt_tensor.programs.slots import MISSING, free_variables
from mt_tensor.programs.snapshot import Snapshot
from mt_tensor.programs.symbolic_numbers import SymbolicNumbers


class Capture:
    """One call of a function while its program is recorded.

    After an exception, the side effects of the function remain, as without a program.

    Attributes:
        snapshot: the state before the call.
        replay: the replay; None if there is none.
        reason: why there is no replay.

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
                f"{self.name} was given a NumPy array, whose current elements a program would use "
                "in every call: pass a tensor, such as from_numpy(x)."
            )
        self._check_comparable("is given", given.leaves)
        for name, slot in free_variables(function):
            value = slot.get()
            if value is not MISSING:
                self._check_comparable(f"reads {name!r},", value)
        self.snapshot = Snapshot(function, given.leaves, static)

    def _check_comparable(self, how: str, value: Any) -> None:
        found = incomparable_in(value, self.static)
        if found is not None:
            raise CompileError(
                f"{self.name} {how} an object of type {type(found).__name__}. A program cannot "
                "check whether it has changed: pass tensors, plain values or containers of these, "
                "or declare it static: compile(..., static=[...])."
            )

    def run(self) -> Any:
        """Run the function, record its program, and return its result.

        Raises:
            CompileError: the function cannot be recorded as a program.
        """
        given = self.given
        buffers = BufferTable(self.snapshot.keep_gradients)
        recorder = Recorder(self.name, SymbolicNumbers(self.snapshot), buffers)
        structure = structure_of((given.args, given.kwargs))
        recorder.drawn.update(dict.fromkeys(self.snapshot.generators, 0))
        states = {each: (each.numpy, used_blocks(each.numpy)) for each in recorder.drawn}
        others = _states_of_other_generators()
        self.snapshot.forget_gradients()
        try:  # conversions of autocast are recorded, too
            with recorder, recorder.numbers.tracked(), _boundaries(given) as variables, recasting():
                result = self.function(*given.args, **given.kwargs)
        finally:
            self.snapshot.find_gradients()
        self._check_randomness(recorder, states, others)
        code = ReplayWriter(recorder, self.snapshot, given, self.rebound)
        try:
            now = list(leaves_in((given.args, given.kwargs)))
            is_same = structure_of((given.args, given.kwargs)) == structure
            if not is_same or not all(map(operator.is_, now, given.leaves)):
                raise NotReplayable("it changes a list or dictionary among its arguments")
            if recorder.has_failed:
                raise NotReplayable("it handles an error that depends on elements")
            gradients = self._gradients(code, variables, result)
            self.replay = build_replay(code, result, gradients)
        except NotReplayable as reason:
            self.reason = str(reason)
        finally:
            recorder.buffers.close()
        return result

    def _gradients(self, code: ReplayWriter, variables: Any, result: Any) -> Gradients | None:
        """Record the gradients, unless hooks or Functions change the state meanwhile."""
        if not any(isinstance(x, Tensor) and x.requires_grad for x in leaves_in(result)):
            return None
        before = Snapshot(self.function, self.given.leaves, self.static)
        gradients = record_gradients(code, variables, result)
        if next(before.changed(), None) or before.changed_container() is not None:
            before.restore()
            raise NotReplayable("its gradient changes more than tensors")
        return gradients

    def _check_randomness(self, recorder: Recorder, before: Any, others: Any) -> None:
        what = ""
        for generator, (numbers, blocks) in before.items():
            if generator.numpy is not numbers:
                what = "restarts a sequence of random numbers"
            elif used_blocks(numbers) - blocks != recorder.drawn[generator]:
                what = "draws integers, permutations or choices, which are drawn on the host"
        if not what and _states_of_other_generators() != others:
            what = "draws random numbers from Python or NumPy"
        if what:
            raise CompileError(
                f"{self.name} {what}: a program would use the same numbers in every call. Do "
                "that before the call, and pass a tensor."
            )


@contextmanager
def _boundaries(given: Arguments) -> Iterator[dict[Any, int]]:
    """Detach the arguments from their graphs and offsets inside a `with` block.

    An argument that is changed in place meanwhile keeps its new node, which leads to the old one.

    Yields:
        The positions of the tensors that require a gradient, by their vertices of the graph.
    """
    variables: dict[Any, int] = {}
    before: dict[int, tuple[Tensor, Any, Any, Any, Any]] = {}
    for at, (leaf, data) in enumerate(zip(given.leaves, given.data, strict=True)):
        if not isinstance(leaf, Tensor) or id(leaf) in before:
            continue
        node: Any = leaf.history
        boundary: Any = boundary_of(leaf) if leaf.requires_grad and node is not None else node
        before[id(leaf)] = leaf, data, leaf._tensor, boundary, node
        leaf._tensor, leaf._node = data, boundary
        if leaf.requires_grad:
            variables[leaf.variable] = at
    try:
        yield variables
    finally:
        for leaf, data, old, boundary, node in before.values():
            if leaf._tensor is data:
                leaf._tensor = old
            has_hooks = boundary is not node and boundary._hooks is not None
            if leaf._node is boundary and not has_hooks:
                leaf._node = node


def _states_of_other_generators() -> Any:
    """Return the states of the global generators of Python and NumPy."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - the global one is meant
    return random.getstate(), name, np.asarray(keys).tolist(), rest
