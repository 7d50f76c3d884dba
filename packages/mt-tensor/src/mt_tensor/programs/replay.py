"""Replays: a recorded program with its guards and side effects, as one function."""

from __future__ import annotations

import itertools
from typing import Any

from mt_autodiff.core.mode import recording
from mt_tensor.core.elementwise import UNCHANGED
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.code_writer import MISS
from mt_tensor.programs.effects import Effects
from mt_tensor.programs.gradients import Gradients
from mt_tensor.programs.guards import add_guards
from mt_tensor.programs.optimization import optimize
from mt_tensor.programs.program import Buffer, Program, View
from mt_tensor.programs.pytree import PLAIN, Copies, leaves_in, map_leaves
from mt_tensor.programs.recorder import WITHOUT_ALIASES
from mt_tensor.programs.replay_writer import NotReplayable, ReplayWriter
from mt_tensor.programs.storages import alias_group, state_pattern, storage_key
from mt_tensor.recording.functions import with_base


class Replay:
    """A program with all that is needed to run it.

    Attributes:
        program: the program.
        key: the key of the arguments that it is for.
    """

    def __init__(
        self, code: ReplayWriter, program: Program, result: Any, gradients: Gradients | None
    ) -> None:
        """Create a replay from a program whose code has been written.

        Args:
            code: the code.
            program: the program, to print.
            result: the result of the function.
            gradients: the gradient programs of the result.
        """
        self.program = program
        self.key = code.given.key
        self._objects = code.given.objects  # alive, so that no other object gets their `id`
        self._must_not_alias, self._must_alias = _alias_guards(code)
        self._run = code.function()
        program.calls = code.names["calls"]
        self._structure = map_leaves(result, lambda _: None)
        self._is_single = isinstance(result, Tensor)
        self._gradients = gradients
        leaves = enumerate(leaves_in(result))
        new = [(at, x) for at, x in leaves if isinstance(x, Tensor) and not code.existed(x)]
        self._views = [at for at, x in new if x._base is not None]
        bases = [x._base for _, x in new if x._base is not None]
        self._bases = [x for x in bases if code.existed(x) and code.is_fixed(x)]
        self._not_views = [at for at, x in new if x._base is None]

    def run(self, given: Arguments) -> Any:
        """Run the program; return `MISS` if it is not valid for the current state."""
        groups = given.groups
        if not self._must_not_alias.isdisjoint(groups):
            return MISS
        for at, group in self._must_alias:
            if groups[at] != group:
                return MISS
        before = recording.set(False)
        try:
            found = self._run(given.data, given.leaves)
        finally:
            recording.reset(before)
        if found is MISS:
            return MISS
        results, saved = found
        if self._gradients is not None:
            self._gradients.connect(results, saved, given)
        for at in self._views:
            earlier = results[:at], [results[other] for other in self._not_views]
            with_base(results[at], [*given.leaves, *self._bases, *itertools.chain(*earlier)])
        if self._is_single:
            return results[0]
        rest = iter(results)
        return map_leaves(self._structure, lambda _: next(rest))


def build_replay(code: ReplayWriter, result: Any, gradients: Gradients | None) -> Replay:
    """Return the replay of a call that has been recorded.

    Args:
        code: the writer to add the code to.
        result: the result of the function.
        gradients: the gradient programs of the result.

    Raises:
        NotReplayable: a replay could not do the same.
    """
    recorder, results = code.recorder, list(leaves_in(result))
    _check_graphs(code)
    effects = Effects(code)
    _check_containers(code, result)
    for leaf in results:
        _check_result(code, leaf)
    returned = code.new_tensors(results)
    saved = [] if gradients is None else gradients.saved
    outputs = [*effects.outputs, *(each.view for each in returned), *saved]
    changed = _changed_buffers(code)
    program = optimize(Program(recorder.name, recorder.instructions, returned, outputs))
    add_guards(code)
    _load_inputs(code, program)
    code.instructions(program)
    start = len(code.lines) - 1
    for buffer in changed:
        if not buffer.allocated:
            code.lines.append(f"{code.expression(buffer.view)}.bump_version()")
    code.lines.append(f"out = {code.expression(results)}, {code.expression(saved)}")
    effects.write()
    code.lines.append("return out")
    # Old gradients that nothing reads are freed before the new ones are computed.
    old = [code.slot(slot) for slot in effects.replaced]
    unread = [each for each in old if not any(each in line for line in code.lines[start:])]
    code.lines[start:start] = [f"{each} = None" for each in unread]
    replay = Replay(code, program, result, gradients)
    for buffer in list(recorder.buffers.buffers.values()):  # the table shrinks meanwhile
        buffer.release()
    return replay


