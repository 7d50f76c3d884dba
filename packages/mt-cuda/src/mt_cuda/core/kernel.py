"""`Kernel`: a function that each of thousands of threads runs.

    def tensor_map(n, x, y):  # y[i] = tanh(x[i]), by all threads of a grid
        i = cuda.grid(1)  # the number of this thread
        while i < n:
            y[i] = math.tanh(x[i])
            i += cuda.gridsize(1)  # the number of threads

Kernels are generated as Python source. A GPU runs it compiled, the simulator runs it thread by
thread, and `mt_cuda.source` returns it. The following files generate kernels; then come the
machines that run kernels, and last the backend that chooses and launches them.

Kernel source may use its parameters, `cuda` (thread indices, shared memory, barriers, atomics),
`math`, the names of dtypes (`float32(...)` converts), `index32` for 32-bit indices, and the
functions of `device.py`. Loops with a constant number of iterations are unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Lines = list[str]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel.

    Attributes:
        name: its name in the source.
        type: the name of the type of a number, or of the elements of a storage.
        passed: how it is passed: a number by value, a storage as a pointer, or as an array for
            atomic operations.
    """

    name: str
    type: str = "int64"
    passed: Literal["value", "pointer", "array"] = "value"


@dataclass(frozen=True, slots=True)
class Kernel:
    """The source of a kernel, and its parameters.

    Attributes:
        name: the name of the function, which includes the operation, dtype and layout.
        source: the source.
        parameters: first the numbers, then for each operand its storage and the position of its
            first element.
        work: the names of the numbers whose product is the number of runs of the innermost
            statements; empty if they run once per element.
        native: an equivalent kernel in C for NVIDIA GPUs since Ampere, with instructions that
            Python source cannot express; empty for most kernels.
    """

    name: str
    source: str
    parameters: tuple[Parameter, ...]
    work: tuple[str, ...] = ()
    native: str = ""


def define(name: str, parameters: Iterable[Parameter], body: Lines, *work: str) -> Kernel:
    """Create a kernel from its parameters, the lines of its body and its `work`; see `Kernel`."""
    parameters = tuple(parameters)
    signature = f"def {name}({', '.join(parameter.name for parameter in parameters)}):"
    return Kernel(name, "\n".join([signature, *indented(body)]), parameters, work)


def indented(lines: Iterable[str]) -> Lines:
    """Indent lines by one level."""
    return [f"    {line}" if line else "" for line in lines]


def over_grid(lines: Iterable[str]) -> Lines:
    """Return a grid-stride loop that runs `lines` for every `i` below `n`."""
    return [
        "i = cuda.grid(1)",
        "step = cuda.gridsize(1)",
        "while i < n:",
        *indented(lines),
        "    i += step",
    ]


def numbers(*names: str) -> list[Parameter]:
    """Return integer parameters with these names."""
    return [Parameter(name) for name in names]
