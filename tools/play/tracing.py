"""Record what the threads of a GPU kernel do in the simulator of mt-cuda, turn by turn.

The backend selects the kernel, and the simulator runs its source. Accesses are recorded as for the
drawings of the documentation; they go to the real arrays, so that races are still detected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from drawings.blocks import Access, Recorded
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.machine import Grid, Size
from mt_cuda.core.simulator import SIZE, Cuda, Order, Simulator
from mt_cuda.extending import Number
from mt_tensor.extending import Array

BARRIER = "cuda.syncthreads()"


@dataclass(frozen=True)
class Turn:
    """What one thread does from one barrier to the next.

    Attributes:
        block: the index of its block.
        thread: its number in the block.
        phase: the number of barriers that the block has passed before.
        stops: the line of the barrier where the thread waits; None if it has ended.
        accesses: the accesses of elements, in order.
        registers: the variables of the thread at the last barrier that it has reached.
    """

    block: tuple[int, int]
    thread: int
    phase: int
    stops: int | None
    accesses: tuple[Access, ...]
    registers: dict[str, Any]

    def touched(self, array: str, writes: bool) -> set[Any]:
        """Return the elements of an array that were read or, instead, written."""
        return {a.at for a in self.accesses if a.array == array and a.writes == writes}


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, with the turns of its threads.

    Attributes:
        kernel: the kernel.
        threads: the number of threads per block.
        shapes: the shapes of the arrays in shared memory, by name.
        turns: the turns of all threads, in the order of the simulator.
    """

    kernel: Kernel
    threads: int
    shapes: dict[str, Any]
    turns: list[Turn] = field(default_factory=list)


class TracingSimulator(Simulator):
    """A simulator that records the turns of all threads.

    Args:
        size: the sizes that plan launches.
        order: the order in which threads run.
        barriers: whether to keep the barriers of kernels; without barriers, results may be wrong.

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

    def load(self, kernel: Kernel) -> _Traced:
        """Return a program that records its turns."""
        if not self.barriers:
            kernel = replace(kernel, source=kernel.source.replace(BARRIER, "pass"))
        return _Traced(kernel)

    def launch(
        self,
        loaded: Any,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Run every block; errors of the simulator are raised."""
        loaded.turns = []
        self.launches.append(Launch(loaded.kernel, threads, loaded.shapes, loaded.turns))
        super().launch(loaded, grid, threads, numbers, operands)


class _Traced(Recorded):
    """A kernel that records the turns of its threads."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.turns: list[Turn] = []

    def bind(self, cuda: Cuda) -> Callable[..., Any]:
        """Return the function that the threads of one block run."""
        function = super().bind(cuda)

        def run(*arguments: Any) -> Any:
            generator = function(*arguments)
            if generator is not None:
                return self._turns(generator, cuda)
            self._keep(cuda, None, {})  # a kernel without barriers has run in a single turn
            return None

        return run

    def _turns(self, generator: Any, cuda: Cuda) -> Iterator[None]:
        """Yield at each barrier, after recording a turn."""
        registers: dict[str, Any] = {}
        for _ in generator:
            registers = _registers(self.kernel, generator.gi_frame.f_locals)
            self._keep(cuda, generator.gi_frame.f_lineno, registers)
            yield
        self._keep(cuda, None, registers)

    def _keep(self, cuda: Cuda, stops: int | None, registers: dict[str, Any]) -> None:
        """Add the recorded accesses as a turn of the current thread."""
        block, accesses = (cuda.blockIdx.x, cuda.blockIdx.y), tuple(self.accesses)
        self.turns.append(Turn(block, cuda.threadIdx.x, cuda.phase, stops, accesses, registers))
        self.accesses.clear()


def _registers(kernel: Kernel, variables: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers and private arrays among the variables of a thread."""
    parameters = {parameter.name for parameter in kernel.parameters}
    return {
        name: np.copy(value)
        for name, value in variables.items()
        if name not in parameters and isinstance(value, int | float | np.generic | np.ndarray)
    }


def waiting(turns: Sequence[Turn], threads: int) -> set[int]:
    """Return the threads that wait at a barrier after some turns; none if all have arrived."""
    if not turns or turns[-1].stops is None:
        return set()
    here = {turn.thread for turn in turns if turn.phase == turns[-1].phase}
    return set() if len(here) == threads else here


def written(array: Array, name: str, turns: Iterable[Turn]) -> Array:
    """Return an array after the writes of some turns."""
    result = np.array(array, np.float64)
    for turn in turns:
        for access in turn.accesses:
            if access.array == name and access.writes:
                at = (
                    access.at
                    if isinstance(access.at, tuple)
                    else np.unravel_index(access.at, result.shape)
                )
                result[at] = access.value
    return result
