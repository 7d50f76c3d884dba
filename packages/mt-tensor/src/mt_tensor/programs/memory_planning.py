"""Memory planning: results are written to buffers that are no longer needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mt_tensor.programs.program import (
    Buffer,
    Instruction,
    View,
    last_uses,
    shared_groups,
    substitute,
)

MIN_SIZE = 4096
"""The minimum number of elements of reused buffers; smaller ones are allocated quickly."""

ALLOCATING = ("copy", "gather", "matmul", "random", "reduce")
"""Methods of the contract, besides `elementwise`, whose result is a new buffer."""


def reuse_buffers(calls: Sequence[Instruction], live_out: set[Any]) -> list[Instruction]:
    """Let elementwise operations write to buffers whose elements are no longer needed."""
    last = last_uses(calls, live_out)
    fixed = shared_groups(calls) | live_out
    replacements: dict[Buffer, Buffer] = {}
    alive: dict[Any, View] = {}
    free: dict[Any, list[View]] = {}
    planned = []
    for position, original in enumerate(calls):
        call = substitute(original, replacements)
        is_elementwise = call.formula is not None
        for view in call.makes if is_elementwise or call.name in ALLOCATING else ():
            group, layout = view.buffer.group, view.layout
            if layout.contiguous is not layout or layout.size < MIN_SIZE or group in fixed:
                continue
            alive[group] = view
            if not is_elementwise or len(call.makes) > 1:
                continue
            reusable = (
                each
                for each in call.reads
                if each.layout is layout and last[each.buffer.group] <= position
                if each.buffer.group in alive
            )
            candidates = free.get((id(call.backend), layout))
            used = next(reusable, None) or (candidates and candidates.pop())
            if used:
                replacements[view.buffer] = used.buffer
                last[used.buffer.group] = last[group]
                arguments = ([used], *call.arguments[1:])
                call = replace(call, arguments=arguments, results=None, changes=[used], pure=False)
                del alive[group]
                alive[used.buffer.group] = used
        for group in [group for group in alive if last[group] <= position]:
            view = alive.pop(group)
            free.setdefault((id(call.backend), view.layout), []).append(view)
        planned.append(call)
    return planned
