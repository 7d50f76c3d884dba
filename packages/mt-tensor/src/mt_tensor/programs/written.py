"""From what was written down to what can be run again.

Memory that a program has not made comes from an argument, or from a tensor that lies where it lay,
or where another one lay; if nobody has it, it is what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff.core.mode import recording
from mt_tensor.core.elementwise import UNCHANGED
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError
from mt_tensor.programs.addresses import Addresses
from mt_tensor.programs.gradients import Gradients
from mt_tensor.programs.guard import ask
from mt_tensor.programs.leaving import Leaving, Reason
from mt_tensor.programs.planning import planned
from mt_tensor.programs.program import Memory, Program, Thing, View
from mt_tensor.programs.source import MISS
from mt_tensor.programs.storages import group_of, key_of
from mt_tensor.programs.structure import PLAIN, exchanged_leaves, leaves_in
from mt_tensor.programs.writing import AGAIN, Writer


class Written:
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


def written(
    name: str,
    given: Any,
    result: Any,
    writer: Writer,
    addresses: Addresses,
    gradients: Gradients | None,
) -> Written:
    """Return what can be run again.

    Args:
        name: the function's.
        given: its arguments.
        result: what it returned.
        writer: what it asked of backends.
        addresses: where tensors are that were there before.
        gradients: of the results.

    Raises:
        Reason: a program could not do the same.
    """
    source = addresses.source
    stored = writer.numbers.stored()
    if stored is None:
        raise Reason("a number of an optimizer is changed beside its steps")
    _check_histories(writer, addresses)
    leaving = Leaving(addresses, writer)
    leaving.find(writer.numbers)
    returned = [_returned(leaf, writer, addresses, given) for leaf in leaves_in(result)]
    things = [each for each in returned if isinstance(each, Thing)]
    saved = [] if gradients is None else gradients.saved
    views = [each for each in saved if isinstance(each, View)]
    boxes = [each for each in saved if not isinstance(each, View)]
    left = [*leaving.kept, *(each.view for each in things)]
    program = Program(name, writer.instructions, things, [*left, *views])
    changed = [v.memory for each in writer.instructions for v in each.changes]
    _check_found(writer, addresses, given, program)
    planned(program, boxes)
    ask(addresses, writer.numbers)
    _load(program, given, writer, addresses)
    source.calls(program, boxes)
    for memory in dict.fromkeys(changed):
        if not memory.made:
            source.lines.append(f"{source.view(View(memory, memory.layout))}.bump_version()")
    texts = [
        leaving.named(leaf, mark) if isinstance(mark, Thing) else _text(mark, addresses)
        for leaf, mark in zip(leaves_in(result), returned, strict=True)
    ]
    parts = [source.text(each) for each in saved]
    source.lines.append(f"out = [{', '.join(texts)}], [{', '.join(parts)}]")
    for place, value in stored:
        source.lines.append(f"{source.place(place)} = {source.text(value)}")
    leaving.write()
    source.lines.append("return out")
    apart, within = _borders(given, writer, addresses, changed)
    finish = _finishing(result, gradients)
    run = source.function()
    for memory in list(writer.storages.memories.values()):  # some of which go with that
        memory.forget()
    return Written(program, run, finish, apart, within, given.others)


def _finishing(result: Any, gradients: Gradients | None) -> Callable[[Any, Any], Any]:
    """Return what puts together what a function returns."""
    structure, single = exchanged_leaves(result, lambda _: None), isinstance(result, Tensor)

    def finish(results: Any, given: Any) -> Any:
        values, parts = results
        if gradients is not None:
            gradients.connect(values, parts, given)
        if single:
            return values[0]
        rest = iter(values)
        return exchanged_leaves(structure, lambda _: next(rest))

    return finish


# --- Memory ---------------------------------------------------------------------------------------


def _load(program: Program, given: Any, writer: Writer, addresses: Addresses) -> None:
    """Let each memory that is used come from where it lies."""
    source, tensors = addresses.source, addresses.picture.tensors.values()
    used = {v.memory for each in program.instructions for v in (*each.reads, *each.changes)}
    used |= {view.memory for view in program.kept}
    homes: dict[Any, tuple[str, Any]] = {}
    for at, (leaf, data) in enumerate(zip(given.leaves, given.data, strict=True)):
        if isinstance(leaf, Tensor):
            homes.setdefault(key_of(data.storage), (f"a[{at}]", data))
    for tensor, slots in tensors:
        data = slots[0]
        if not addresses.is_fixed(tensor) and id(tensor) not in addresses.positions:
            text = f"{addresses.tensor(tensor)}._tensor"
            homes.setdefault(key_of(data.storage), (text, data))
    for key, memory in writer.storages.memories.items():
        if memory in used and not memory.made and key in homes:
            text, memory.data = homes[key]
            if not text.startswith("a["):
                source.ask(f"{text}.layout is {source.constant(memory.layout)}")
            source.load(memory, text)


def _borders(
    given: Any, writer: Writer, addresses: Addresses, changed: list[Memory]
) -> tuple[frozenset[Any], dict[int, Any]]:
    """Return which memory arguments must not lie in, and which ones must lie in what memory.

    That matters where something is changed that was there before.
    """
    picture, positions = addresses.picture, addresses.positions
    lying = {id(value) for _, value in picture.places}
    around = {
        group_of(slots[0].storage)
        for tensor, slots in picture.tensors.values()
        if id(tensor) not in positions or id(tensor) in lying
    }
    within = {at: group for at, group in enumerate(given.groups) if group in around}
    if all(memory.made for memory in changed) and not within:
        return frozenset(), {}
    before = {memory.group for memory in writer.storages.memories.values() if memory.is_before}
    return frozenset(before - set(given.groups)), within


def _check_found(writer: Writer, addresses: Addresses, given: Any, program: Program) -> None:
    """Raise CompileError if a program uses memory that nothing it compares leads to.

    Raises:
        Reason: it sees memory as elements of another type, or uses indices that it changes.
    """
    known = [slots[0].storage for _, slots in addresses.picture.tensors.values()]
    known += [x.storage for x in given.data if isinstance(x, TensorData)]
    keys = set(map(key_of, known))
    calls = writer.instructions
    groups = {view.memory.group for x in calls if x.name not in AGAIN for view in x.makes}
    groups.update(map(group_of, known))
    changed = {view.memory.group for each in calls for view in each.changes}
    checked = [each for each in calls if each.name == "checked_indices"]
    if any(view.memory.group in changed for each in checked for view in each.reads):
        raise Reason("it changes indices in place that it has used")
    used = {view.memory for each in calls for view in (*each.reads, *each.changes)}
    used |= {view.memory for view in program.kept}
    for key, memory in writer.storages.memories.items():
        is_constant = not memory.is_before or memory.data._version is UNCHANGED
        if is_constant or key in keys or memory not in used:
            continue
        if memory.group in groups:
            raise Reason("it sees elements as those of another type, as view(dtype) does")
        raise CompileError(
            f"{writer.name} uses a tensor of shape {memory.layout.shape} and {memory.layout.dtype} "
            "that was made before, and to which neither its arguments nor its variables lead, so a "
            "program could not tell whether it is still the one to use: pass it."
        )


def _check_histories(writer: Writer, addresses: Addresses) -> None:
    """Raise Reason if something was read whose gradient goes on to what was computed before."""
    read = {view.memory for each in writer.instructions for view in each.reads}
    memories = writer.storages.memories
    for tensor, (data, _, wanted, node, *_) in addresses.picture.tensors.values():
        is_around = id(tensor) not in addresses.positions
        if is_around and wanted and node and memories.get(key_of(data.storage)) in read:
            raise Reason("a tensor around it has a history: detach() it")


# --- Results --------------------------------------------------------------------------------------


def _returned(leaf: Any, writer: Writer, addresses: Addresses, given: Any) -> Any:
    """Return the mark of something that was returned."""
    if isinstance(leaf, Tensor):
        if addresses.knows(leaf):
            return leaf
        if leaf.requires_grad and leaf._node is None:
            raise Reason("it returns a new leaf, whose gradient is wanted")
        return Thing(writer.view(leaf._tensor), leaf.backend)
    known = isinstance(leaf, PLAIN) or any(leaf is each for each in given.leaves)
    if not known and not addresses.picture.has_seen(leaf):
        raise Reason(f"it returns {type(leaf).__name__}, made anew")
    return leaf


def _text(mark: Any, addresses: Addresses) -> str:
    """Return what is written for something that is returned."""
    return addresses.tensor(mark) if isinstance(mark, Tensor) else addresses.source.text(mark)
