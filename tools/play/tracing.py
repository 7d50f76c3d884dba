"""What the threads of a GPU do, written down while the simulator of mt-cuda runs a kernel.

Nothing is acted out: the backend chooses the kernel, and the simulator runs its text. What it hands
to the text, arrays and the function that makes shared ones, is watched on the way: each access goes
on to the real array, which refuses races as ever, and is noted.
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
    """One element that a thread has read or written.

    Attributes:
        array: the name of the array in the kernel.
        at: the position of the element, or its index in each dimension.
        value: what was read or written.
        writes: whether it was written.
        shared: whether the array is in the shared memory of the block.
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
        block: which block the thread belongs to.
        thread: its number in the block.
        phase: how many barriers the block has passed before.
        stops: the number of the line at whose barrier the thread waits now; None if it has ended.
        lines: the numbers of the lines that were executed.
        accesses: of elements, in their order.
        registers: the variables of the thread at the end of its turn, numbers and arrays.
        shared: the arrays in shared memory then; nan where nobody has written.
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
        """Return which elements of an array were read or, instead, written."""
        return {a.at for a in self.accesses if a.array == array and a.writes == writes}


@dataclass(frozen=True)
class Launch:
    """A kernel, how it was launched, and what its threads did.

    Attributes:
        kernel: what was run.
        grid: how many blocks there were.
        threads: how many threads each of them had.
        turns: of all threads, in the order of the simulator.
    """

    kernel: Kernel
    grid: Grid
    threads: int
    turns: list[Turn] = field(default_factory=list)

    def of_block(self, block: tuple[int, int]) -> list[Turn]:
        """Return the turns of the threads of one block."""
        return [turn for turn in self.turns if turn.block == block]


class TracingSimulator(Simulator):
    """The simulator, which keeps what the threads did.

    Args:
        size: how work is spread over threads and blocks.
        order: in which order threads are run.
        barriers: whether kernels keep their barriers; without them they are wrong.

    Attributes:
        launches: all so far.
    """

    def __init__(
        self, size: Size = SIZE, order: Order = "forward", *, barriers: bool = True
    ) -> None:
        super().__init__(order)
        self.size = size
        self.barriers = barriers
        self.launches: list[Launch] = []

    def load(self, kernel: Kernel) -> Program:
        """Return a program that notes what it does."""
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
        """Run every block; raises what the simulator raises."""
        self.launches.append(Launch(loaded.kernel, grid, threads))
        super().launch(loaded, grid, threads, numbers, operands)


class PlanningMachine(Simulator):
    """A machine of the size of a GPU that runs nothing, and only keeps what it was to run.

    Args:
        size: how work is spread over threads and blocks.
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
        """Keep a launch."""
        self.launches.append(Launch(loaded.kernel, grid, threads))


# --- Watching -----------------------------------------------------------------------------------


class _Watched:
    """An array that notes who touches it, and hands everything on to the real one.

    It keeps its own copy of what was written, for looking at shared memory is an access as well.
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
"""An access, while nobody knows the name of the array: where, what, and whether it is written."""


class _Traced(Program):
    """A kernel whose turns are kept by the latest of the launches."""

    def __init__(self, kernel: Kernel, launches: list[Launch]) -> None:
        super().__init__(kernel)
        self._launches = launches

    def bind(self, cuda: Any) -> Callable[..., Any]:
        """Return the kernel for the threads of one block, each of whose turns is noted."""
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
    """What is known of a block while its threads run."""

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
        """Let a thread begin; one that knows no barrier is done then, and this was its turn."""
        result = self._traced(action)
        if result is None:
            self._keep(None)
        return result

    def turns_of(self, generator: Any) -> Iterator[None]:
        """Yield where the thread waits, after each of its turns."""
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
        """Run a part of the kernel, and note its lines and in the end its variables."""
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
        """Keep what has been noted as a turn of the thread that runs."""
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
