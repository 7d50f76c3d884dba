"""One operation on every backend: times, and agreement of the results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_operators import OPERATORS
from mt_tensor.core.rows import FUNCTIONS
from mt_tensor.errors import BackendError, TensorError
from mt_tensor.extending import Array, Shape, as_dtype, size_of

REDUCTIONS = ("sum", "prod", "amax", "amin")
"""The reductions: methods of tensors."""

PRODUCT = "matrix product"
DTYPES = ("float32", "float64", "int32")

STEPS_OF_PYTHON = 20_000
"""The maximum number of steps on a backend in Python: some tenths of a second of work."""

ENOUGH_CALLS, ENOUGH_SECONDS, LEAST_CALLS = 50, 0.15, 3
"""The maximum number of calls, the maximum total time, and the minimum number of calls."""

QUICK = ("numpy", "fast", "cuda")
"""The backends that need no Python step for each element, if there is a GPU."""


@dataclass(frozen=True)
class Operation:
    """An operation to run on every backend, with at least one element.

    Attributes:
        name: an operator of the table, a reduction or the matrix product.
        shapes: the shapes of its arguments; the first is that of the result of an operator.
        dtype: the dtype of its arguments.
        dim: the dimension of a reduction.
    """

    name: str
    shapes: tuple[Shape, ...]
    dtype: str = "float32"
    dim: int = -1

    def steps(self) -> int:
        """Return the number of elements to compute, or of multiplications."""
        if self.name == PRODUCT:
            return size_of((*self.shapes[0], self.shapes[1][-1]))
        return size_of(self.shapes[0])

    def on(self, backend: Any) -> Callable[[], Any]:
        """Return a function that runs the operation on a backend, always on the same numbers."""
        random = np.random.default_rng(0)
        arrays = [self._values(index, random) for index in range(len(self.shapes))]
        tensors = [mt.tensor(array, backend=backend) for array in arrays]
        if self.name == PRODUCT:
            return lambda: tensors[0] @ tensors[1]
        if self.name in REDUCTIONS:
            return lambda: getattr(tensors[0], self.name)(self.dim)
        return lambda: FUNCTIONS[self.name](*tensors)

    def _values(self, index: int, random: np.random.Generator) -> Array:
        """Return random numbers in the domain of an argument."""
        shape = self.shapes[index]
        if self.name == "where" and index == 0:
            return random.random(shape) > 0.5
        if as_dtype(self.dtype).kind == "integer":
            return random.integers(1, 10, shape).astype(self.dtype)
        domain = OPERATORS[self.name].domain if self.name in OPERATORS else None
        low, high = domain[index] if domain else (-2.0, 2.0)
        low, high = max(low, -2.0), min(high, 2.0)
        return random.uniform(low, high if high > low else low + 2.0, shape).astype(self.dtype)


@dataclass(frozen=True)
class Measured:
    """The measurement of an operation on a backend.

    Attributes:
        backend: its name, and whether it is simulated.
        first: the time of the first call, in seconds.
        times: the times of the following calls.
        result: the result.
        refusal: why it was not run, as a sentence; else empty.
    """

    backend: str
    first: float = math.nan
    times: tuple[float, ...] = ()
    result: Any = None
    refusal: str = ""

    @property
    def fastest(self) -> float:
        """The minimum time of a call, in seconds."""
        return min(self.times)

    @property
    def median(self) -> float:
        """The median time of a call, in seconds."""
        return float(np.median(self.times))


def measure(operation: Operation) -> list[Measured]:
    """Return the measurement of an operation on each installed backend.

    Raises:
        TensorError: the operation does not support these shapes or this dtype.
    """
    return [_measured(name, operation) for name in mt.backends()]


def _measured(name: str, operation: Operation) -> Measured:
    simulated = name == "cuda" and mt.backends()["cuda"].status() != "ready"
    title = "cuda, simulated" if simulated else name
    try:
        backend: Any = CudaOps(Simulator(), plain=True) if simulated else mt.get_backend(name)
    except (ImportError, BackendError) as error:
        return Measured(name, refusal=f"unavailable: {error}")
    if (simulated or name not in QUICK) and operation.steps() > STEPS_OF_PYTHON:
        refusal = f"skipped: more than {STEPS_OF_PYTHON:,} elements or multiplications in Python."
        return Measured(title, refusal=refusal)
    compute = operation.on(backend)

    def call() -> Any:
        result = compute()
        backend.synchronize()
        return result

    try:
        start = time.perf_counter()
        result = call()
        first = time.perf_counter() - start
        return Measured(title, first, repeated(call), result.numpy())
    except TensorError:
        raise
    except Exception as error:  # noqa: BLE001 -- a third-party backend may raise anything
        return Measured(name, refusal=f"it failed: {type(error).__name__}: {error}")


def repeated(call: Callable[[], Any], seconds: float = ENOUGH_SECONDS) -> tuple[float, ...]:
    """Return the times of repeated calls, until the time or the number of calls is reached."""
    times: list[float] = []
    while len(times) < LEAST_CALLS or (len(times) < ENOUGH_CALLS and sum(times) < seconds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return tuple(times)


def agreement(result: Array, reference: Array) -> tuple[bool, str]:
    """Return whether two results are equal up to rounding, and describe their difference.

    Only finite floats may differ; the tolerance is relative to the largest of them.
    """
    rounded = result.dtype.kind == "f"
    if np.array_equal(result, reference, equal_nan=rounded):
        return True, "identical bits"
    if not rounded:
        return False, "different numbers"
    largest = np.abs(reference[np.isfinite(reference)]).max(initial=0.0)
    tolerance = (1e-4 if result.dtype == np.float32 else 1e-10) * float(largest)
    same = np.allclose(result, reference, 0.0, tolerance, equal_nan=True)
    return same, "differs by rounding" if same else "different numbers"
