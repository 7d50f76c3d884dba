"""Real numbers by chance: even ones, and those of two distributions that are made of even ones.

Even numbers are the only ones that a backend draws (see `TensorBackend.random`). The others follow
from them by formulas, in float64 and wherever the tensor is, so that a device draws them without a
word from the host, and a known number of random bits goes into each. Two even numbers make two
normal ones: a point of the plane whose squared radius waits exponentially long and whose angle is
even has two independent normal coordinates (Box and Muller, A Note on the Generation of Random
Normal Deviates, 1958).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mt_operators import Formula
from mt_operators.core.elementary import cos, log, sin, sqrt
from mt_tensor.core.casting import cast_array, to_float32
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.conversion import cast
from mt_tensor.core.creation import unit
from mt_tensor.core.dtypes import Array, DType, bfloat16, float64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.generator import Generator
from mt_tensor.core.layout import row_major
from mt_tensor.core.plans import Plans
from mt_tensor.core.strides import Shape, size_of, strides_from_shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError
from mt_tensor.pointwise.fusing import fuse


def between(
    generator: Generator | None,
    shape: Shape,
    low: float,
    high: float,
    dtype: DType,
    backend: TensorBackend,
) -> Tensor:
    """Return numbers from `low` to below `high`; what rounds to `high` is moved next to it.

    Raises:
        DomainError: `low` is above `high`, or their distance is not finite.
    """
    with np.errstate(over="ignore"):
        start, end = _as_held(np.array([low, high]), dtype)
        if not (low <= high and np.isfinite(start) and np.isfinite(end - start)):
            raise DomainError(
                f"a range of {dtype.name} begins with its lower end, and both its ends and their "
                f"distance are finite; {low} and {high} were given."
            )
    drawn = cast(unit(generator, shape, float64, backend) * (high - low) + low, dtype)
    if low == high:
        return drawn
    last = np.maximum(_next_below(end, dtype), start)
    return elementwise("where", drawn >= float(end), float(last), drawn)


def standard_normal(
    generator: Generator | None, shape: Shape, backend: TensorBackend, dtype: DType = float64
) -> Tensor:
    """Return numbers from the normal distribution with mean 0 and variance 1, rounded once."""
    count = (size_of(shape) + 1) // 2
    data = unit(generator, (2, count), float64, backend)._tensor
    rows = data.like((count,), (1,), 0), data.like((count,), (1,), count)
    _POINTS.change(backend, rows, *rows)
    points = data.like(shape, strides_from_shape(shape), 0)
    return Tensor._make(backend.copy(points, row_major(shape, dtype)), backend)


def waiting_times(generator: Generator | None, shape: Shape, backend: TensorBackend) -> Tensor:
    """Return float64 numbers from the exponential distribution with mean 1."""
    times: Tensor = _waiting_time(unit(generator, shape, float64, backend))
    return times


def _point(even: Any, turns: Any) -> Any:
    """Return the coordinates of a point of the plane."""
    radius, angle = sqrt(-2.0 * log(1.0 - even)), 2.0 * math.pi * turns
    return radius * cos(angle), radius * sin(angle)


_POINTS = Plans(Formula("normal_point", 2, 2, _point))


@fuse
def _waiting_time(even: Any) -> Any:
    return -(1.0 - even).log()


def _as_held(values: Array, dtype: DType) -> Array:
    """Return numbers as a type holds them, in one that NumPy computes with."""
    held: Array = to_float32(cast_array(values, dtype))
    return held


def _next_below(number: Any, dtype: DType) -> Any:
    """Return the largest number of a type below one of its numbers."""
    below = np.nextafter(number, number.dtype.type(-np.inf))
    if dtype is bfloat16:  # of float32 it keeps the upper half, of negative numbers the next
        bits = below.view(np.uint32) + np.uint32(0 if number > 0 else 0xFFFF)
        below = (bits & np.uint32(0xFFFF0000)).view(np.float32)
    return below
