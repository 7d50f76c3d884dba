"""A recorded program with its guards and effects, as a function that replays it.

Buffer that a program does not make itself comes from an argument, or from a tensor in its place
in the state that the function reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff.core.mode import recording
from mt_tensor.core.elementwise import UNCHANGED
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError
from mt_tensor.programs.buffers import alias_group, storage_key
from mt_tensor.programs.code_writer import MISS
from mt_tensor.programs.effects import Effects, NotReplayable
from mt_tensor.programs.gradients import Gradients
from mt_tensor.programs.guards import add_guards
from mt_tensor.programs.optimization import optimize
from mt_tensor.programs.program import Buffer, Program, TensorView, views_of
from mt_tensor.programs.pytree import PLAIN, leaves_in, map_leaves
from mt_tensor.programs.recorder import WITHOUT_ALIASES, Recorder
from mt_tensor.programs.tensor_paths import TensorPaths


class Replay:
    """A program with all that is needed to run it.

    Attributes:
        program: the program.
        text: it as a function of Python.
    """

    def __init__(
        self,
        program: Program,
        run: Callable[..., Any],
        finish: Callable[..., Any],
        apart: frozenset[Any],
        within: dict[int, Any],
        others: list[Any],
    ) -> None:
        """Take a program.

        Args:
            program: what is shown.
            run: runs it.
            finish: makes what the function returns of what `run` returns.
            apart: groups of memory that no argument may lie in.
            within: groups of memory that arguments must lie in, by their numbers.
            others: arguments that are known by their identity, which stay alive.
        """
        self.program = program
        self.others = others
        self.text = str(run.__doc__)
        self._run = run
        self._finish = finish
        self._apart = apart
        self._within = list(within.items())

    def run(self, given: Any) -> Any:
        """Run the program; `MISS` if something is not as it was."""
        groups = given.groups
        if not self._apart.isdisjoint(groups):
            return MISS
        for at, group in self._within:
            if groups[at] != group:
                return MISS
        before = recording.set(False)
        try:
            result = self._run(given.data, given.leaves)
        finally:
            recording.reset(before)
        return result if result is MISS else self._finish(result, given)


def replay_of(
    name: str,
    given: Any,
    result: Any,
    recorder: Recorder,
    locations: TensorPaths,
    gradients: Gradients | None,
) -> Replay:
    """Return what can be run again.

    Args:
        name: the function's.
        given: its arguments.
        result: what it returned.
        recorder: what it asked of backends.
        locations: where tensors are that were there before.
        gradients: of the results.

    Raises:
        NotReplayable: a program could not do the same.
    """
    source = locations.code
    stored = recorder.numbers.updates()
    if stored is None:
        raise NotReplayable("a number of an optimizer is changed beside its steps")
    _check_histories(recorder, locations)
    effects = Effects(locations, recorder)
    effects.find(recorder.numbers)
    returned = [_returned(leaf, recorder, locations, given) for leaf in leaves_in(result)]
    tensor_views = [each for each in returned if isinstance(each, TensorView)]
    saved = [] if gradients is None else gradients.saved
    left = [*effects.outputs, *(each.view for each in tensor_views)]
    program = Program(name, recorder.instructions, tensor_views, [*left, *saved])
    changed = [v.buffer for each in recorder.instructions for v in each.changes]
    _check_found(recorder, locations, given, program)
    optimize(program)
    add_guards(locations, recorder.numbers)
    _load(program, given, recorder, locations)
    start = len(source.lines)
    source.instructions(program)
    for memory in dict.fromkeys(changed):
        if not memory.allocated:
            source.lines.append(f"{source.expression(memory.view)}.bump_version()")
    texts = [
        effects.named(leaf, mark) if isinstance(mark, TensorView) else _text(mark, locations)
        for leaf, mark in zip(leaves_in(result), returned, strict=True)
    ]
    parts = [source.expression(each) for each in saved]
    source.lines.append(f"out = [{', '.join(texts)}], [{', '.join(parts)}]")
    for place, value in stored:
        source.lines.append(f"{locations.slot(place)} = {source.expression(value)}")
    effects.write()
    source.lines.append("return out")
    # The old gradients that nothing reads are freed before the new ones are made.
    old = [f"{owner()}._grad" for owner in effects.cleared]
    unread = [each for each in old if not any(each in line for line in source.lines[start:])]
    source.lines[start:start] = [f"{each} = None" for each in unread]
    apart, within = _boundaries(given, recorder, locations, changed)
    finish = _finishing(result, gradients)
    run = source.function()
    for memory in list(recorder.buffers.buffers.values()):  # some of which go with that
        memory.release()
    return Replay(program, run, finish, apart, within, given.others)


def _finishing(result: Any, gradients: Gradients | None) -> Callable[[Any, Any], Any]:
    """Return what puts together what a function returns."""
    structure, single = map_leaves(result, lambda _: None), isinstance(result, Tensor)

    def finish(results: Any, given: Any) -> Any:
        values, parts = results
        if gradients is not None:
            gradients.connect(values, parts, given)
        if single:
            return values[0]
        rest = iter(values)
        return map_leaves(structure, lambda _: next(rest))

    return finish


# --- Buffer ---------------------------------------------------------------------------------------


def _load(program: Program, given: Any, recorder: Recorder, locations: TensorPaths) -> None:
    """Let each memory that is used come from where it lies."""
    source, tensors = locations.code, locations.snapshot.tensors.values()
    used = {v.buffer for each in program.instructions for v in (*each.reads, *each.changes)}
    used |= {view.buffer for view in views_of(program.outputs)}
    homes: dict[Any, tuple[str, Any]] = {}
    for at, (leaf, data) in enumerate(zip(given.leaves, given.data, strict=True)):
        if isinstance(leaf, Tensor):
            homes.setdefault(storage_key(data.storage), (f"a[{at}]", data))
    for tensor, slots in tensors:
        data = slots[0]
        if not locations.is_constant(tensor) and id(tensor) not in locations.positions:
            text = f"{locations.tensor(tensor)}._tensor"
            homes.setdefault(storage_key(data.storage), (text, data))
    for key, memory in recorder.buffers.buffers.items():
        if memory in used and not memory.allocated and key in homes:
            text, memory.data = homes[key]
            if not text.startswith("a["):
                source.guard(f"{text}.layout is {source.constant(memory.layout)}")
            source.load(memory, text)


def _boundaries(
    given: Any, recorder: Recorder, locations: TensorPaths, changed: list[Buffer]
) -> tuple[frozenset[Any], dict[int, Any]]:
    """Return which memory arguments must not lie in, and which ones must lie in what memory.

    That matters where something is changed that was there before.
    """
    snapshot, positions = locations.snapshot, locations.positions
    lying = {id(value) for _, value in snapshot.slots}
    around = {
        alias_group(slots[0].storage)
        for tensor, slots in snapshot.tensors.values()
        if id(tensor) not in positions or id(tensor) in lying
    }
    within = {at: group for at, group in enumerate(given.groups) if group in around}
    if all(memory.allocated for memory in changed) and not within:
        return frozenset(), {}
    before = {memory.group for memory in recorder.buffers.buffers.values() if memory.origin == "x"}
    return frozenset(before - set(given.groups)), within


def _check_found(recorder: Recorder, locations: TensorPaths, given: Any, program: Program) -> None:
    """Raise CompileError if a program uses memory that nothing it compares leads to.

    Raises:
        NotReplayable: it sees memory as elements of another type, or uses indices that it changes.
    """
    known = [slots[0].storage for _, slots in locations.snapshot.tensors.values()]
    known += [x.storage for x in given.data if isinstance(x, TensorData)]
    keys = set(map(storage_key, known))
    calls = recorder.instructions
    groups = {view.buffer.group for x in calls if x.name not in WITHOUT_ALIASES for view in x.makes}
    groups.update(map(alias_group, known))
    changed = {view.buffer.group for each in calls for view in each.changes}
    checked = [each for each in calls if each.name == "checked_indices"]
    if any(view.buffer.group in changed for each in checked for view in each.reads):
        raise NotReplayable("it changes indices in place that it has used")
    used = {view.buffer for each in calls for view in (*each.reads, *each.changes)}
    used |= {view.buffer for view in views_of(program.outputs)}
    for key, memory in recorder.buffers.buffers.items():
        is_constant = memory.origin != "x" or memory.data._version is UNCHANGED
        if is_constant or key in keys or memory not in used:
            continue
        if memory.group in groups:
            raise NotReplayable("it sees elements as those of another type, as view(dtype) does")
        raise CompileError(
            f"{recorder.name} uses a tensor of shape {memory.layout.shape} and "
            f"{memory.layout.dtype} that was made before, and to which neither its arguments nor "
            "its variables lead, so a program could not tell whether it is still the one to use: "
            "pass it."
        )


def _check_histories(recorder: Recorder, locations: TensorPaths) -> None:
    """Raise NotReplayable if a tensor of the state was read that has a graph."""
    read = {view.buffer for each in recorder.instructions for view in each.reads}
    memories = recorder.buffers.buffers
    for tensor, (data, _, wanted, node, *_) in locations.snapshot.tensors.values():
        is_around = id(tensor) not in locations.positions
        if is_around and wanted and node and memories.get(storage_key(data.storage)) in read:
            raise NotReplayable("a tensor around it has a history: detach() it")


# --- Results --------------------------------------------------------------------------------------


def _returned(leaf: Any, recorder: Recorder, locations: TensorPaths, given: Any) -> Any:
    """Return the mark of something that was returned."""
    if isinstance(leaf, Tensor):
        if locations.existed(leaf):
            return leaf
        if leaf.requires_grad and leaf._node is None:
            raise NotReplayable("it returns a new leaf, whose gradient is wanted")
        return TensorView(recorder.view(leaf._tensor), leaf.backend)
    known = isinstance(leaf, PLAIN) or any(leaf is each for each in given.leaves)
    if not known and not locations.snapshot.has_seen(leaf):
        raise NotReplayable(f"it returns {type(leaf).__name__}, made anew")
    return leaf


def _text(mark: Any, locations: TensorPaths) -> str:
    """Return the text of something that is returned."""
    return locations.tensor(mark) if isinstance(mark, Tensor) else locations.code.expression(mark)
