"""What a kernel is: a function of one thread, which tens of thousands of threads run.

    def tensor_map(n, x, y):  # y[i] = tanh(x[i]), by all threads of a grid
        i = cuda.grid(1)  # the number of this thread
        while i < n:
            y[i] = math.tanh(x[i])
            i += cuda.gridsize(1)  # the number of threads

Kernels of this package are generated as such text. The compiler makes a GPU program of it, the
simulator runs it thread by thread, and `mt_cuda.source` shows it. The core follows the way of a
kernel: what it is made of, the files that write kernels, the machines that run them, and last the
backend that chooses one and launches it.

Besides its parameters a text may use `cuda` (thread indices, shared memory, barriers, atomics),
`math`, the names of dtypes (`float32(...)` converts), `index32` for indices of 32 bits, and the
functions of `device.py`. Loops over a number that stands in the text are unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Lines = list[str]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
        name: its name in the text.
        type: the name of its type: of a number, or of the elements of a storage.
        passed: how it is passed: a number by value, a storage as a bare pointer, or as an array,
            which atomic operations need.
    """

    name: str
    type: str = "int64"
    passed: Literal["value", "pointer", "array"] = "value"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as text.

    Attributes:
        name: the name of the function that the text defines; it says what the kernel does, for
            which dtype and layout.
        source: the text.
        parameters: first the numbers, then for each operand its storage and where in it the operand
            begins.
        work: the names of the numbers whose product is how often its innermost statements are run;
            none where that is once for each element.
        native: what GPUs of NVIDIA, from Ampere on, run instead: the same in C, by instructions for
            which the text has no words; empty for most.
    """

    name: str
    source: str
    parameters: tuple[Parameter, ...]
    work: tuple[str, ...] = ()
    native: str = ""


def define(name: str, parameters: Iterable[Parameter], body: Lines, *work: str) -> Kernel:
    """Put a kernel together from its parameters and the lines of its body; `work` as in it."""
    parameters = tuple(parameters)
    head = f"def {name}({', '.join(parameter.name for parameter in parameters)}):"
    return Kernel(name, "\n".join([head, *indented(body)]), parameters, work)


def indented(lines: Iterable[str]) -> Lines:
    """Return lines one level further in."""
    return [f"    {line}" if line else "" for line in lines]


def over_grid(lines: Iterable[str]) -> Lines:
    """Return a loop in which the threads of the grid run `lines` for every `i` below `n`."""
    return [
        "i = cuda.grid(1)",
        "step = cuda.gridsize(1)",
        "while i < n:",
        *indented(lines),
        "    i += step",
    ]


def numbers(*names: str) -> list[Parameter]:
    """Return parameters that are integers."""
    return [Parameter(name) for name in names]
