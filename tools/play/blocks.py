"""One block of threads at one moment, as HTML: threads, memory, registers and code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from mt_tensor.extending import Array
from play.tracing import Access, Turn

MOST_LISTED = 4
"""The number of accesses of each kind to list in a sentence."""


def describe_turn(turn: Turn, number: int) -> str:
    """Return a Markdown sentence on the turn of a thread."""
    does = "starts" if turn.phase == 0 else "continues"
    parts = [f"**{number}.** Thread {turn.thread} {does}"]
    for verb, writes in (("reads", False), ("writes", True)):
        accesses = [access for access in turn.accesses if access.writes == writes]
        if accesses:
            parts.append(f"{verb} {_named(accesses)}")
    end = "ends" if turn.stops is None else f"waits at the barrier in line {turn.stops}"
    return f"{', '.join(parts)} and {end}."


def _named(accesses: list[Access]) -> str:
    shown = [
        f"`{access.array}[{_at(access.at)}]`{f' = {short(access.value)}' if access.writes else ''}"
        for access in accesses[:MOST_LISTED]
    ]
    left = len(accesses) - len(shown)
    return ", ".join(shown) + (f", {left} more" if left else "")


def _at(at: Any) -> str:
    return ", ".join(map(str, at)) if isinstance(at, tuple) else str(at)


def short(value: Any) -> str:
    """Format a number, or an array of them, with four digits each."""
    if isinstance(value, np.ndarray):
        lines = value if value.ndim > 1 else [value]
        return "\n".join(" ".join(map(short, line)) for line in lines)
    if isinstance(value, int | np.integer):
        return str(int(value))
    return "" if np.isnan(value) else f"{float(value) + 0.0:.4g}"


def waiting(turns: list[Turn], done: int, threads: int) -> set[int]:
    """Return the threads that wait at a barrier; none if all have arrived."""
    if not done:
        return set()
    phase = turns[done - 1].phase
    here = {turn.thread for turn in turns[:done] if turn.phase == phase}
    return set() if len(here) == threads or turns[done - 1].stops is None else here


def block_html(turns: list[Turn], done: int, threads: int, given: Mapping[str, Array]) -> str:
    """Return the threads and the memory of a block after some turns.

    Args:
        turns: the turns of all threads of the block.
        done: the number of turns that are done.
        threads: the number of threads.
        given: the initial arrays in global memory, by their names in the kernel, in the shape in
            which they are shown; nan where nothing has been written.
    """
    now = turns[done - 1] if done else None
    latest = {turn.thread: turn for turn in turns[:done]}
    stopped = waiting(turns, done, threads)
    boxes = "".join(_thread(n, latest.get(n), n in stopped, now) for n in range(threads))
    shared = now.shared if now else {name: np.full_like(array, np.nan) for name, array in (
        turns[0].shared.items() if turns else ()
    )}  # fmt: skip
    arrays = "".join(_array(name, array, now) for name, array in shared.items())
    world = "".join(
        _array(name, _written(array, name, turns[:done]), now) for name, array in given.items()
    )
    keys = "".join(
        f'<span class="key" style="background:{colour}"></span>{meaning}'
        for colour, meaning in (("#d1622b", "written in this turn"), ("#3b82c4", "read in it"))
    )
    parts = [f'<h4>Threads</h4><div class="threads">{boxes}</div>']
    if arrays:
        parts.append(f'<h4>Shared memory {keys}</h4><div class="arrays">{arrays}</div>')
    parts.append(f'<h4>Global memory</h4><div class="arrays">{world}</div>')
    return f'<div class="mt-block">{"".join(parts)}</div>'


def _thread(number: int, latest: Turn | None, stopped: bool, now: Turn | None) -> str:
    if latest is None:
        kind, state = "ready", "not started"
    elif latest.stops is None:
        kind, state = "ended", "ended"
    elif stopped:
        kind, state = "waiting", f"waits, line {latest.stops}"
    else:
        kind, state = "free", f"free, line {latest.stops}"
    marked = " now" if latest is not None and latest is now else ""
    return f'<div class="thread {kind}{marked}"><b>Thread {number}</b><span>{state}</span></div>'


def _written(array: Array, name: str, turns: Iterable[Turn]) -> Array:
    """Return an array of global memory after the writes of some turns."""
    flat = np.array(array, np.float64).reshape(-1)
    for turn in turns:
        for access in turn.accesses:
            if access.array == name and access.writes:
                flat[access.at] = access.value
    return flat.reshape(array.shape)


def _array(name: str, array: Array, now: Turn | None) -> str:
    """Return an array as a table with numbered rows and columns."""
    read, written = (now.touched(name, writes) if now else set() for writes in (False, True))
    rows = np.atleast_2d(array)
    head = "".join(f"<th>{column}</th>" for column in range(rows.shape[1]))
    lines = []
    for i, row in enumerate(rows):
        cells = []
        for k, value in enumerate(row):
            places = {(i, k), i * rows.shape[1] + k}
            kind = "written" if places & written else "read" if places & read else ""
            cells.append(f'<td class="{kind}">{short(value) or "·"}</td>')
        label = i if len(rows) > 1 else ""
        lines.append(f"<tr><th>{label}</th>{''.join(cells)}</tr>")
    return (
        f'<div><code>{escape(name)}</code><div class="scrolled"><table><tr><th></th>{head}</tr>'
        f"{''.join(lines)}</table></div></div>"
    )


def registers_html(turns: list[Turn], done: int, threads: int) -> str:
    """Return the variables of each thread at the end of its latest turn, one column per thread."""
    latest = {turn.thread: turn.registers for turn in turns[:done]}
    now = turns[done - 1].thread if done else None
    names = dict.fromkeys(name for registers in latest.values() for name in registers)
    head = "".join(f"<th>{thread}</th>" for thread in range(threads))
    rows = []
    for name in names:
        cells = "".join(
            f'<td class="{"column" if thread == now else ""}">'
            f"{short(latest.get(thread, {}).get(name, np.nan))}</td>"
            for thread in range(threads)
        )
        rows.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    return (
        f'<div class="mt-block"><div class="scrolled"><table><tr><th>thread</th>{head}</tr>'
        f"{''.join(rows)}</table></div></div>"
    )


def code_html(source: str, turns: list[Turn], done: int, threads: int) -> str:
    """Return a kernel, with the lines of the last turn and the position of each thread marked."""
    now = turns[done - 1] if done else None
    stopped = waiting(turns, done, threads)
    places: dict[tuple[int, bool], list[int]] = {}
    for turn in {turn.thread: turn for turn in turns[:done]}.values():
        if turn.stops is not None:
            places.setdefault((turn.stops, turn.thread in stopped), []).append(turn.thread)
    lines = []
    for number, line in enumerate(source.splitlines(), 1):
        ran = " ran" if now is not None and number in now.lines else ""
        here = "".join(
            f'<span class="here {word}">{word}: {", ".join(map(str, sorted(found)))}</span>'
            for word, waits in (("waiting", True), ("free", False))
            if (found := places.get((number, waits)))
        )
        lines.append(
            f'<span class="line{ran}"><span class="at">{number}</span>{escape(line)}{here}</span>'
        )
    return (
        f'<div class="mt-block"><div class="scrolled"><div class="code">'
        f"{''.join(lines)}</div></div></div>"
    )
