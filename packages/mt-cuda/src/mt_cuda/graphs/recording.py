"""Record the launches of a program, which are run later.

Nothing runs on the device meanwhile, so recording may fail anywhere: the program then runs as
usual. Memory has no address yet, and numbers that differ at each run have no value. Both are passed
to kernels as a `Variable`. Any other use of a variable, such as a comparison, is an error, since
the launches may depend on the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import Loaded, Memory, arguments_of
from mt_cuda.core.machine import Grid
from mt_cuda.memory.reuse import SMALLEST
from mt_tensor import DType, Generator
from mt_tensor.backends.extending import NumberLike, drawing


def _refuse(*_: Any) -> NoReturn:
    raise KernelError("its launches depend on the value of a number or an address")


@dataclass(eq=False, slots=True)
class Variable:
    """A kernel argument that may differ at each run: an address or a number.

    Attributes:
        size: the number of bytes, of memory that the program allocates; 0 for everything else.
    """

    size: int = 0

    __bool__ = _refuse


class Launch(NamedTuple):
    """A recorded launch; its arguments are numbers and variables."""

    loaded: Loaded
    grid: Grid
    threads: int
    arguments: list[Any]


class Source(NamedTuple):
    """How variables are computed: `function(x, *more)`, where `x` is an argument of the program."""

    position: int
    function: Callable[..., Any]
    more: tuple[Any, ...]
    variables: list[Variable]


class Recording:
    """A machine that records allocations and launches in place of a `Gpu`.

    Attributes:
        launches: the launches, in order.
        sources: how numbers are computed, in the order of the program.
        constants: memory that existed before the recording, except that of arguments, by id.
    """

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.sources: list[Source] = []
        self.constants: dict[int, Memory] = {}

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Return memory without an address; the variable is also its owner."""
        variable: Any = Variable(max(count, 1) * dtype.itemsize)
        return Memory(variable, count, dtype, variable)

    def launch(self, loaded: Loaded, grid: Grid, threads: int, numbers: Any, operands: Any) -> None:
        """Record a launch."""
        existing = [x for x in operands if isinstance(x, Memory) and type(x.address) is int]
        self.constants.update({id(x): x for x in existing})
        arguments = [*numbers, *arguments_of(loaded, operands)]
        self.launches.append(Launch(loaded, grid, threads, arguments))


class UnknownNumber(NumberLike):
    """A placeholder for a number that differs at each run.

    Attributes:
        position: the position of its first occurrence among the arguments of the program.
    """

    def __init__(self, sources: list[Source], position: int) -> None:
        self.position = position
        self._sources = sources
        self._known: dict[Any, Variable] = {}

    __bool__ = __eq__ = __hash__ = _refuse

    def later(self, function: Callable[..., Any], *more: Any) -> Variable:
        """Return the variable for the result of a function; see `NumberLike`."""
        if (function, more) not in self._known:
            variable = self._known[function, more] = Variable()
            self._sources.append(Source(self.position, function, more, [variable]))
        return self._known[function, more]


class UnknownNumbers(NumberLike, Generator):
    """A placeholder for a `Generator`, and for the NumPy generator in it."""

    def __init__(self, sources: list[Source], position: int) -> None:
        self._sources = sources
        self._position = position

    @property
    def numpy(self) -> Any:
        """The object itself, in place of NumPy's generator."""
        return self

    def later(self, function: Callable[..., Any], *more: Any) -> list[Variable]:
        """Return variables for the number of the first block, and for the two words of the key."""
        variables = [Variable() for _ in range(3)]
        self._sources.append(Source(self._position, _draw, (function, *more), variables))
        return variables


def _draw(generator: Generator, function: Callable[..., Any], *more: Any) -> Any:
    with drawing(generator) as numbers:
        return function(numbers, *more)


def offsets_in_arena(
    launches: Sequence[Launch], outputs: Container[Any]
) -> tuple[dict[Variable, int], int]:
    """Return the offsets of temporary results in an arena that they share.

    The largest result is placed first, and each at the lowest offset where nothing else is used
    between its first and its last launch.

    Args:
        launches: the launches, in order.
        outputs: memory that outlives the program.

    Returns:
        The offset of each temporary result in bytes, and the size of the arena in bytes.
    """
    lives: dict[Variable, tuple[int, int]] = {}  # the first and the last launch
    for at, (*_, arguments) in enumerate(launches):
        for x in arguments:
            if isinstance(x, Variable) and x.size and x not in outputs:
                lives[x] = lives.get(x, (at, at))[0], at
    offsets: dict[Variable, int] = {}
    ends: dict[Variable, int] = {}
    for x in sorted(lives, key=lambda x: -x.size):
        first, last = lives[x]
        others = [y for y in offsets if lives[y][0] <= last and first <= lives[y][1]]
        start = 0
        for y in sorted(others, key=offsets.__getitem__):
            if offsets[y] - start >= x.size:
                break
            start = max(start, ends[y])
        offsets[x], ends[x] = start, start + -(-x.size // SMALLEST) * SMALLEST
    return offsets, max(ends.values(), default=0)
