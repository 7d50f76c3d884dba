"""Record what the threads of a GPU kernel do in the simulator of mt-cuda.

The backend selects the kernel, and the simulator runs its source. The arrays, and the function that
creates shared ones, are wrapped: each access goes to the real array, which still detects races, and
is recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from mt_cuda.core.kernel import Kernel
from mt_cuda.core.machine import Grid, Size
from mt_cuda.core.simulator import SIZE, Memory, Order, Program, Simulator
from mt_cuda.extending import Number

BARRIER = "cuda.syncthreads()"


@dataclass(frozen=True)
class Access:
    """A read or write of one element by a thread.

    Attributes:
        array: the name of the array in the kernel.
        at: the position of the element, or its index in each dimension.
        value: the value read or written.
        writes: whether it is a write.
        shared: whether the array is in shared memory.
    """

    array: str
    at: int | tuple[int, ...]
    value: float
    writes: bool
    shared: bool


@dataclass(frozen=True)
class Turn:
    """What one thread does from one barrier to the next.

    Attributes:
        block: the index of its block.
        thread: its number in the block.
        phase: the number of barriers that the block has passed before.
        stops: the line of the barrier where the thread waits; None if it has ended.
        lines: the lines that were executed.
        accesses: the accesses of elements, in order.
        registers: the variables of the thread at the end of its turn.
        shared: the arrays in shared memory at that time; nan where nothing has been written.
    """

    block: tuple[int, int]
    thread: int
    phase: int
    stops: int | None
    lines: frozenset[int]
    accesses: tuple[Access, ...]
    registers: dict[str, Any]
    shared: dict[str, Any]

    def touched(self, array: str, writes: bool) -> set[Any]:
        """Return the elements of an array that were read or, instead, written."""
        return {a.at for a in self.accesses if a.array == array and a.writes == writes}


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, with the turns of its threads.

    Attributes:
        kernel: the kernel.
        grid: the number of blocks.
        threads: the number of threads per block.
        turns: the turns of all threads, in the order of the simulator.
    """

    kernel: Kernel
    grid: Grid
    threads: int
    turns: list[Turn] = field(default_factory=list)

    def of_block(self, block: tuple[int, int]) -> list[Turn]:
        """Return the turns of the threads of one block."""
        return [turn for turn in self.turns if turn.block == block]


