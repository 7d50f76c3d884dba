"""Run many programs in several processes, and count the outcomes."""

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
"""What programs are compared with: modules with the functions `made_up` and `run`."""

TOGETHER = 200
"""The number of programs in a batch for a process."""

SECONDS = 20
"""The CPU time in seconds after which the process of a program is killed."""

MEMORY = 2**30
"""The memory that a program may allocate, in bytes."""


@dataclass
class Counts:
    """The outcomes of programs.

    Attributes:
        programs: the number of programs.
        done: how many times each operation ran on both sides.
        refused: how many times both sides raised an error.
        judged: how many times each known difference occurred.
        unjudged: the programs with another difference, with that difference.
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
        """Count the outcome of a program."""
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
    """Run the programs of these numbers, and count the outcomes; `way` is one of `WAYS`."""
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
    """Limit the memory of programs, where the system supports it.

    Args:
        seconds: the CPU time after which the process is killed; 0 for no limit.
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
    """Run programs in several processes, and count the outcomes.

    A program that kills its process is counted as a difference, without losing the others.
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
    """Run programs in a child process; if one kills it, run both halves separately."""
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
    """Return the simplest program found that shows a difference, with the difference."""
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
