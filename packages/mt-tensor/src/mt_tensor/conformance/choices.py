"""What random programs choose: instructions get their arguments from these functions.

Each is given the tensors that an instruction is tried on, and returns its other arguments, or None
where the instruction does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.errors import IndexingError

Settings = tuple[Any, ...] | None


class Draw:
    """Choices, made by Hypothesis or by a generator of random numbers."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def between(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return low + self.below(high - low + 1)

    def one_of(self, options: Sequence[Any]) -> Any:
        """Return one of several."""
        return options[self.below(len(options))]


TYPES = ["float64", "float64", "float32", "int64", "int32", "bool"]
SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (2, 2), (1, 3), (2, 1, 3), (0,), (2, 0), (2, 3, 2)]


def some_arrays(draw: Draw) -> list[Array]:
    """Return three arrays of small multiples of a quarter, of which the first has floats."""
    arrays = []
    for number in range(3):
        shape = draw.one_of(SHAPES)
        elements = [draw.between(-8, 8) / 4 for _ in range(int(np.prod(shape)))]
        dtype = "float64" if number == 0 else draw.one_of(TYPES)
        arrays.append(np.array(elements).reshape(shape).astype(dtype))
    return arrays


def nothing(_: Draw, *__: mt.Tensor) -> Settings:
    """Take no settings."""
    return ()


def a_dim(draw: Draw, x: mt.Tensor) -> Settings:
    """Take a dimension, from either end."""
    return (draw.between(-x.ndim, x.ndim - 1),) if x.ndim else None


def two_dims(draw: Draw, x: mt.Tensor) -> Settings:
    """Take two dimensions, perhaps the same."""
    return (*a_dim(draw, x), *a_dim(draw, x)) if x.ndim else None  # type: ignore[misc]


def a_dim_and_keepdim(draw: Draw, x: mt.Tensor) -> Settings:
    """Take a dimension that is not empty, and whether it stays."""
    return (*a_dim(draw, x), draw.one_of([True, False])) if x.ndim and x.numel() else None  # type: ignore[misc]


def of_floats(settings: Callable[..., Settings]) -> Callable[..., Settings]:
    """Restrict an instruction to floating-point tensors."""
    return lambda draw, x: settings(draw, x) if x.is_floating_point() else None


def of_numbers(settings: Callable[..., Settings]) -> Callable[..., Settings]:
    """Restrict an instruction to tensors of numbers, and not of truth values."""
    return lambda draw, *tensors: (
        None if "bool" in {x.dtype.kind for x in tensors} else settings(draw, *tensors)
    )


def an_order(draw: Draw, x: mt.Tensor) -> Settings:
    """Take an order of the dimensions."""
    rest, order = list(range(x.ndim)), []
    while rest:
        order.append(rest.pop(draw.below(len(rest))))
    return (tuple(order),)


def an_index(draw: Draw, x: mt.Tensor) -> Settings:
    """Take a mixture of integers, slices, None and an Ellipsis."""
    index: list[Any] = []
    for extent in x.shape:
        kind = draw.below(6)
        if kind == 0 and extent:
            index.append(draw.between(-extent, extent - 1))
        elif kind == 1:
            start = draw.between(0, extent)
            index.append(slice(start, draw.between(start, extent)))
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
    """Take a dimension, and positions in it with repetition."""
    if not x.ndim or not x.numel():
        return None
    dim = draw.below(x.ndim)
    return dim, [draw.below(x.shape[dim]) for _ in range(draw.between(0, 3))]


def a_shape(draw: Draw, x: mt.Tensor) -> Settings:
    """Take another shape for the same elements."""
    rest, shape = x.numel(), []
    for _ in range(draw.below(4)):
        divisors = [d for d in range(1, rest + 1) if rest % d == 0]
        shape.append(draw.one_of(divisors) if divisors else draw.below(2))
        rest //= max(shape[-1], 1)
    return ((*shape, -1),) if x.numel() and draw.below(2) else ((*shape, rest),)


def a_window(draw: Draw, x: mt.Tensor) -> Settings:
    """Take a dimension and the size of windows that do not overlap."""
    if not x.ndim:
        return None
    dim = draw.below(x.ndim)
    return (dim, draw.between(1, x.shape[dim])) if x.shape[dim] else None


def a_number(draw: Draw, *_: mt.Tensor) -> Settings:
    """Take a number that every element type holds."""
    return (draw.between(0, 3),)


def broadcasting(draw: Draw, *tensors: mt.Tensor) -> Settings:
    """Apply to tensors that mostly do broadcast: of others only a few are tried."""
    shape = tensors[0].shape
    try:
        for x in tensors[1:]:
            shape = shape_broadcast(shape, x.shape)
    except IndexingError:
        return () if draw.below(8) == 0 else None
    return ()


def fitting(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Apply where the second broadcasts to the first; of other pairs only a few are tried."""
    try:
        fits = shape_broadcast(x.shape, y.shape) == x.shape
    except IndexingError:
        fits = False
    return () if fits or draw.below(8) == 0 else None


def storable(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Apply where elements of the second have a meaning in the first."""
    return fitting(draw, x, y) if x.dtype.kind == y.dtype.kind else None


def a_part(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Take an index; apply where elements of the second may be stored in that part of the first."""
    index = an_index(draw, x)
    return index if index and storable(draw, x[index[0]], y) is not None else None


def alike(draw: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Take a dimension; apply to tensors of the same rank."""
    return a_dim(draw, x) if x.ndim == y.ndim else None


def products(_: Draw, x: mt.Tensor, y: mt.Tensor) -> Settings:
    """Apply to numbers of one type."""
    return () if x.dtype is y.dtype and x.dtype.kind != "bool" else None


def a_type(draw: Draw, *_: mt.Tensor) -> Settings:
    """Take an element type, of which the elements have a value."""
    return (draw.one_of(["float32", "float64", "int64", "int32", "bool"]),)
