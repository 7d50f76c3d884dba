"""Random numbers from the uniform, the normal and the exponential distribution.

A backend only draws uniform numbers (see `TensorBackend.random`). The others are computed from them
in float64 on the same backend, so that a device needs no data from the host, and each number uses a
fixed number of random bits. Two uniform numbers give two normal ones: a point whose squared radius
is exponentially distributed and whose angle is uniform has independent normal coordinates (Box and
Muller, A Note on the Generation of Random Normal Deviates, 1958).
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


def uniform(
    generator: Generator | None,
    shape: Shape,
    low: float,
    high: float,
    dtype: DType,
    backend: TensorBackend,
) -> Tensor:
    """Return random numbers, uniformly distributed on [low, high).

    Numbers that round to `high` are replaced by the next smaller number of the dtype.

    Raises:
        DomainError: `low` is greater than `high`, or `high - low` is not finite.
    """
    with np.errstate(over="ignore"):
        start, end = _rounded(np.array([low, high]), dtype)
        if not (low <= high and np.isfinite(start) and np.isfinite(end - start)):
            raise DomainError(
                f"uniform_() of {dtype.name} needs finite bounds with from_ <= to and a finite "
                f"difference; {low} and {high} were given."
            )
    drawn = cast(unit(generator, shape, float64, backend) * (high - low) + low, dtype)
    if low == high:
        return drawn
    last = np.maximum(_next_below(end, dtype), start)
    return elementwise("where", drawn >= float(end), float(last), drawn)


def standard_normal(
    generator: Generator | None, shape: Shape, backend: TensorBackend, dtype: DType = float64
) -> Tensor:
    """Return numbers from the standard normal distribution, drawn in float64 and rounded."""
    count = (size_of(shape) + 1) // 2
    data = unit(generator, (2, count), float64, backend)._tensor
    rows = data.like((count,), (1,), 0), data.like((count,), (1,), count)
    _BOX_MULLER.change(backend, rows, *rows)
    points = data.like(shape, strides_from_shape(shape), 0)
    return Tensor._make(backend.copy(points, row_major(shape, dtype)), backend)


def standard_exponential(
    generator: Generator | None, shape: Shape, backend: TensorBackend
) -> Tensor:
    """Return float64 numbers from the exponential distribution with mean 1."""
    return _exponential(unit(generator, shape, float64, backend))  # type: ignore[no-any-return]


def _box_muller(u: Any, v: Any) -> Any:
    """Transform two uniform samples to two standard normal ones (Box and Muller 1958)."""
    radius, angle = sqrt(-2.0 * log(1.0 - u)), 2.0 * math.pi * v
    return radius * cos(angle), radius * sin(angle)


_BOX_MULLER = Plans(Formula("normal_point", 2, 2, _box_muller))


@fuse
def _exponential(u: Any) -> Any:
    return -(1.0 - u).log()


def _rounded(values: Array, dtype: DType) -> Array:
    """Round numbers to a dtype; bfloat16 is returned as float32."""
    return to_float32(cast_array(values, dtype))  # type: ignore[no-any-return]


def _next_below(number: Any, dtype: DType) -> Any:
    """Return the next smaller number of a dtype."""
    below = np.nextafter(number, number.dtype.type(-np.inf))
    if dtype is bfloat16:  # the upper half of float32, rounded down
        bits = below.view(np.uint32) + np.uint32(0 if number > 0 else 0xFFFF)
        below = (bits & np.uint32(0xFFFF0000)).view(np.float32)
    return below
