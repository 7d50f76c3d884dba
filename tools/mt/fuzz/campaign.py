"""Running many programs, in several processes, and counting what they did."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import mt_tensor as mt
from mt.fuzz import compiled, running
from mt.fuzz.differences import Difference
from mt.fuzz.programs import Step
from mt.fuzz.running import Run
from mt.fuzz.shrinking import shrunk

WAYS = {"torch": running, "compiled": compiled}
"""What programs are compared with: each has the functions `made_up` and `run`."""

TOGETHER = 200
"""Programs that a process is given at a time."""

SECONDS = 20
"""A program that computes longer has its process ended."""

MEMORY = 2**30
"""Bytes that a program may ask for beyond those that its process has already."""


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


def count_some(seed: int, numbers: Sequence[int], backend: str, way: str = "torch") -> Counts:
    """Run the programs of these numbers, and count what they did; `way` is one of `WAYS`."""
    counts = Counts()
    with mt.use_backend(backend):
        for number in numbers:
            with limited(SECONDS):
                try:
                    counts.count(number, *WAYS[way].made_up(seed, number))
                except Exception as error:
                    error.add_note(f"in program {number} of seed {seed}")
                    raise
    return counts


@contextmanager
def limited(seconds: float = 0) -> Iterator[None]:
    """Limit the memory that programs take, where the system knows how.

    Args:
        seconds: what they may compute before the process is ended; 0 for as long as they will.
    """
    try:
        import resource
    except ImportError:
        yield
        return
    running.torch_loaded()
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)


def count_all(seed: int, numbers: Sequence[int], backend: str, way: str, processes: int) -> Counts:
    """Run programs in several processes, and count what they did.

    A program that ends its process is counted as a difference; the others are not lost by it.
    """
    if processes == 1 and len(numbers) <= TOGETHER:
        return count_some(seed, numbers, backend, way)
    counts = Counts()
    parts = [numbers[i : i + TOGETHER] for i in range(0, len(numbers), TOGETHER)]
    with ThreadPoolExecutor(processes) as threads:
        for found in threads.map(lambda part: _count_apart(seed, part, backend, way), parts):
            counts += found
    return counts


def _count_apart(seed: int, numbers: Sequence[int], backend: str, way: str) -> Counts:
    """Run programs in a process of their own; if one ends it, both halves in one each."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(count_some, seed, numbers, backend, way).result()
    except BrokenProcessPool:
        if len(numbers) == 1:
            return Counts(unjudged=[(numbers[0], "?", Difference("crash", "", "", ""))])
    middle = len(numbers) // 2
    counts = _count_apart(seed, numbers[:middle], backend, way)
    counts += _count_apart(seed, numbers[middle:], backend, way)
    return counts


def least(
    program: Run, difference: Difference, way: str = "torch"
) -> tuple[list[Step], Difference]:
    """Return the simplest program found that shows a difference, and the difference."""
    operation = program.steps[-1].operation
    latest = [difference]

    def shows(steps: list[Step]) -> bool:
        try:
            other, found = WAYS[way].run(steps, program.watched)
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
