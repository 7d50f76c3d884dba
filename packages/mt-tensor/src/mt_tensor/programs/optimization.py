"""Making a program shorter: what is computed once, what nobody reads, what is only copied.

Fusion is in `fusion.py`, the reuse of buffers in `memory_planning.py`. Each pass takes the
instructions of a program and returns equivalent ones: results have the same bits, for the order of
arithmetic does not change. Passes reason about alias groups: storages that share bytes are in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mt_tensor.programs.fusion import fused
from mt_tensor.programs.memory_planning import failures_first, in_used_memory
from mt_tensor.programs.program import (
    Box,
    Instruction,
    Program,
    TensorView,
    View,
    exchange,
    groups_of_several,
    last_uses,
    with_others,
)
from mt_tensor.programs.symbolic_numbers import Varying


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
        each = with_others(each, instead)  # noqa: PLW2901 - the same call, of other memory
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
    fixed = kept | shared | groups_of_several(calls)
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
                exchange(other, {source.memory: copied})
            makers[copied.memory] = maker
            left.remove(each)
    return left


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

    if any(isinstance(value, Varying | TensorView) for value in _flat(call.arguments)):
        return None
    named = tuple(sorted((name, of(value)) for name, value in call.options.items()))
    function = call.formula if call.formula is not None else (call.name, id(call.backend))
    return of(function) if call.formula is None else id(function), of(call.arguments), named
