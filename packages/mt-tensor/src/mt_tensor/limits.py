"""The limits of dtypes: `finfo` and `iinfo`."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import DType, as_dtype, bfloat16, get_default_dtype
from mt_tensor.emulation.exactness import LARGEST
from mt_tensor.errors import DTypeError


@dataclass(frozen=True, init=False)
class finfo:  # noqa: N801 - torch's name
    """The limits of a floating-point dtype, by default the default dtype.

    Attributes:
        bits: bits per element.
        max: the largest finite number.
        min: the lowest finite number, `-max`.
        eps: the distance from 1 to the next number.
        tiny: the smallest positive normal number.
        smallest_normal: the same as `tiny`.
        resolution: the decimal resolution, a power of ten.
        dtype: the name of the dtype.

    Raises:
        DTypeError: the dtype is not floating-point.
    """

    bits: int
    max: float
    min: float
    eps: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str

    def __init__(self, dtype: Any = None) -> None:
        kind = get_default_dtype() if dtype is None else as_dtype(dtype)
        if not kind.is_floating_point:
            raise DTypeError(f"finfo() takes a floating-point dtype; {kind.name} was given.")
        self.__dict__.update(_limits_of(kind))


@functools.cache
def _limits_of(kind: DType) -> dict[str, Any]:
    """Return the attributes of `finfo`."""
    limits = np.finfo(kind.numpy if kind is not bfloat16 else np.float32)
    numbers = {name: float(getattr(limits, name)) for name in ("max", "min", "eps", "tiny")}
    precision = limits.precision
    if kind is bfloat16:  # the exponents of float32, and 8 of its 24 significant bits
        largest = LARGEST[kind]
        numbers |= {"max": largest, "min": -largest, "eps": 2.0**-7}
        precision = 2
    numbers |= {"smallest_normal": numbers["tiny"], "resolution": 10.0**-precision}
    return {**numbers, "bits": 8 * kind.itemsize, "dtype": kind.name}


@dataclass(frozen=True, init=False)
class iinfo:  # noqa: N801 - torch's name
    """The limits of an integer dtype.

    Attributes:
        bits: bits per element.
        max: the largest number.
        min: the lowest number.
        dtype: the name of the dtype.

    Raises:
        DTypeError: the dtype is not an integer dtype.
    """

    bits: int
    max: int
    min: int
    dtype: str

    def __init__(self, dtype: Any) -> None:
        kind = as_dtype(dtype)
        if kind.kind != "integer":
            raise DTypeError(f"iinfo() takes an integer dtype; {kind.name} was given.")
        limits = {"bits": 8 * kind.itemsize, "max": kind.highest, "min": kind.lowest}
        self.__dict__.update(limits, dtype=kind.name)
