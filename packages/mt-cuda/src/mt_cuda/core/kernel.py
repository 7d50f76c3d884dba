"""What a kernel is before anything compiles it: a name, its text and the types of its parameters.

Every kernel of this package is generated as plain Python text. The compiler makes a GPU program of
it, the simulator runs it thread by thread, and a reader may print it: all three see the same text.
The lesson follows a kernel's way: first what it is made of, then the four files that write
kernels, then the machines that run them, and last the backend that chooses one and launches it.

A kernel's text may use, besides its parameters: `cuda` (thread indices, shared memory, barriers,
atomics), `math`, the names of the element types (`float32(...)` converts), `index32` for indices of
32 bits, and the functions of `device.py`. The bits of a bfloat16 are a uint16: a number of
them is `float_of_bfloat16(bits)`, and they of a number `bfloat16(x)`. `load4(x, i)` and
`store4(x, i, values)` move 16 bytes of an array at once, here four elements of 32 bits. `x[n:]` is
the rest of an array that threads share, from position n on, and copies nothing: where it is moved
on in a loop, no position needs to be worked out there. Loops over a number that stands in the text
are unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mt_tensor import DType, bfloat16, bool_, float32, int64

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
            which element type and layout.
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
    """Return parameters that are whole numbers."""
    return [Parameter(name) for name in names]


def operand(name: str, dtype: DType, array: bool = False) -> list[Parameter]:
    """Return the parameters of one operand: its storage, and the position of its first element."""
    passed: Literal["pointer", "array"] = "array" if array else "pointer"
    return [Parameter(name, stored_type(dtype), passed), Parameter(f"{name}_at")]


# --- Element types: as stored, and as computed with ---------------------------------------------


_STORED = {bool_: "uint8", bfloat16: "uint16"}
"""Types that are others in memory: a truth value is 0 or 1, and a bfloat16 its bits."""


def stored_type(dtype: DType) -> str:
    """Return the name of the type that elements have in memory."""
    return _STORED.get(dtype, dtype.name)


def computed(dtype: DType) -> DType:
    """Return the type that elements are computed with: float32 for 16 bits, int64 for bool."""
    return int64 if dtype is bool_ else dtype.computed


def load(element: str, dtype: DType, wanted: DType) -> str:
    """Return the expression that reads an element of `dtype` as a number of type `wanted`."""
    if dtype is bfloat16:
        number = f"float_of_bfloat16({element})"
        return number if wanted is float32 else f"{wanted.name}({number})"
    return element if stored_type(dtype) == wanted.name else f"{wanted.name}({element})"


def store(value: str, dtype: DType) -> str:
    """Return the expression of a value, of type `dtype` or a truth value, as it is stored."""
    return f"uint8({value})" if dtype is bool_ else value
