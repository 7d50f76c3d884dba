"""The order of calls and their memory: errors come first, results go where nobody reads again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.core.layout import Layout
from mt_tensor.programs.program import (
    Box,
    Instruction,
    View,
    groups_of_several,
    last_uses,
    marks_in,
    with_others,
)


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
        gives = {id(mark) for mark in marks_in(calls[at].results) if type(mark) is Box}
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
    shared |= groups_of_several(calls)
    instead: dict[Any, View] = {}
    alive: dict[Any, View] = {}
    free: dict[Any, list[View]] = {}
    left = []
    for position, each in enumerate(calls):
        each = with_others(each, instead)  # noqa: PLW2901
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
