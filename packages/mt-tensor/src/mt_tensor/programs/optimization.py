"""The optimizing passes of programs.

Fusion is in `fusion.py`, the reuse of buffers in `memory_planning.py`. Each pass takes the
instructions of a program and returns equivalent ones: results have the same bits, since the order
of arithmetic does not change. Storages that share bytes are in one alias group. `live_out` are the
alias groups and opaque values that outlive a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mt_tensor.programs.fusion import fuse_elementwise
from mt_tensor.programs.memory_planning import reuse_buffers
from mt_tensor.programs.program import (
    Buffer,
    Instruction,
    Program,
    last_uses,
    shared_groups,
    substitute,
)


def optimize(program: Program) -> Program:
    """Replace the instructions of a program by fewer ones that need less memory."""
    live_out, calls = program.live_out, program.instructions
    calls = fold_constants(calls, live_out)
    calls = eliminate_dead_code(calls, live_out)
    calls = elide_copies(calls, live_out)
    calls = fuse_elementwise(calls, live_out)
    calls = hoist_checks(calls)
    calls = reuse_buffers(calls, live_out)
    program.instructions = calls
    return program


def _changed_groups(calls: Iterable[Instruction]) -> set[Any]:
    """Return the alias groups that instructions write to after their allocation."""
    return set().union(*[each.changed_groups for each in calls])


def fold_constants(calls: Sequence[Instruction], live_out: set[Any]) -> list[Instruction]:
    """Replace results that are the same at each replay by those that were recorded.

    Buffers that are changed or outlive the program are computed at each replay.
    """
    changed, rest = _changed_groups(calls), []
    for call in calls:
        is_constant = call.makes and all(view.buffer.is_constant for view in call.makes)
        touches = not changed.isdisjoint(call.uses | call.defines)
        if not is_constant or call.produced or touches or call.defines & live_out:
            rest.append(call)
            continue
        for view in call.makes:
            view.buffer.origin = "k"
    return rest


def eliminate_dead_code(calls: Sequence[Instruction], live_out: Iterable[Any]) -> list[Instruction]:
    """Remove instructions without effects whose results are not used."""
    live, rest = set(live_out), []
    for call in reversed(calls):
        is_effect = not (call.pure or call.changes or call.name == "empty")
        if call.may_fail or call.changes_inputs or is_effect or call.defines & live:
            rest.append(call)
            live |= call.uses
    return rest[::-1]


def elide_copies(calls: Sequence[Instruction], live_out: set[Any]) -> list[Instruction]:
    """Remove copies of buffers that are not used afterwards, and let the original be the copy."""
    fixed, last = live_out | shared_groups(calls), last_uses(calls)
    makers = {view.buffer: each for each in calls for view in each.makes}
    replacements: dict[Buffer, Buffer] = {}
    elided = set()
    for position in reversed(range(len(calls))):  # so that copies of copies become one buffer
        call = calls[position]
        if call.name != "copy" or call.changes:
            continue
        (source,), (copied,) = call.reads, call.makes
        maker, group = makers.get(source.buffer), source.buffer.group
        if maker is None or maker.may_fail or maker.name == "empty" or group in fixed:
            continue
        is_whole = source.layout is copied.layout and source.buffer.layout is copied.layout
        if is_whole and last[group] == position:
            replacements[source.buffer] = replacements.get(copied.buffer, copied.buffer)
            elided.add(call)
    return [substitute(each, replacements) for each in calls if each not in elided]


def hoist_checks(calls: Sequence[Instruction]) -> list[Instruction]:
    """Move instructions that may fail before those that change inputs.

    An error in the middle of a replay then leaves all inputs unchanged.
    """
    calls = list(calls)
    for position, call in enumerate(calls):
        if call.may_fail:
            changing = (at for at in range(position) if calls[at].changes_inputs)
            start = next(changing, position)
            calls[start : position + 1] = _hoisted(calls[start : position + 1])
    return calls


def _hoisted(calls: Sequence[Instruction]) -> Sequence[Instruction]:
    """Move the last instruction and those that it depends on to the front, if possible."""
    *before, check = calls
    needed, changed = set(check.uses), check.changed_groups
    hoisted, rest = [check], []
    for call in reversed(before):
        if not needed.isdisjoint(call.defines):
            hoisted.append(call)
            needed |= call.uses
            changed |= call.changed_groups
        elif changed.isdisjoint(call.uses):
            rest.append(call)
        else:  # it uses a buffer before one of the others changes it
            return calls
    if any(call.changes_inputs or call.name == "random" for call in hoisted):
        return calls
    return [*hoisted[::-1], *rest[::-1]]
