"""A GPU simulated in Python, to study and test kernels without a GPU.

Set `MT_CUDA_SIM=1` to run the backend `cuda` on any machine. The simulator runs the source of a
kernel with one change: a barrier, `cuda.syncthreads()`, becomes `yield`. So every thread of a block
is a generator. The simulator runs one thread after the other, each until it waits at a barrier;
when all threads wait, it continues with the first:

    thread 0:  ---|        ---|
    thread 1:     |---        |---
    thread 2:     |   ---     |   ---
                     all are here: barrier

It is slow, and stricter than a GPU. It detects errors that a GPU would ignore: accesses outside an
array, barriers that some threads never reach, and, with `simulation/`, threads that access the same
shared memory without a barrier in between. New memory is filled with nan or a pattern, to reveal
reads of uninitialized elements. Threads may run in either order, which must not change the results.

Arithmetic is NumPy's, on scalars of the kernel's types: float32 stays float32, integers wrap. The
simulator cannot test the speed of a kernel, or the last digits of functions such as `exp`.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from mt_cuda.core.device import LIBRARY
from mt_cuda.core.elements import stored_type
from mt_cuda.core.errors import BarrierError, OutOfBoundsError, OutOfMemoryError, SimulationError
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.machine import Grid, Machine, Number, Size
from mt_cuda.core.matrix import Tiling
from mt_operators.core import elementary
from mt_tensor import DType, bfloat16
from mt_tensor.core.dtypes import DTYPES, Array
from mt_tensor.core.numpy_functions import FUNCTIONS

Order = Literal["forward", "reversed"]

SIZE = Size(
    threads=8,
    resident=2,
    parallel=4,
    least=2,
    large=Tiling(side=2, each=4, depth=3),
    small=Tiling(side=2, each=2, depth=3),
    enough=4,
)
"""A tiny GPU: with so few threads, even small tensors exercise every loop, chunk and edge."""


class Simulator(Machine):
    """The machine that runs kernels in Python.

    Attributes:
        order: the order in which the blocks, and the threads of a block, run.
    """

    size = SIZE

    def __init__(self, order: Order = "forward") -> None:
        self.order: Order = order

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Return memory filled with nan for floats, and a pattern for integers.

        Raises:
            OutOfMemoryError: there is not enough memory.
        """
        try:
            if dtype is bfloat16:
                return Memory(np.full(count, 0x7FC0, np.uint16), dtype)  # nan
            return Memory(_unwritten(count, stored_type(dtype)), dtype)
        except MemoryError as error:
            raise OutOfMemoryError(f"no memory for {count:,} elements of {dtype.name}.") from error

    def upload(self, values: Array) -> Memory:
        """Copy an array."""
        dtype = next(d for d in DTYPES.values() if d.numpy == values.dtype)
        return Memory(values.view(stored_type(dtype)).copy(), dtype)

    def download(self, memory: Memory, count: int) -> Array:
        """Copy the first elements."""
        return memory.elements[:count].view(memory.dtype.numpy).copy()

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Reinterpret memory as elements of another dtype, without an incomplete last one."""
        size = memory.elements.nbytes // dtype.itemsize * dtype.itemsize
        return Memory(memory.elements.view(np.uint8)[:size].view(stored_type(dtype)), dtype)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Return whether two allocations may overlap."""
        return np.may_share_memory(a.elements, b.elements)

    def identity(self, memory: Memory) -> Hashable:
        """Return the id of the array that owns the elements."""
        return id(memory.elements if memory.elements.base is None else memory.elements.base)

    def load(self, kernel: Kernel) -> Program:
        """Compile a kernel, with `yield` for barriers."""
        return Program(kernel)

    def launch(
        self,
        loaded: Program,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Run every block, one after the other.

        Raises:
            BarrierError: some threads of a block wait at a barrier that others never reach.
            RaceError: two threads accessed the same shared memory without a barrier in between.
            OutOfBoundsError: a thread accessed memory outside its array.
            SimulationError: a thread failed for another reason, or there are no threads.
        """
        if 0 in (*grid, threads):
            raise SimulationError(
                f"{loaded.kernel.name} was launched with {grid} blocks of {threads} threads, which "
                "is invalid. Launch no kernel for an empty tensor."
            )
        arguments = (*numbers, *operands)
        if len(arguments) != len(loaded.kernel.parameters):
            raise SimulationError(
                f"{loaded.kernel.name} takes {len(loaded.kernel.parameters)} arguments, and was "
                f"launched with {len(arguments)}."
            )
        blocks = [(x, y) for y in range(grid[1]) for x in range(grid[0])]
        with np.errstate(all="ignore"):
            for block in self._ordered(blocks):
                cuda = Cuda(grid, block, threads)
                function = loaded.bind(cuda)
                order = list(self._ordered(range(threads)))
                start = functools.partial(function, *arguments)
                _run_block(loaded.kernel.name, cuda, order, start)

    def _ordered(self, things: Sequence[Any]) -> Iterator[Any]:
        return iter(things) if self.order == "forward" else reversed(things)

    def synchronize(self) -> None:
        """Do nothing: launches are synchronous."""

    def describe(self) -> str:
        """Return a description of the simulator."""
        return "simulated in Python, one thread after the other"


# --- Threads ------------------------------------------------------------------------------------


def _run_block(name: str, cuda: Cuda, order: Sequence[int], start: Callable[[], Any]) -> None:
    """Run the threads of one block from barrier to barrier; errors name the thread."""
    waiting: dict[int, Iterator[None]] = {}
    try:
        for thread in order:
            cuda.threadIdx.x = thread
            started = start()
            if started is not None:  # a kernel with barriers is a generator that has not started
                waiting[thread] = started
        here = list(waiting)
        while here and len(here) == len(waiting):
            here = []
            for thread, generator in waiting.items():
                cuda.threadIdx.x = thread
                if next(generator, _ENDED) is not _ENDED:
                    here.append(thread)
            cuda.phase += 1
    except Exception as error:
        kind = type(error) if isinstance(error, SimulationError) else SimulationError
        raise kind(
            f"{name}: thread {cuda.threadIdx.x} of block {_show(cuda.blockIdx)}: "
            f"{error if kind is type(error) else repr(error)}"
        ) from error
    if here:
        raise BarrierError(
            f"{name}: in block {_show(cuda.blockIdx)} thread(s) {sorted(here)} wait at a barrier "
            f"that thread(s) {sorted(set(waiting) - set(here))} never reach. Every thread of a "
            "block must reach every barrier: move syncthreads() out of the branch."
        )


_ENDED = object()


def _show(index: SimpleNamespace) -> str:
    return f"({index.x}, {index.y})"


# --- Programs -----------------------------------------------------------------------------------


class Program:
    """A kernel compiled to Python code."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        filename = f"<kernel {kernel.name}>"
        lines = kernel.source.splitlines(keepends=True)
        linecache.cache[filename] = (len(kernel.source), None, lines, filename)
        tree = ast.parse(kernel.source.replace("cuda.syncthreads()", "yield"), filename)
        for transform in TRANSFORMS:
            tree = transform.visit(tree)
        self._code = compile(tree, filename, "exec")

    def bind(self, cuda: Cuda) -> Callable[..., Any]:
        """Return the function that the threads of one block run."""
        namespace: dict[str, Any] = {**NAMES, "cuda": cuda}
        exec(self._code, namespace)
        function: Callable[..., Any] = namespace[self.kernel.name]
        return function


TRANSFORMS: list[ast.NodeTransformer] = []
"""Transformations of kernels before Python runs them (`simulation/` adds one)."""


def _power(x: Any, y: Any) -> Any:
    """Return a power in the type of its arguments.

    NumPy computes a scalar power of 0.5 as a square root, which is nan for -inf.
    """
    return np.result_type(x, y).type(elementary.pow(float(x), float(y)))


NAMES: dict[str, Any] = {
    **{dtype.name: dtype.numpy.type for dtype in DTYPES.values() if dtype.name != "bool"},
    "index32": int,  # Python's integers are exact and fast
    "inf": np.inf,
    "nan": np.nan,
    "math": SimpleNamespace(**{**FUNCTIONS, "pow": _power}),
    "libdevice": SimpleNamespace(
        **{
            f"{device}{suffix}": FUNCTIONS[name]
            for name, device in LIBRARY.items()
            for suffix in ("", "f")
        }
    ),
}
"""The values of the names in kernels, except `cuda` (`simulation/` adds functions)."""


SHARED: dict[str, Callable[[Cuda, Array], Any]] = {"array": lambda _, elements: elements}
"""The function that creates shared memory from an array (`simulation/`: detects races)."""


class Cuda:
    """The value of `cuda` in kernels, for the threads of one block."""

    def __init__(self, grid: Grid, block: tuple[int, int], threads: int) -> None:
        self.gridDim = SimpleNamespace(x=grid[0], y=grid[1], z=1)
        self.blockIdx = SimpleNamespace(x=block[0], y=block[1], z=0)
        self.blockDim = SimpleNamespace(x=threads, y=1, z=1)
        self.threadIdx = SimpleNamespace(x=0, y=0, z=0)
        self.shared = SimpleNamespace(array=self._shared_array)
        self.local = SimpleNamespace(array=self._local_array)
        self.atomic = SimpleNamespace(add=self._add, max=self._max, min=self._min)
        self.phase = 0  # the number of barriers passed
        self._arrays: list[Any] = []
        self._requested: dict[int, int] = {}

    def grid(self, _: int) -> int:
        """Return the index of this thread in the grid."""
        return int(self.blockIdx.x * self.blockDim.x + self.threadIdx.x)

    def gridsize(self, _: int) -> int:
        """Return the number of threads in the grid."""
        return int(self.gridDim.x * self.blockDim.x)

    def _shared_array(self, shape: Any, dtype: Any) -> Any:
        """Return a shared array: the n-th call of every thread returns the n-th array."""
        thread = self.threadIdx.x
        number = self._requested.get(thread, 0)
        self._requested[thread] = number + 1
        if number == len(self._arrays):
            self._arrays.append(SHARED["array"](self, _unwritten(shape, dtype)))
        return self._arrays[number]

    def _local_array(self, shape: Any, dtype: Any) -> Array:
        return _unwritten(shape, dtype)

    @staticmethod
    def _add(memory: Memory, at: int, value: Any) -> None:
        memory[at] = memory[at] + value

    @staticmethod
    def _max(memory: Memory, at: int, value: Any) -> None:
        memory[at] = max(memory[at], value)

    @staticmethod
    def _min(memory: Memory, at: int, value: Any) -> None:
        memory[at] = min(memory[at], value)


# --- Memory -------------------------------------------------------------------------------------


def _unwritten(shape: Any, of: Any) -> Array:
    """Return an array filled with a pattern that reveals uninitialized elements."""
    dtype = np.dtype(of)
    return np.full(shape, np.nan if dtype.kind == "f" else np.array(0x55).astype(dtype), dtype)


@dataclass(eq=False, slots=True)
class Memory:
    """Global memory, with bounds checks."""

    elements: Array
    dtype: DType

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.elements.nbytes

    def __getitem__(self, at: int) -> Any:
        """Return one element."""
        if 0 <= at < len(self.elements):
            return self.elements[at]
        raise self._outside(at)

    def __setitem__(self, at: int, value: Any) -> None:
        """Store one element, converted as in C."""
        if not 0 <= at < len(self.elements):
            raise self._outside(at)
        self.elements[at] = self.elements.dtype.type(value)

    def _outside(self, at: int) -> OutOfBoundsError:
        length = len(self.elements)
        return OutOfBoundsError(f"position {at} is outside of the array of {length} elements.")
