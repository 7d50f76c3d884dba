"""Record the launches of a program, which are run later.

Nothing runs on the device meanwhile, so recording may fail anywhere: the program then runs as
usual. Memory has no address yet, and numbers that differ at each run have no value. Both are passed
to kernels as a `Variable`. Any other use of them, such as a comparison, is an error: code may depend
on the value.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import Loaded, Memory, arguments_of
from mt_cuda.core.machine import Grid
from mt_cuda.memory.reuse import rounded
from mt_tensor import DType, Generator
from mt_tensor.backends.extending import NumberLike


@dataclass(eq=False, slots=True)
class Variable:
    """A kernel argument that may differ at each run: an address or a number.

    Attributes:
        size: the number of bytes, of memory that the program allocates; 0 for everything else.
    """

    size: int = 0

    def __bool__(self) -> bool:
        raise _unknown()


@dataclass(eq=False, slots=True)
class Launch:
    """A recorded launch.

    Attributes:
        loaded: the kernel.
        grid: the number of blocks.
        threads: the number of threads per block.
        arguments: its arguments: numbers and variables.
    """

    loaded: Loaded
    grid: Grid
    threads: int
    arguments: list[Any]


@dataclass(eq=False, slots=True)
class Source:
    """How the values of variables are computed.

    Attributes:
        position: the position of a number or a generator among the arguments of the program.
        function: the function that is applied to it.
        more: further arguments of the function.
        variables: the variables for its results.
    """

    position: int
    function: Callable[..., Any]
    more: tuple[Any, ...]
    variables: list[Variable]


@dataclass(eq=False)
class Recording:
    """What allocates and launches in place of a `Gpu`.

    Attributes:
        launches: the launches, in order.
        sources: how numbers are computed, in the order of the program.
        constants: other memory that the launches use, by identity.
    """

    launches: list[Launch] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    constants: dict[int, Memory] = field(default_factory=dict)

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Return memory without an address."""
        address: Any = Variable(max(count, 1) * dtype.itemsize)
        return Memory(address, count, dtype, address)

    def launch(
        self,
        loaded: Loaded,
        grid: Grid,
        threads: int,
        numbers: Sequence[Any],
        operands: Sequence[Any],
    ) -> None:
        """Record a launch."""
        for x in operands:
            if isinstance(x, Memory) and not isinstance(x.address, Variable):
                self.constants[id(x)] = x
        arguments = [*numbers, *arguments_of(loaded, operands)]
        self.launches.append(Launch(loaded, grid, threads, arguments))

    def source(
        self, position: int, function: Callable[..., Any], more: tuple[Any, ...], count: int
    ) -> list[Variable]:
        """Return variables for the results of a function of a number or a generator."""
        variables = [Variable() for _ in range(count)]
        self.sources.append(Source(position, function, more, variables))
        return variables


def _unknown() -> KernelError:
    return KernelError("what it launches depends on a number or an address that may change")


class UnknownNumber(NumberLike):
    """Stands for a number that differs at each run."""

    def __init__(self, recording: Recording, position: int) -> None:
        self._recording = recording
        self._position = position
        self._known: dict[Any, Variable] = {}

    def __bool__(self) -> bool:
        raise _unknown()

    def __eq__(self, other: object) -> bool:
        raise _unknown()

    def __hash__(self) -> int:
        raise _unknown()

    def later(self, function: Callable[..., Any], *more: Any) -> Variable:
        """Return the variable for the result of a function; see `NumberLike`."""
        if (function, more) not in self._known:
            (variable,) = self._recording.source(self._position, function, more, 1)
            self._known[function, more] = variable
        return self._known[function, more]


class UnknownNumbers(NumberLike, Generator):
    """Stands for a generator, and for NumPy's generator in it; blocks can be taken from it."""

    def __init__(self, recording: Recording, position: int) -> None:
        self._recording = recording
        self._position = position

    @property
    def numpy(self) -> Any:
        """The generator itself, in place of NumPy's."""
        return self

    def later(self, function: Callable[..., Any], *more: Any) -> list[Variable]:
        """Return variables for a counter: the number of the first block, and the key."""
        return self._recording.source(self._position, function, more, 3)


def offsets_in_arena(
    launches: Sequence[Launch], outputs: Container[Variable]
) -> tuple[dict[Variable, int], int]:
    """Plan the memory of temporary results: they share an arena if they are not used together.

    Args:
        launches: the launches, in order.
        outputs: memory that outlives the program.

    Returns:
        The offset of each, and the size of the arena.
    """
    used = [
        [x for x in dict.fromkeys(launch.arguments) if type(x) is Variable and x.size]
        for launch in launches
    ]
    last = {x: at for at, variables in enumerate(used) for x in variables if x not in outputs}
    offsets: dict[Variable, int] = {}
    free: dict[int, list[int]] = {}
    end = 0
    for at, variables in enumerate(used):
        inner = [x for x in variables if x in last]
        for x in inner:
            size = rounded(x.size)
            if x not in offsets and free.get(size):
                offsets[x] = free[size].pop()
            elif x not in offsets:
                offsets[x], end = end, end + size
        for x in inner:
            if last[x] == at:
                free.setdefault(rounded(x.size), []).append(offsets[x])
    return offsets, end