class TracingSimulator(Simulator):
    """A simulator that records the turns of all threads.

    Args:
        size: the sizes that plan launches.
        order: the order in which threads run.
        barriers: whether to keep the barriers of kernels; without them they are wrong.

    Attributes:
        launches: all launches so far.
    """

    def __init__(
        self, size: Size = SIZE, order: Order = "forward", *, barriers: bool = True
    ) -> None:
        super().__init__(order)
        self.size = size
        self.barriers = barriers
        self.launches: list[Launch] = []

    def load(self, kernel: Kernel) -> Program:
        """Return a program that records its accesses."""
        if not self.barriers:
            kernel = replace(kernel, source=kernel.source.replace(BARRIER, "pass"))
        return _Traced(kernel, self.launches)

    def launch(
        self,
        loaded: Program,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Run every block; errors of the simulator are raised."""
        self.launches.append(Launch(loaded.kernel, grid, threads))
        super().launch(loaded, grid, threads, numbers, operands)


class PlanningMachine(Simulator):
    """A machine with the size of a GPU that only records launches, without running them.

    Args:
        size: the sizes that plan launches.
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.launches: list[Launch] = []

    def launch(
        self,
        loaded: Program,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Record a launch."""
        self.launches.append(Launch(loaded.kernel, grid, threads))


# --- Recording ----------------------------------------------------------------------------------


class _Watched:
    """An array that records accesses, and forwards them to the real one.

    It keeps a copy of writes, because reading shared memory would itself be an access.
    """

    def __init__(
        self, name: str, array: Any, noted: list[_Noted], written: Any | None = None
    ) -> None:
        self.name = name
        self.array = array
        self.noted = noted
        self.written = written

    def __getitem__(self, at: Any) -> Any:
        value = self.array[at]
        self._note(at, value, False)
        return value

    def __setitem__(self, at: Any, value: Any) -> None:
        self.array[at] = value
        self._note(at, value, True)
        if self.written is not None:
            self.written[at] = value

    def _note(self, at: Any, value: Any, writes: bool) -> None:
        self.noted.append((self, at, float(value), writes))


_Noted = tuple[_Watched, Any, float, bool]
"""An access before the name of the array is known: array, index, value, and whether it writes."""


class _Traced(Program):
    """A kernel that adds its turns to the latest launch."""

    def __init__(self, kernel: Kernel, launches: list[Launch]) -> None:
        super().__init__(kernel)
        self._launches = launches

    def bind(self, cuda: Any) -> Callable[..., Any]:
        """Return the kernel for the threads of one block, which records each of their turns."""
        function = super().bind(cuda)
        block = _Block(self.kernel, cuda, self._launches[-1].turns)
        names = [parameter.name for parameter in self.kernel.parameters]

        def run(*arguments: Any) -> Any:
            watched = [
                _Watched(name, argument, block.noted) if isinstance(argument, Memory) else argument
                for name, argument in zip(names, arguments, strict=True)
            ]
            generator = block.take(lambda: function(*watched))
            return block.turns_of(generator) if generator is not None else None

        return run


class _Block:
    """The record of a block while its threads run."""

    def __init__(self, kernel: Kernel, cuda: Any, turns: list[Turn]) -> None:
        self.kernel = kernel
        self.cuda = cuda
        self.turns = turns
        self.noted: list[_Noted] = []
        self._lines: set[int] = set()
        self._registers: dict[str, Any] = {}
        self._shared: dict[int, _Watched] = {}
        self._make_shared = cuda.shared.array
        cuda.shared.array = self._shared_array

    def take(self, action: Callable[[], Any]) -> Any:
        """Start a thread; without barriers it is done then, and this was its only turn."""
        result = self._traced(action)
        if result is None:
            self._keep(None)
        return result

    def turns_of(self, generator: Any) -> Iterator[None]:
        """Yield at each barrier, after recording a turn."""
        ended = object()
        while self._traced(lambda: next(generator, ended)) is not ended:
            self._keep(generator.gi_frame.f_lineno)
            yield
        self._keep(None)

    def _shared_array(self, shape: Any, dtype: Any) -> _Watched:
        array = self._make_shared(shape, dtype)
        if id(array) not in self._shared:
            self._shared[id(array)] = _Watched("", array, self.noted, np.full(shape, np.nan))
        return self._shared[id(array)]

    def _traced(self, action: Callable[[], Any]) -> Any:
        """Run a part of the kernel, and record its lines and its final variables."""
        filename = f"<kernel {self.kernel.name}>"

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename != filename:
                return None
            if event == "line":
                self._lines.add(frame.f_lineno)
            if event == "return" and frame.f_code.co_name == self.kernel.name:
                self._registers = dict(frame.f_locals)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return action()
        finally:
            sys.settrace(before)

    def _keep(self, stops: int | None) -> None:
        """Add the recorded accesses as a turn of the current thread."""
        parameters = {parameter.name for parameter in self.kernel.parameters}
        registers: dict[str, Any] = {}
        for name, value in self._registers.items():
            if isinstance(value, _Watched):
                value.name = name
            elif name not in parameters and isinstance(value, int | float | np.generic):
                registers[name] = value
            elif isinstance(value, np.ndarray):
                registers[name] = value.copy()
        accesses = tuple(
            Access(array.name, at, value, writes, array.written is not None)
            for array, at, value, writes in self.noted
        )
        shared = {array.name: np.array(array.written) for array in self._shared.values()}
        index, thread = self.cuda.blockIdx, self.cuda.threadIdx.x
        lines, block = frozenset(self._lines), (index.x, index.y)
        self.turns.append(
            Turn(block, thread, self.cuda.phase, stops, lines, accesses, registers, shared)
        )
        self.noted.clear()
        self._lines.clear()
