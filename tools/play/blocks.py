"""One block of threads at one moment, as tables: threads with registers, memory, and code."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.extending import Array
from play.tracing import Turn, waiting

MOST_LISTED = 4
"""The number of accesses of each kind to list in a sentence."""


def describe_turn(turn: Turn, number: int) -> str:
    """Return a Markdown sentence on the turn of a thread."""
    parts = [f"**{number}.** Thread {turn.thread} {'continues' if turn.phase else 'starts'}"]
    for verb, writes in (("reads", False), ("writes", True)):
        found = [
            f"`{each.array}[{', '.join(map(str, np.atleast_1d(each.at)))}]` = {short(each.value)}"
            for each in turn.accesses
            if each.writes == writes
        ]
        if found:
            more = f", {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
            parts.append(f"{verb} {', '.join(found[:MOST_LISTED])}{more}")
    end = "ends" if turn.stops is None else f"waits at the barrier in line {turn.stops}"
    return f"{', '.join(parts)} and {end}."


def short(value: Any) -> str:
    """Format a number, or an array of them, with four digits each; nan is empty."""
    if np.ndim(value):
        return " ".join(map(short, value))
    return "" if np.isnan(value) else f"{float(value) + 0.0:.4g}"


def thread_rows(turns: list[Turn], threads: int) -> list[dict[str, str]]:
    """Return a row for each thread after some turns: its state, and its registers."""
    latest = {turn.thread: turn for turn in turns}
    stopped = waiting(turns, threads)
    names = dict.fromkeys(name for turn in latest.values() for name in turn.registers)
    rows = []
    for thread in range(threads):
        turn = latest.get(thread)
        registers = turn.registers if turn else {}
        rows.append(
            {
                "Thread": f"**{thread}**" if turns and turn is turns[-1] else str(thread),
                "State": _state(turn, thread in stopped),
                **{name: short(registers.get(name, np.nan)) for name in names},
            }
        )
    return rows


def _state(latest: Turn | None, stopped: bool) -> str:
    if latest is None:
        return "not started"
    if latest.stops is None:
        return "ended"
    return f"{'waits' if stopped else 'may continue'}, line {latest.stops}"


def array_rows(name: str, array: Array, now: Turn | None) -> list[list[str]]:
    """Return an array as rows of Markdown: orange was written in this turn, blue was read."""
    read, wrote = (now.touched(name, writes) if now else set() for writes in (False, True))
    rows = np.atleast_2d(array)

    def cell(i: int, k: int) -> str:
        places = {(i, k), i * rows.shape[1] + k}
        text = short(rows[i, k]) or "·"
        if places & wrote:
            return f":orange-background[{text}]"
        return f":blue-background[{text}]" if places & read else text

    return [[cell(i, k) for k in range(rows.shape[1])] for i in range(len(rows))]


def code_lines(source: str, turns: list[Turn]) -> str:
    """Return a kernel, with comments that say at which barriers its threads are."""
    lines = source.splitlines()
    latest = {turn.thread: turn.stops for turn in turns}
    for number in {stops for stops in latest.values() if stops}:
        here = sorted(thread for thread, stops in latest.items() if stops == number)
        lines[number - 1] += f"  # here: threads {', '.join(map(str, here))}"
    return "\n".join(lines)