def _changed_buffers(code: ReplayWriter) -> list[Buffer]:
    """Return the buffers that a function has changed in place."""
    calls = code.recorder.instructions
    return list(dict.fromkeys(view.buffer for call in calls for view in call.changes))


# --- Inputs ---------------------------------------------------------------------------------------


def _load_inputs(code: ReplayWriter, program: Program) -> None:
    """Write the code that loads the buffers that a program does not allocate.

    Raises:
        CompileError: neither the arguments nor the state lead to one of them.
        NotReplayable: the program views memory as another dtype, or changes indices that it uses.
    """
    recorder, states = code.recorder, code.snapshot.tensors.values()
    paths: dict[Any, tuple[str, TensorData]] = {}
    for at, data in enumerate(code.given.data):
        if isinstance(data, TensorData):
            paths.setdefault(storage_key(data.storage), (f"a[{at}]", data))
    variable = [
        (code.tensor(tensor), data, requires_grad)
        for tensor, (data, _, requires_grad, *_) in states
        if not code.is_fixed(tensor) and id(tensor) not in code.positions
    ]
    for name, data, _ in variable:
        paths.setdefault(storage_key(data.storage), (f"{name}._tensor", data))
    fixed = {storage_key(data.storage) for _, (data, *_) in states}
    calls = recorder.instructions
    changed = {group for call in calls for group in call.changed_groups}
    if any(call.name == "checked_indices" and call.uses & changed for call in calls):
        raise NotReplayable("it changes indices in place after it has used them")
    used = {each.buffer for each in program.inputs if isinstance(each, View)}
    for key, buffer in recorder.buffers.buffers.items():
        if buffer.origin != "x" or buffer not in used:
            continue
        if key in paths:
            path, buffer.data = paths[key]
            code.bind(buffer.view, path)
        elif key not in fixed and buffer.data._version is not UNCHANGED:
            _refuse_input(code, buffer)
    loaded = {storage_key(each.data.storage) for each in used if each.origin == "x"}
    using = [each for each in variable if storage_key(each[1].storage) in loaded]
    for name, data, requires_grad in using:
        code.guard(f"{name}._tensor.layout is {code.constant(data.layout)}")
        code.guard(f"{name}._requires_grad == {requires_grad!r}")
    _guard_aliases(code, {f"{name}._tensor": data for name, data, _ in using})


def _guard_aliases(code: ReplayWriter, variable: dict[str, TensorData]) -> None:
    """Require that tensors that may be replaced before the next call share memory as now.

    Args:
        code: the writer to add the guard to.
        variable: the gradients that the program uses, by the code that loads them.

    Raises:
        NotReplayable: they share memory with arguments, or with tensors that stay the same.
    """
    tensors = code.snapshot.tensors
    for key in code.slots:
        tensor, (data, *_) = tensors[key]
        if key not in code.positions:
            variable[f"{code.tensor(tensor)}._tensor"] = data
    if not variable:
        return
    groups = {
        alias_group(data.storage)
        for tensor, (data, *_) in tensors.values()
        if code.is_fixed(tensor)
    }
    fixed = frozenset(groups)
    pattern = state_pattern(list(variable.values()), code.given.data, fixed)
    if pattern is None:
        raise NotReplayable("a gradient or a tensor that it replaces shares memory with another")
    found = f"state_pattern([{', '.join(variable)}], a, {code.constant(fixed)})"
    code.guard(f"{found} == {code.constant(pattern)}")


