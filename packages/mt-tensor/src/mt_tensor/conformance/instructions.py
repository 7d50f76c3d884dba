"""The table of instructions of random functions, for tensors and for NumPy.

An instruction has a function that draws the settings, its arguments besides the given tensors, and
returns None if the instruction does not apply to them. Most instructions call the method with their
name; only NumPy's form is written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.errors import IndexingError

# --- Arguments ------------------------------------------------------------------------------------


Settings = tuple[Any, ...] | None


class Draw:
    """Random choices, by Hypothesis or by a random number generator."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def between(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, inclusive."""
        return low + self.below(high - low + 1)

    def one_of(self, options: Sequence[Any]) -> Any:
        """Return one of some options."""
        return options[self.below(len(options))]


TYPES = ["float64", "float64", "float32", "int64", "int32", "bool"]
SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (2, 2), (1, 3), (2, 1, 3), (0,), (2, 0), (2, 3, 2)]


def some_arrays(draw: Draw) -> list[Array]:
    """Return three arrays of small multiples of 1/4, converted to their dtypes; first float64."""
    arrays = []
    for number in range(3):
        shape = draw.one_of(SHAPES)
        elements = [draw.between(-8, 8) / 4 for _ in range(int(np.prod(shape)))]
        dtype = "float64" if number == 0 else draw.one_of(TYPES)
        arrays.append(np.array(elements).reshape(shape).astype(dtype))
    return arrays


def nothing(_: Draw, *__: mt.Tensor) -> Settings:
    """Draw no settings."""
    return ()


