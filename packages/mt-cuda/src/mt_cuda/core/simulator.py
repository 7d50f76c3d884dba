"""A GPU simulated in Python: to learn how kernels work, and to test them, without a GPU.

Set `MT_CUDA_SIM=1`, and the backend `cuda` runs on any machine. The simulator takes the text of a
kernel as it is, with one change: a barrier, `cuda.syncthreads()`, becomes `yield`. So every thread
of a block is a generator. The simulator runs one thread after the other, each until it waits at a
barrier; when all wait, it goes round again:

    thread 0:  ---|        ---|
    thread 1:     |---        |---
    thread 2:     |   ---     |   ---
                     all are here: barrier

It is slow, and it is stricter than a GPU. It finds what a GPU would pass over in silence: a thread
outside its array, a barrier that some threads never reach, and two threads that touch the same
shared memory with no barrier between them. Fresh memory holds nan or a pattern, so that what was
never written shows. Threads may be run in either order; a correct kernel cannot tell.

Arithmetic is NumPy's on numbers of the kernel's own types: float32 stays float32, integers wrap.
What the simulator does not prove is how fast a kernel is, and the last digit of `exp` and its kin.
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
from mt_cuda.core.errors import BarrierError, OutOfBoundsError, SimulationError
from mt_cuda.core.kernel import Kernel, stored_type
from mt_cuda.core.machine import Grid, Machine, Number, Size
from mt_cuda.core.matrix import Tiling
from mt_operators.core import elementary
from mt_tensor import DType, bfloat16
from mt_tensor.core.casting import cast_array, to_float32
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
"""A tiny GPU: with so few threads even small tensors need every loop, chunk and edge."""


class Simulator(Machine):
    """The machine that runs kernels in Python.

    Attributes:
        order: in which order the threads of a block, and the blocks, are run.
    """

    size = SIZE

    def __init__(self, order: Order = "forward") -> None:
        self.order: Order = order

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Return memory filled with a pattern: nan for floats."""
        if dtype is bfloat16:
            return Memory(np.full(count, _bfloat16(np.nan)), dtype)
        return Memory(_unwritten(count, stored_type(dtype)), dtype)

    def upload(self, values: Array) -> Memory:
        """Copy an array."""
        dtype = next(d for d in DTYPES.values() if d.numpy == values.dtype)
        return Memory(values.view(stored_type(dtype)).copy(), dtype)

    def download(self, memory: Memory, count: int) -> Array:
        """Copy the first elements of a memory."""
        return memory.elements[:count].view(memory.dtype.numpy).copy()

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Return the same bytes as whole elements of another type."""
        whole = memory.elements.nbytes // dtype.itemsize * dtype.itemsize
        return Memory(memory.elements.view(np.uint8)[:whole].view(stored_type(dtype)), dtype)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Whether two memories may have bytes in common."""
        return np.may_share_memory(a.elements, b.elements)

    def identity(self, memory: Memory) -> Hashable:
        """Return the number of the array that has the elements."""
        return id(memory.elements if memory.elements.base is None else memory.elements.base)

    def load(self, kernel: Kernel) -> Program:
        """Turn barriers into `yield`."""
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
            BarrierError: threads of one block wait at different places, or not at all.
            RaceError: two threads touched the same shared memory, with no barrier between.
            OutOfBoundsError: a thread was outside its array.
            SimulationError: a thread failed otherwise, or there is none.
        """
        if 0 in (*grid, threads):
            raise SimulationError(
                f"{loaded.kernel.name} was launched with {grid} blocks of {threads} threads, which "
                "a driver refuses: nobody would run it. Launch nothing for an empty tensor."
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
        """Nothing is ever left to do."""

    def describe(self) -> str:
        """Say that this is no GPU."""
        return "simulated in Python, one thread after the other"


# --- Threads ------------------------------------------------------------------------------------


def _run_block(name: str, cuda: Cuda, order: Sequence[int], start: Callable[[], Any]) -> None:
    """Run the threads of one block from barrier to barrier."""
    waiting: dict[int, Iterator[None]] = {}
    for thread in order:
        started = _step(name, cuda, thread, start)
        if started is not None:  # it has barriers, and is a generator that has not begun
            waiting[thread] = started
    while waiting:
        ended = []
        for thread, generator in waiting.items():
            if _step(name, cuda, thread, functools.partial(next, generator, _ENDED)) is _ENDED:
                ended.append(thread)
        if ended and len(ended) != len(waiting):
            here = sorted(set(waiting) - set(ended))
            raise BarrierError(
                f"{name}: in block {_show(cuda.blockIdx)} thread(s) {here} wait at a barrier that "
                f"thread(s) {sorted(ended)} never reach. Every thread of a block must reach every "
                "barrier: move syncthreads() out of the branch."
            )
        cuda.phase += 1
        if ended:
            return


_ENDED = object()


def _step(name: str, cuda: Cuda, thread: int, action: Callable[[], Any]) -> Any:
    """Let one thread go on, and say which one it was if it fails."""
    cuda.threadIdx.x = thread
    try:
        return action()
    except Exception as error:
        kind = type(error) if isinstance(error, SimulationError) else SimulationError
        raise kind(
            f"{name}: thread {thread} of block {_show(cuda.blockIdx)}: "
            f"{error if kind is type(error) else repr(error)}"
        ) from error


def _show(index: SimpleNamespace) -> str:
    return f"({index.x}, {index.y})"


# --- Programs -----------------------------------------------------------------------------------


class Program:
    """A kernel as Python functions, one for each launch."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        filename = f"<kernel {kernel.name}>"
        lines = kernel.source.splitlines(keepends=True)
        linecache.cache[filename] = (len(kernel.source), None, lines, filename)
        tree = _Rewritten().visit(ast.parse(kernel.source, filename))
        self._code = compile(ast.fix_missing_locations(tree), filename, "exec")

    def bind(self, cuda: Cuda) -> Callable[..., Any]:
        """Return the kernel for the threads of one block."""
        namespace: dict[str, Any] = {**NAMES, "cuda": cuda}
        exec(self._code, namespace)
        function: Callable[..., Any] = namespace[self.kernel.name]
        return function