def _refuse_input(code: ReplayWriter, buffer: Buffer) -> None:
    """Raise the error for a buffer that a replay could not find."""
    recorder = code.recorder
    calls = [call for call in recorder.instructions if call.name not in WITHOUT_ALIASES]
    groups = {view.buffer.group for call in calls for view in call.makes}
    groups.update(alias_group(data.storage) for _, (data, *_) in code.snapshot.tensors.values())
    groups.update(code.given.groups)
    if buffer.group in groups:
        raise NotReplayable("it views elements as another dtype, as view(dtype) does")
    raise CompileError(
        f"{recorder.name} uses a tensor of shape {buffer.layout.shape} and {buffer.layout.dtype} "
        "that existed before the call and cannot be reached from its arguments or variables, so a "
        "program cannot check whether it has changed: pass it as an argument."
    )


def _alias_guards(code: ReplayWriter) -> tuple[frozenset[Any], list[tuple[int, Any]]]:
    """Return the alias groups that no argument may be in, and those that some must be in.

    This matters if a buffer is changed that existed before the call.
    """
    slot_values = {id(value) for _, value in code.snapshot.slots}
    state = {
        alias_group(slots[0].storage)
        for tensor, slots in code.snapshot.tensors.values()
        if id(tensor) not in code.positions or id(tensor) in slot_values
    }
    given = code.given.groups
    must_alias = [(at, group) for at, group in enumerate(given) if group in state]
    if not must_alias and all(buffer.allocated for buffer in _changed_buffers(code)):
        return frozenset(), []
    buffers = code.recorder.buffers.buffers.values()
    inputs = {buffer.group for buffer in buffers if buffer.origin == "x"}
    return frozenset(inputs - set(given)), must_alias


def _check_graphs(code: ReplayWriter) -> None:
    """Raise NotReplayable if a tensor of the state was read that has a graph."""
    read = {view.buffer for each in code.recorder.instructions for view in each.reads}
    buffers = code.recorder.buffers.buffers
    for tensor, (data, _, requires_grad, node, *_) in code.snapshot.tensors.values():
        in_state = id(tensor) not in code.positions
        if in_state and requires_grad and node and buffers.get(storage_key(data.storage)) in read:
            raise NotReplayable(
                "it reads a tensor with a graph that is not an argument: detach() it"
            )


def _check_containers(code: ReplayWriter, result: Any) -> None:
    """Raise NotReplayable if a result is or contains a list or dictionary that existed before."""
    given: Copies = {}
    returned: Copies = {}
    map_leaves((code.given.args, code.given.kwargs), lambda x: x, given)
    map_leaves(result, lambda x: x, returned)
    if any(key in given or code.snapshot.has_seen(x) for key, (x, _) in returned.items()):
        raise NotReplayable("it returns a list or dictionary that existed before")


def _check_result(code: ReplayWriter, leaf: Any) -> None:
    """Raise NotReplayable if a replay could not return a result."""
    if isinstance(leaf, Tensor):
        if code.existed(leaf):
            return
        if leaf.requires_grad and leaf._node is None:
            raise NotReplayable("it returns a new leaf that requires a gradient")
        hooks = None if leaf._node is None else leaf._node._hooks
        if leaf.name is not None or hooks is not None or leaf._grad is not None:
            raise NotReplayable("it returns a new tensor with a name, a gradient or hooks")
        if type(leaf) is not Tensor:
            raise NotReplayable(f"it returns a new {type(leaf).__name__}")
        return
    is_given = any(leaf is each for each in code.given.leaves)
    if not isinstance(leaf, PLAIN) and not is_given and not code.snapshot.has_seen(leaf):
        raise NotReplayable(f"it returns a new {type(leaf).__name__}")