def a_dim(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw a dimension, which may be negative."""
    return (draw.between(-x.ndim, x.ndim - 1),) if x.ndim else None


def two_dims(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw two dimensions, perhaps the same."""
    return (*a_dim(draw, x), *a_dim(draw, x)) if x.ndim else None  # type: ignore[misc]


def a_dim_and_keepdim(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw a dimension of a tensor that is not empty, and whether to keep it."""
    return (*a_dim(draw, x), draw.one_of([True, False])) if x.ndim and x.numel() else None  # type: ignore[misc]


def of_floats(settings: Callable[..., Settings]) -> Callable[..., Settings]:
    """Restrict an instruction to floating-point tensors."""
    return lambda draw, x: settings(draw, x) if x.is_floating_point() else None


def of_numbers(settings: Callable[..., Settings]) -> Callable[..., Settings]:
    """Restrict an instruction to tensors that are not bool."""
    return lambda draw, *tensors: (
        None if "bool" in {x.dtype.kind for x in tensors} else settings(draw, *tensors)
    )


def an_order(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw a permutation of the dimensions."""
    rest, order = list(range(x.ndim)), []
    while rest:
        order.append(rest.pop(draw.below(len(rest))))
    return (tuple(order),)


def an_index(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw an index of integers, slices, None and an Ellipsis."""
    index: list[Any] = []
    for length in x.shape:
        kind = draw.below(6)
        if kind == 0 and length:
            index.append(draw.between(-length, length - 1))
        elif kind == 1:
            start = draw.between(0, length)
            index.append(slice(start, draw.between(start, length)))
        elif kind == 2:
            index.append(slice(draw.between(0, 1), None, draw.between(1, 2)))
        elif kind == 3:
            index += [None, slice(None)]
        elif kind == 4:
            break
        else:
            index.append(slice(None))
    if draw.below(4) == 0:
        index.append(...)
    return (tuple(index),)


def some_positions(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw a dimension, and positions along it with repetition."""
    if not x.ndim or not x.numel():
        return None
    dim = draw.below(x.ndim)
    return dim, [draw.below(x.shape[dim]) for _ in range(draw.between(0, 3))]


def a_shape(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw another shape for the same elements."""
    rest, shape = x.numel(), []
    for _ in range(draw.below(4)):
        divisors = [d for d in range(1, rest + 1) if rest % d == 0]
        shape.append(draw.one_of(divisors) if divisors else draw.below(2))
        rest //= max(shape[-1], 1)
    return ((*shape, -1),) if x.numel() and draw.below(2) else ((*shape, rest),)


def a_window(draw: Draw, x: mt.Tensor) -> Settings:
    """Draw a dimension and the size of windows that do not overlap."""
    if not x.ndim:
        return None
    dim = draw.below(x.ndim)
    return (dim, draw.between(1, x.shape[dim])) if x.shape[dim] else None


def a_number(draw: Draw, *_: mt.Tensor) -> Settings:
    """Draw a number that every dtype can represent."""
    return (draw.between(0, 3),)


def broadcasting(draw: Draw, *tensors: mt.Tensor) -> Settings:
    """Accept tensors that broadcast, and one in eight of those that do not."""
    shape = tensors[0].shape
    try:
        for x in tensors[1:]:
            shape = shape_broadcast(shape, x.shape)
    except IndexingError:
        return () if draw.below(8) == 0 else None
    return ()


def fitting(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Accept a second tensor that broadcasts to the first, and one in eight of the others."""
    try:
        fits = shape_broadcast(x.shape, y.shape) == x.shape
    except IndexingError:
        fits = False
    return () if fits or draw.below(8) == 0 else None


def storable(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Accept pairs of which the first can store the elements of the second."""
    return fitting(draw, x, y) if x.dtype.kind == y.dtype.kind else None


def a_part(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Draw an index; accept if that part of the first can store the elements of the second."""
    index = an_index(draw, x)
    return index if index and storable(draw, x[index[0]], y) is not None else None


def alike(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Draw a dimension; accept tensors with the same number of dimensions."""
    return a_dim(draw, x) if x.ndim == y.ndim else None


def products(_: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Accept tensors of the same dtype other than bool."""
    return () if x.dtype is y.dtype and x.dtype.kind != "bool" else None


def a_type(draw: Draw, *_: mt.Tensor) -> Settings:
    """Draw a dtype."""
    return (draw.one_of(["float32", "float64", "int64", "int32", "bool"]),)


# --- Instructions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instruction:
    """An instruction of random programs.

    Attributes:
        name: the name.
        operands: the number of tensor arguments.
        settings: draws the arguments besides the given tensors, or returns None if the instruction
            does not apply to these tensors.
        call: computes the result, given mt_tensor or its reference, the tensors and the settings.
        changes: whether the first tensor is changed in place and no new one is returned.
    """

    name: str
    operands: int
    settings: Callable[..., Settings]
    call: Callable[..., Any]
    changes: bool = False


INSTRUCTIONS: list[Instruction] = []


def instructions(names: str, settings: Callable[..., Settings], operands: int = 1) -> None:
    """Add instructions that call the methods with these names."""
    for name in names.split():
        instruction(name, settings, operands=operands)


def instruction(
    name: str,
    settings: Callable[..., Settings],
    call: Callable[..., Any] | None = None,
    operands: int = 1,
) -> None:
    """Add an instruction; by default, call the method given by the first word of the name."""
    method, *_ = name.split()

    def of_method(_: Any, x: Any, *others: Any) -> Any:
        return getattr(x, method)(*others)

    changes = method.endswith("_") or method.startswith("set")
    INSTRUCTIONS.append(Instruction(name, operands, settings, call or of_method, changes))


def _at(dim: int, places: Any) -> tuple[Any, ...]:
    """Return the index that selects positions along one dimension."""
    return (*(slice(None),) * dim, places)


# --- New tensors, element by element ------------------------------------------------------------

instructions("neg abs", of_numbers(nothing))
instructions("tanh sigmoid relu exp floor square", of_floats(nothing))
instructions("add mul maximum lt eq logical_or", broadcasting, operands=2)
instruction("sub", of_numbers(broadcasting), operands=2)
instruction("div", broadcasting, lambda lib, x, y: x / (y * y + 1), operands=2)
instruction("plus", a_number, lambda lib, x, n: x + n)
instruction("times", a_number, lambda lib, x, n: 0.5 * n * x)
instruction("where", broadcasting, lambda lib, c, x, y: lib.where(c > 0, x, y), operands=3)
instruction("to", a_type, lambda lib, x, dtype: x.to(getattr(lib, dtype, None) or lib.bool_))
instructions("clone detach", nothing)

# --- New tensors, of many elements ----------------------------------------------------------------

instruction("sum", nothing)
for _name in ("sum", "amax", "amin", "all", "any", "prod"):
    instruction(f"{_name} along", a_dim_and_keepdim)
instructions("mean logsumexp", of_floats(a_dim_and_keepdim))
instruction("max along", a_dim_and_keepdim, lambda lib, x, dim, keepdim: x.max(dim, keepdim).values)
instruction("argmin", of_numbers(a_dim_and_keepdim))
instruction("softmax", of_floats(a_dim))
instruction("cumsum", a_dim)
instruction("sort", a_dim, lambda lib, x, dim: x.sort(dim).values)
instruction("matmul", products, operands=2)
instruction("cat", alike, lambda lib, x, y, dim: lib.cat([x, y], dim), operands=2)
instruction("stack", alike, lambda lib, x, y, dim: lib.stack([x, y], dim), operands=2)
# A flip is a view here, as in NumPy; torch, which has no negative strides, copies.
instruction("flip and clone", a_dim, lambda lib, x, dim: x.flip(dim).clone())
instruction("roll", a_dim, lambda lib, x, dim: x.roll(1, dim))
instruction(
    "index_select",
    some_positions,
    lambda lib, x, dim, where: x.index_select(dim, lib.tensor(where, dtype=lib.int64)),
)
instruction("pick", some_positions, lambda lib, x, dim, where: x[_at(dim, where)])
instruction("mask", nothing, lambda lib, x: x[x > 0])
instruction(
    "take_along_dim",
    of_numbers(lambda draw, x: a_dim(draw, x) if x.numel() else None),
    lambda lib, x, dim: x.take_along_dim(x.argmax(dim, keepdim=True), dim),
)

# --- Views ----------------------------------------------------------------------------------------

instruction("permute", an_order)
instruction("transpose", two_dims)
instruction("getitem", an_index, lambda lib, x, i: x[i])
instruction("unsqueeze", a_dim)
instructions("squeeze contiguous", nothing)
instructions("reshape view", a_shape)
instruction(
    "expand",
    lambda draw, x: (draw.between(1, 2),) if x.numel() < 32 else None,
    lambda lib, x, n: x.expand(n, *x.shape),
)
instruction("unfold", a_window, lambda lib, x, dim, size: x.unfold(dim, size, size))
instruction("diagonal", lambda draw, x: (draw.between(-1, 1),) if x.ndim >= 2 else None)
# not chunk: torch forbids in-place changes of one of several views
instruction("narrow", a_window, lambda lib, x, dim, size: x.narrow(dim, x.shape[dim] - size, size))

# --- In-place changes -----------------------------------------------------------------------------

instructions("add_ mul_", fitting, operands=2)
instruction("sub_", of_numbers(fitting), operands=2)
instruction("tanh_", of_floats(nothing))
instruction("copy_", storable, operands=2)
instruction("fill_", a_number)
instruction(
    "setitem",
    lambda draw, x: (*an_index(draw, x), *a_number(draw, x)),  # type: ignore[misc]
    lambda lib, x, index, n: x.__setitem__(index, n),
)
instruction("setitem from", a_part, lambda lib, x, y, index: x.__setitem__(index, y), operands=2)
instruction("set mask", a_number, lambda lib, x, n: x.__setitem__(x > 1, n))
instruction(
    "set picked", some_positions, lambda lib, x, dim, where: x.__setitem__(_at(dim, where), 2)
)

# --- Drawing a call -----------------------------------------------------------------------------

CHANGES = [one for one in INSTRUCTIONS if one.changes]

LARGEST = 128
"""The largest number of elements of a tensor that later instructions use."""


def drawn_call(draw: Draw, tensors: Sequence[mt.Tensor]) -> tuple[Instruction, list[int], Settings]:
    """Return an instruction, the indices of its tensors, and its settings.

    The settings are None if the instruction does not apply to the tensors.
    """
    chosen = draw.one_of(CHANGES if draw.below(4) == 3 else INSTRUCTIONS)
    indices = [draw.below(len(tensors)) for _ in range(chosen.operands)]
    return chosen, indices, chosen.settings(draw, *[tensors[i] for i in indices])
