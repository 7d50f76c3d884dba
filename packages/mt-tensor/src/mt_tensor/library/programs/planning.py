"""Making a program shorter: what is computed once, what nobody reads, and what is one pass.

Each function takes the calls of a program and returns others that leave the same: the same bits,
for the order of arithmetic does not change. What two calls may not exchange is decided by groups of
memory: storages that share bytes are in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

from mt_operators import Formula
from mt_operators.tracing import trace
from mt_tensor.dtypes import bool_, float32, float64
from mt_tensor.layout import Layout
from mt_tensor.library.programs.numbers import Varying
from mt_tensor.library.programs.program import (
    Box,
    Instruction,
    Program,
    Thing,
    View,
    exchanged,
    last_uses,
)

MOST_STEPS = 64
"""How many operations a pass over memory has at most: more would not fit the registers."""


def planned(program: Program, boxes: Sequence[Box] = (), once: bool = False) -> Program:
    """Return a program that leaves the same in fewer calls and less memory.

    Args:
        program: whose calls are exchanged for others.
        boxes: what is needed at the end, beside the memory that the program keeps.
        once: whether it is run only once, so that nothing is the same at each run.
    """
    kept = {view.memory.group for view in program.kept}
    for box in boxes:
        kept |= box.holds
    calls = program.instructions
    calls = calls if once else without_constants(calls, kept)
    calls = without_dead(calls, kept, {id(box) for box in boxes})
    calls = without_repetitions(calls, kept)
    calls = without_copies(calls, kept)
    calls = fused(calls, kept)
    calls = failures_first(calls)
    calls = in_used_memory(calls, kept)
    program.instructions = calls
    return program


def _changed(calls: Iterable[Instruction]) -> set[Any]:
    """Return the groups of memory that calls write to."""
    return {view.memory.group for each in calls for view in each.changes}


def without_constants(calls: Sequence[Instruction], kept: set[Any]) -> list[Instruction]:
    """Leave out what is the same at each run: its result is taken as it was.

    Memory that somebody changes, or has afterwards, is made anew each time.
    """
    changed, left = _changed(calls), []
    for each in calls:
        groups = {view.memory.group for view in each.makes}
        varies = (
            not each.pure
            or any(True for view in each.reads if view.memory.made or view.memory.is_before)
            or each.boxes
            or any(isinstance(value, Varying) for value in _flat(each.arguments))
            or not groups
            or any(type(mark) is Box for mark in _flat(each.results))
        )
        if varies or groups & (changed | kept):
            left.append(each)
            continue
        for view in each.makes:
            view.memory.made = False
            view.memory.name = f"k{view.memory.name[1:]}"
    return left


def _flat(value: Any) -> Iterable[Any]:
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def without_dead(
    calls: Sequence[Instruction], kept: set[Any], boxes: set[int]
) -> list[Instruction]:
    """Leave out what computes what nobody reads; boxes are needed, too."""
    needed, left = set(kept), []
    for each in reversed(calls):
        writes = {view.memory.group for view in each.changes}
        before = any(not view.memory.made for view in each.changes)
        makes = {view.memory.group for view in each.makes}
        gives = {id(mark) for mark in _flat(each.results) if type(mark) is Box}
        acts = not each.pure and not each.changes and each.name != "empty"
        lasting = before or each.may_fail or acts
        if lasting or (writes | makes) & needed or gives & boxes:
            left.append(each)
            needed |= {view.memory.group for view in each.reads}
            boxes |= {id(box) for box in each.boxes}
            for box in each.boxes:
                needed |= box.holds
    left.reverse()
    return left


def without_repetitions(calls: Sequence[Instruction], kept: set[Any]) -> list[Instruction]:
    """Leave out what an earlier call has computed of the same memory."""
    changed = _changed(calls) | kept
    known: dict[Any, Instruction] = {}
    instead: dict[Any, View] = {}
    left = []
    for each in calls:
        each = _with_others(each, instead)  # noqa: PLW2901 - the same call, of other memory
        key = _identity(each)
        groups = {view.memory.group for view in (*each.makes, *each.reads)}
        fit = (each.pure or each.name == "checked_indices") and not each.changes
        if key is None or not fit or groups & changed or len(each.makes) != 1:
            left.append(each)
            continue
        first = known.setdefault(key, each)
        if first is each:
            left.append(each)
        else:
            instead[each.makes[0].memory] = first.makes[0]
    return left


def without_copies(calls: Sequence[Instruction], kept: set[Any]) -> list[Instruction]:
    """Let what is made only to be copied be made where the copy would be."""
    left = list(calls)
    shared = {group for each in calls for box in each.boxes for group in box.holds}
    fixed = kept | shared | _of_several(calls)
    last = last_uses(calls, [])
    makers = {view.memory: each for each in calls for view in each.makes}
    for position, each in enumerate(calls):
        if each.name != "copy" or each.changes:
            continue
        (source,), (copied,) = each.reads, each.makes
        maker, group = makers.get(source.memory), source.memory.group
        if maker is None or maker.may_fail or maker.name == "empty" or group in fixed:
            continue
        whole = source.layout is copied.layout and source.memory.layout is copied.layout
        if whole and last[group] == position:
            for other in calls[:position]:
                _exchange(other, {source.memory: copied})
            makers[copied.memory] = maker
            left.remove(each)
    return left


def _exchange(call: Instruction, instead: dict[Any, View]) -> None:
    """Let a call read, change and make other memory in the place of some."""

    def other(mark: Any) -> Any:
        if isinstance(mark, View) and mark.memory in instead:
            return View(instead[mark.memory].memory, mark.layout)
        if isinstance(mark, Thing) and mark.view.memory in instead:
            return Thing(other(mark.view), mark.backend)
        return mark

    call.arguments = exchanged(call.arguments, other)
    call.options = exchanged(call.options, other)
    call.results = exchanged(call.results, other)
    call.changes = [other(view) for view in call.changes]


def _with_others(call: Instruction, instead: dict[Any, View]) -> Instruction:
    """Return a call that reads other memory in the place of some."""
    if any(view.memory in instead for view in (*call.reads, *call.changes)):
        _exchange(call, instead)
    return call


def _identity(call: Instruction) -> Any:
    """Return what is the same for calls that compute the same; None if that cannot be said."""

    def of(value: Any) -> Any:
        if isinstance(value, View):
            return "view", id(value.memory), id(value.layout)
        if isinstance(value, (tuple, list)):
            return tuple(map(of, value))
        if isinstance(value, float):
            return value.hex()
        if isinstance(value, (bool, int, str, type(None))):
            return type(value), value
        return id(value)

    if any(isinstance(value, Varying | Thing) for value in _flat(call.arguments)):
        return None
    named = tuple(sorted((name, of(value)) for name, value in call.options.items()))
    function = call.formula if call.formula is not None else (call.name, id(call.backend))
    return of(function) if call.formula is None else id(function), of(call.arguments), named


# --- One pass over memory -------------------------------------------------------------------------


def fused(calls: Sequence[Instruction], kept: set[Any]) -> list[Instruction]:
    """Make neighbouring operations on elements one pass: nothing between them goes to memory.

    An operation is computed where its result is read, if that is one place which reads it element
    by element, if what the operation reads is still what it was, and if the place does not write to
    another view of it: the pass would read what it has just written.
    """
    calls = list(calls)
    readers = _readers(calls)
    changed = _changed(calls)
    position = 0
    while position < len(calls):
        producer = calls[position]
        reader = _only_reader(producer, readers, kept | changed)
        if reader is None or _writes_elsewhere_in(reader, producer.reads):
            position += 1
            continue
        if _unchanged_until(calls, position, reader):
            one = composed(producer, reader)
            if one is not None:
                calls[calls.index(reader)] = one
                del calls[position]
                for view in one.reads:
                    users = readers.get(id(view.memory), [])
                    readers[id(view.memory)] = [
                        one if each in (producer, reader) else each for each in users
                    ]
                continue
        position += 1
    return calls


def _readers(calls: Iterable[Instruction]) -> dict[int, list[Instruction]]:
    readers: dict[int, list[Instruction]] = {}
    for each in calls:
        for view in each.reads:
            users = readers.setdefault(id(view.memory), [])
            if each not in users:
                users.append(each)
        for box in each.boxes:
            for group in box.holds:
                readers.setdefault(group, []).append(each)
    return readers


def _only_reader(
    call: Instruction, readers: dict[int, list[Instruction]], taken: set[Any]
) -> Instruction | None:
    """Return the one operation on elements that reads what another has made, if that is all."""
    if call.formula is None or call.changes or len(call.makes) != 1 or call.formula.outputs != 1:
        return None
    (made,) = call.makes
    if made.memory.group in taken or readers.get(made.memory.group):
        return None
    users = readers.get(id(made.memory), [])
    if len(users) != 1 or users[0].formula is None or users[0].backend is not call.backend:
        return None
    views = [view for view in users[0].reads if view.memory is made.memory]
    if any(view.layout is not made.layout for view in views):
        return None
    return users[0]


def _writes_elsewhere_in(call: Instruction, views: Iterable[View]) -> bool:
    """Whether a call writes to memory of views, other than each element to its own place."""
    return any(
        view.memory.group == changed.memory.group
        and (view.memory is not changed.memory or view.layout is not changed.layout)
        for changed in call.changes
        for view in views
    )


def _unchanged_until(calls: Sequence[Instruction], position: int, reader: Instruction) -> bool:
    """Whether nobody changes what a call reads before its reader does."""
    groups = {view.memory.group for view in calls[position].reads}
    for each in calls[position + 1 :]:
        if each is reader:
            return True
        if groups & {view.memory.group for view in each.changes}:
            return False
    return False


def composed(producer: Instruction, reader: Instruction) -> Instruction | None:
    """Return two operations on elements as one, which gives the same bits; None if none does.

    Both compute in the same type, float32 or float64, and over the same elements.
    """
    first, second = producer.formula, reader.formula
    if first is None or second is None:
        return None
    (made,) = producer.makes
    shape = made.layout.shape
    out = reader.arguments[0]
    target = out if isinstance(out, Layout) else reader.changes[0].layout
    types = {_type_of(producer), _type_of(reader)}
    if target.shape != shape or len(types) != 1 or types & {None}:
        return None
    if made.layout.dtype is not bool_ and made.layout.dtype not in types:
        return None
    if made.layout.dtype is bool_ and not all(
        e.truth for e in (first.graph.expressions[at] for at in first.graph.outputs)
    ):
        return None
    inputs: list[Any] = []

    def position_of(value: Any) -> int:
        for at, each in enumerate(inputs):
            if each is value or (
                isinstance(value, View)
                and isinstance(each, View)
                and each.memory is value.memory
                and each.layout is value.layout
            ):
                return at
        inputs.append(value)
        return len(inputs) - 1

    before = [position_of(value) for value in producer.arguments[1:]]
    after: list[int | None] = []
    for value in reader.arguments[1:]:
        is_made = isinstance(value, View) and value.memory is made.memory
        after.append(None if is_made else position_of(value))
    function, other = first.function, second.function

    def both(*values: Any) -> Any:
        between = function(*[values[at] for at in before])
        return other(*[between if at is None else values[at] for at in after])

    name = f"{first.name}_{second.name}"
    if len(name) > 80:
        name = f"fused_{crc32(name.encode())}"  # the same in each process, as caches need it
    outputs = second.outputs
    formula = Formula(name, len(inputs), outputs, both, [f"x{i}" for i in range(len(inputs))])
    try:
        graph = trace(name, both, len(inputs), outputs if outputs > 1 else None)
    except Exception:  # noqa: BLE001 - whatever it is, both stay as they are
        return None
    steps = [e for e in graph.expressions if e.operation not in ("argument", "constant")]
    if len(steps) > MOST_STEPS or len(graph.reads) != len(inputs):
        return None
    formula._graph = graph
    return Instruction(
        name,
        reader.backend,
        reader.backend.elementwise(formula),
        (out, *inputs),
        {},
        reader.results,
        reader.changes,
        formula,
        reader.pure,
    )


def _type_of(call: Instruction) -> Any:
    """Return the type that an operation on elements computes in, if it is float32 or float64."""
    kinds = {view.layout.dtype for view in call.reads} - {bool_}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    return kind if kind in (float32, float64) else None


# --- Order and memory -----------------------------------------------------------------------------


def failures_first(calls: Sequence[Instruction]) -> list[Instruction]:
    """Let what may raise an error come before what changes memory that was there before.

    So that an error in the middle of a run leaves all as it was.
    """
    calls = list(calls)
    for position, each in enumerate(calls):
        if not each.may_fail:
            continue
        start = next(
            (
                at
                for at in range(position)
                if any(not view.memory.made for view in calls[at].changes)
            ),
            None,
        )
        if start is None:
            continue
        moving = _needed_for(calls, start, position)
        if moving is not None:
            chosen = [calls[at] for at in moving]
            rest = [calls[at] for at in range(start, position + 1) if at not in moving]
            calls[start : position + 1] = chosen + rest
    return calls


def _needed_for(calls: Sequence[Instruction], start: int, position: int) -> list[int] | None:
    """Return the calls from `start` on that a later one needs, if they can all come before."""
    wanted = {position}
    for at in range(position - 1, start - 1, -1):
        makes = {view.memory.group for view in (*calls[at].makes, *calls[at].changes)}
        gives = {id(mark) for mark in _flat(calls[at].results) if type(mark) is Box}
        for later in sorted(wanted):
            reads = {view.memory.group for view in calls[later].reads}
            boxes = {id(box) for box in calls[later].boxes}
            if makes & reads or gives & boxes:
                wanted.add(at)
    for at in wanted:
        if any(not view.memory.made for view in calls[at].changes) or calls[at].name == "random":
            return None
    for at in range(start, position):
        if at not in wanted:
            changed = {view.memory.group for view in calls[at].changes}
            for later in wanted:
                touched = {v.memory.group for v in (*calls[later].reads, *calls[later].changes)}
                if later > at and changed & touched:
                    return None
    return sorted(wanted)


LEAST = 4096
"""Elements that are worth it: less memory is had again in no time."""

NEW = ("copy", "gather", "matmul", "random", "reduce")
"""Calls whose result is memory of its own, beside operations on elements."""


def in_used_memory(calls: Sequence[Instruction], kept: set[Any]) -> list[Instruction]:
    """Let operations on elements write to memory whose elements nobody reads any more."""
    last = last_uses(calls, []) | dict.fromkeys(kept, len(calls))
    shared = {group for each in calls for box in each.boxes for group in box.holds}
    shared |= _of_several(calls)
    instead: dict[Any, View] = {}
    alive: dict[Any, View] = {}
    free: dict[Any, list[View]] = {}
    left = []
    for position, each in enumerate(calls):
        each = _with_others(each, instead)  # noqa: PLW2901
        for view in each.makes:
            group, whole = view.memory.group, view.layout.contiguous is view.layout
            new = each.formula is not None or each.name in NEW
            if not (new and whole and view.layout.size >= LEAST) or group in shared | kept:
                continue
            if isinstance(each.arguments[0], Layout) and each.formula is not None:
                used = _used(each, view, position, last, alive, free)
                if used is not None:
                    instead[view.memory] = used
                    last[used.memory.group] = last[group]
                    each.arguments = ([used], *each.arguments[1:])
                    each.results, each.changes, each.pure = None, [used], False
                    alive[used.memory.group] = used
                    break
            alive[group] = view
        for group in [group for group in alive if last[group] <= position]:
            view = alive.pop(group)
            free.setdefault((id(each.backend), view.layout), []).append(view)
        left.append(each)
    return left


def _of_several(calls: Iterable[Instruction]) -> set[Any]:
    """Return the groups that several memories belong to."""
    memories: dict[Any, set[int]] = {}
    for each in calls:
        for view in (*each.reads, *each.makes):
            memories.setdefault(view.memory.group, set()).add(id(view.memory))
    return {group for group, members in memories.items() if len(members) > 1}


def _used(
    call: Instruction,
    made: View,
    position: int,
    last: dict[Any, int],
    alive: dict[Any, View],
    free: dict[Any, list[View]],
) -> View | None:
    """Return memory like that of a result: of an argument read for the last time, or free."""
    if call.makes != [made] and len(call.makes) != 1:
        return None
    for view in call.reads:
        group = view.memory.group
        if view.layout is made.layout and group in alive and last[group] <= position:
            return view
    views = free.get((id(call.backend), made.layout))
    return views.pop() if views else None