class _Rewritten(ast.NodeTransformer):
    """Replaces `cuda.syncthreads()` by `yield`, and `x[n:]` by the rest of an array."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Replace a barrier, which is a statement of its own."""
        if isinstance(node.value, ast.Call) and ast.unparse(node.value) == "cuda.syncthreads()":
            return ast.copy_location(ast.Expr(ast.Yield()), node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace a slice: of an array that threads share, nothing is copied."""
        if isinstance(node.slice, ast.Slice) and node.slice.lower:
            rest = ast.Call(ast.Name("rest_of", ast.Load()), [node.value, node.slice.lower], [])
            return ast.copy_location(rest, node)
        return self.generic_visit(node)


def _rest_of(array: Memory | Array | Rest, begin: int) -> Rest:
    """Return the rest of an array, or of a rest."""
    if isinstance(array, Rest):
        return Rest(array.array, array.begin + begin)
    return Rest(array, begin)


def _power(x: Any, y: Any) -> Any:
    """Return a power in the numbers' own type.

    NumPy's takes the square root where it sees a single exponent 0.5, which is nan for -inf.
    """
    return np.result_type(x, y).type(elementary.pow(float(x), float(y)))


def _bfloat16(x: Any) -> Any:
    """Return the bits of a number as bfloat16."""
    return cast_array(np.asarray(x), bfloat16).view(np.uint16)[()]


NAMES: dict[str, Any] = {
    **{dtype.name: dtype.numpy.type for dtype in DTYPES.values() if dtype.name != "bool"},
    "bfloat16": _bfloat16,
    "float_of_bfloat16": lambda bits: to_float32(bits.view(bfloat16.numpy)),
    "index32": int,  # Python's whole numbers hold all indices, and are fast
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
    "rest_of": _rest_of,
}
"""What kernels mean by the names that they use, besides `cuda`. `vectors/` adds functions."""


SHARED: dict[str, Callable[[Cuda, Array], Any]] = {"array": lambda _, elements: elements}
"""What makes shared memory of an array (`races.py`: one that notices races)."""


class Cuda:
    """What kernels mean by `cuda`, for the threads of one block."""

    def __init__(self, grid: Grid, block: tuple[int, int], threads: int) -> None:
        self.gridDim = SimpleNamespace(x=grid[0], y=grid[1], z=1)
        self.blockIdx = SimpleNamespace(x=block[0], y=block[1], z=0)
        self.blockDim = SimpleNamespace(x=threads, y=1, z=1)
        self.threadIdx = SimpleNamespace(x=0, y=0, z=0)
        self.shared = SimpleNamespace(array=self._shared_array)
        self.local = SimpleNamespace(array=self._local_array)
        self.atomic = SimpleNamespace(add=self._add, max=self._max, min=self._min)
        self.phase = 0  # how many barriers have been passed
        self._arrays: list[Any] = []
        self._asked: dict[int, int] = {}

    def grid(self, _: int) -> int:
        """Return the number of this thread in the whole grid."""
        return int(self.blockIdx.x * self.blockDim.x + self.threadIdx.x)

    def gridsize(self, _: int) -> int:
        """Return the number of threads in the whole grid."""
        return int(self.gridDim.x * self.blockDim.x)

    def _shared_array(self, shape: Any, dtype: Any) -> Any:
        """Return the same array to every thread: the first to the first call of each, and so on."""
        thread = self.threadIdx.x
        number = self._asked.get(thread, 0)
        self._asked[thread] = number + 1
        if number == len(self._arrays):
            self._arrays.append(SHARED["array"](self, _unwritten(shape, np.dtype(dtype).name)))
        return self._arrays[number]

    def _local_array(self, shape: Any, dtype: Any) -> Array:
        return _unwritten(shape, np.dtype(dtype).name)

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


def _unwritten(shape: Any, name: str) -> Array:
    """Return an array that shows that nobody has written it."""
    dtype = np.dtype(name)
    return np.full(shape, np.nan if dtype.kind == "f" else np.array(0x55).astype(dtype), dtype)


@dataclass(eq=False, slots=True)
class Memory:
    """Global memory: a row of elements that refuses positions outside."""

    elements: Array
    dtype: DType

    def __getitem__(self, at: int) -> Any:
        """Return one element."""
        self._check(at)
        return self.elements[at]

    def __setitem__(self, at: int, value: Any) -> None:
        """Store one element, converted as C does."""
        self._check(at)
        self.elements[at] = self.elements.dtype.type(value)

    def _check(self, at: int) -> None:
        if not 0 <= at < len(self.elements):
            raise OutOfBoundsError(f"position {at} of {len(self.elements)} elements.")


@dataclass(eq=False, slots=True)
class Rest:
    """What of an array begins at some position: `x[n:]`. It may be counted back from there, too."""

    array: Memory | Array
    begin: int

    def __getitem__(self, at: int) -> Any:
        """Return one element."""
        return self.array[self.begin + at]

    def __setitem__(self, at: int, value: Any) -> None:
        """Store one element."""
        self.array[self.begin + at] = value
