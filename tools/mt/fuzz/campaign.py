"""Running many programs, in several processes, and counting what they did."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

import mt_tensor as mt
from mt.fuzz.differences import Difference
from mt.fuzz.programs import Step
from mt.fuzz.running import Run, made_up, run
from mt.fuzz.shrinking import shrunk

TOGETHER = 200
"""Programs that a process is given at a time."""

SECONDS = 120
"""A program that takes longer has its process ended."""


@dataclass
class Counts:
    """What programs did.

    Attributes:
        programs: how many there were.
        done: how often each operation was run by both sides.
        refused: how often both refused it.
        judged: how often each kind of judged difference was met.
        unjudged: the programs with another difference, and what it was.
    """

    programs: int = 0
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    unjudged: list[tuple[int, str, Difference]] = field(default_factory=list)

    def __iadd__(self, other: Counts) -> Counts:
        self.programs += other.programs
        self.done += other.done
        self.refused += other.refused
        self.judged += other.judged
        self.unjudged += other.unjudged
        return self

    def count(self, number: int, program: Run, difference: Difference | None) -> None:
        """Count what a program did."""
        self.programs += 1
        self.judged.update(program.met)
        for i, step in enumerate(program.steps):
            if i in program.refused:
                self.refused[step.operation] += 1
            else:
                self.done[step.operation] += 1
        if difference is not None:
            self.unjudged.append((number, program.steps[-1].operation, difference))


def count_some(seed: int, numbers: Sequence[int], backend: str) -> Counts:
    """Run the programs of these numbers."""
    counts = Counts()
    with mt.use_backend(backend):
        for number in numbers:
            if hasattr(signal, "alarm"):
                signal.alarm(SECONDS)
            counts.count(number, *made_up(seed, number))
    if hasattr(signal, "alarm"):
        signal.alarm(0)
    return counts


def count_all(seed: int, numbers: Sequence[int], backend: str, processes: int) -> Counts:
    """Run programs in several processes, and count what they did."""
    if processes == 1 and len(numbers) <= TOGETHER:
        return count_some(seed, numbers, backend)
    counts = Counts()
    parts = [numbers[i : i + TOGETHER] for i in range(0, len(numbers), TOGETHER)]
    while parts:
        left = _count_parts(counts, seed, parts, backend, processes)
        for part in left[: 2 * processes]:  # one of these has ended its process
            _count_alone(counts, seed, part, backend)
        parts = left[2 * processes :]
    return counts


def _count_alone(counts: Counts, seed: int, part: Sequence[int], backend: str) -> None:
    """Count what a part does, half by half if it ends its process."""
    if not _count_parts(counts, seed, [part], backend, 1):
        return
    if len(part) == 1:
        counts.unjudged.append((part[0], "?", Difference("crash", "", "", "")))
        return
    for half in (part[: len(part) // 2], part[len(part) // 2 :]):
        _count_alone(counts, seed, half, backend)


def _count_parts(
    counts: Counts, seed: int, parts: Sequence[Sequence[int]], backend: str, processes: int
) -> list[Sequence[int]]:
    """Count what parts do until a program ends its process; return those that are left."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        running = {pool.submit(count_some, seed, part, backend): part for part in parts}
        for future in as_completed(list(running)):
            try:
                counts += future.result()
            except BrokenProcessPool:
                break
            del running[future]
    return list(running.values())


def least(program: Run, difference: Difference) -> tuple[list[Step], Difference]:
    """Return the simplest program found that shows a difference, and the difference."""
    operation = program.steps[-1].operation
    latest = [difference]

    def shows(steps: list[Step]) -> bool:
        try:
            other, found = run(steps, program.watched)
        except SyntaxError:
            return False
        same = (
            found is not None
            and len(other.steps) == len(steps)
            and found.kind == difference.kind
            and steps[-1].operation == operation
        )
        if same and found is not None:
            latest[0] = found
        return same

    steps = shrunk(program.steps, shows, program.elements)
    return steps, latest[0]
