"""Random tensors, from one generator for all backends.

The numbers are drawn on the host, so that a seed gives the same numbers on every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_tensor.backends.contract import TensorBackend
from mt_tensor.creation import unpack_sizes
from mt_tensor.dtypes import as_dtype
from mt_tensor.errors import ShapeError
from mt_tensor.from_data import from_values
from mt_tensor.tensors import Tensor

_generator: np.random.Generator | None = None


def manual_seed(seed: int) -> None:
    """Begin the sequence of random numbers that belongs to `seed`, a non-negative integer.

    Raises:
        ValueError: the seed is negative.
    """
    if seed < 0:
        raise ValueError(f"a seed is a non-negative integer; {seed} was given.")
    global _generator  # noqa: PLW0603 - the one generator, as in torch
    _generator = np.random.default_rng(seed)


def generator() -> np.random.Generator:
    """Return the generator that all random tensors are drawn from."""
    global _generator  # noqa: PLW0603 - made when it is first needed, for NumPy loads slowly
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator


def rand(
    *size: Any,
    dtype: Any = "float32",
    backend: str | TensorBackend | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn evenly from 0 (included) to 1 (excluded)."""
    values = generator().random(unpack_sizes(size), np.float32)
    return from_values(values, dtype, backend, requires_grad)


def randn(
    *size: Any,
    dtype: Any = "float32",
    backend: str | TensorBackend | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers from the normal distribution with mean 0 and variance 1."""
    values = generator().standard_normal(unpack_sizes(size))
    return from_values(values, dtype, backend, requires_grad)


def randint(
    low: int,
    high: int,
    size: Sequence[int],
    dtype: Any = "int64",
    backend: str | TensorBackend | None = None,
) -> Tensor:
    """Return integers drawn evenly from `low` (included) to `high` (excluded).

    Raises:
        ShapeError: there is no integer between them.
    """
    if high <= low:
        raise ShapeError(f"randint() needs low < high; {low} and {high} were given.")
    values = generator().integers(low, high, tuple(size))
    return from_values(values, as_dtype(dtype), backend, False)


def randperm(n: int, backend: str | TensorBackend | None = None) -> Tensor:
    """Return the integers from 0 to n - 1 in random order."""
    return from_values(generator().permutation(n), "int64", backend, False)
