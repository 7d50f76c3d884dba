"""One operation on every backend: times, agreement of the results, and kernels."""

from __future__ import annotations

import inspect
import math
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.core.gpu import BLOCKS_PER_MULTIPROCESSOR, THREADS
from mt_cuda.core.machine import Size
from mt_cuda.core.matrix import LARGE, SMALL
from mt_operators import OPERATORS
from mt_tensor.backends.extending import UFUNCS, numpy_source
from mt_tensor.core import simple
from mt_tensor.core.numpy_functions import FUNCTIONS as BY_NUMPY
from mt_tensor.core.rows import FUNCTIONS
from mt_tensor.errors import BackendError, TensorError
from mt_tensor.extending import Array, Shape, as_dtype, size_of
from play.compiled import kernels_of
from play.inputs import InputError
from play.tracing import PlanningMachine

REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "maximum", "amin": "minimum"}
"""The reductions: methods of tensors, and their operators in the table."""

PRODUCT = "matrix product"
DTYPES = ("float32", "float64", "int32")

MOST_ELEMENTS = 2**20
"""The maximum number of elements of a tensor."""

MOST_STEPS = 2**27
"""The maximum number of multiplications of a matrix product."""

STEPS_OF_PYTHON = 20_000
"""The maximum number of steps on a backend in Python: some tenths of a second of work."""

ENOUGH_CALLS, ENOUGH_SECONDS, LEAST_CALLS = 50, 0.15, 3
"""The maximum number of calls, the maximum total time, and the minimum number of calls."""

ORDER = ("simple", "numpy", "fast", "cuda")
"""The order of backends; third-party ones come after these."""

MULTIPROCESSORS = 132
"""The number of multiprocessors to plan kernels for if there is no GPU: that of an H100."""

measuring = threading.Lock()
"""Held during measurements, so that those of two users do not overlap."""


@dataclass(frozen=True)
class Operation:
    """An operation to run on every backend.

    Attributes:
        name: an operator of the table, a reduction or the matrix product.
        shapes: the shapes of its arguments.
        dtype: the dtype of its arguments.
        dim: the dimension of a reduction.
    """

    name: str
    shapes: tuple[Shape, ...]
    dtype: str = "float32"
    dim: int = -1

    def size(self) -> int:
        """Return the number of elements of the result.

        Raises:
            ShapeError: the shapes do not match.
        """
        if self.name == PRODUCT:
            left, right = self.shapes
            batch = size_of(mt.broadcast_shapes(left[:-2], right[:-2]))
            return batch * size_of(left[-2:-1]) * (right[-1] if len(right) > 1 else 1)
        if self.name in REDUCTIONS:
            folded = self.dim, self.dim + len(self.shapes[0])
            return size_of(each for i, each in enumerate(self.shapes[0]) if i not in folded)
        shape: Shape = ()
        for other in self.shapes:
            shape = mt.broadcast_shapes(shape, other)
        return size_of(shape)

    def steps(self) -> int:
        """Return the number of elements to compute, or of multiplications.

        Raises:
            InputError: the operation is too large.
            ShapeError: the shapes do not match.
        """
        size = self.size()
        steps = size
        if self.name == PRODUCT:
            steps *= size_of(self.shapes[0][-1:])
        elif self.name in REDUCTIONS:
            steps = size_of(self.shapes[0])
        if size > MOST_ELEMENTS or steps > MOST_STEPS:
            raise InputError(
                f"the limits are {MOST_ELEMENTS:,} elements and {MOST_STEPS:,} multiplications; "
                f"this operation has {size:,} and {steps:,}."
            )
        return steps

    def arrays(self) -> list[Array]:
        """Return random arrays in the domain, always the same."""
        random = np.random.default_rng(0)
        domain = OPERATORS[self.name].domain if self.name in OPERATORS else None
        arrays = []
        for index, shape in enumerate(self.shapes):
            low, high = domain[index] if domain else (-2.0, 2.0)
            low, high = max(low, -2.0), min(high, 2.0)
            if as_dtype(self.dtype).kind == "integer":
                values: Array = random.integers(1, 10, shape)
            else:
                values = random.uniform(low, high if high > low else low + 2.0, shape)
            truth = self.name == "where" and index == 0
            arrays.append(values > 0 if truth else values.astype(self.dtype))
        return arrays

    def function(self, tensors: list[Any]) -> Callable[[], Any]:
        """Return a function that computes it on tensors."""
        if self.name == PRODUCT:
            return lambda: tensors[0] @ tensors[1]
        if self.name in REDUCTIONS:
            method = getattr(tensors[0], self.name)
            return lambda: method(self.dim)
        return lambda: FUNCTIONS[self.name](*tensors)


@dataclass(frozen=True)
class Measured:
    """The measurement of an operation on a backend.

    Attributes:
        backend: its name.
        first: the time of the first call, in seconds.
        times: the times of the following calls.
        result: the result.
        simulated: whether it ran on a simulator of a GPU.
        refusal: why it was not run, as a sentence; else empty.
    """

    backend: str
    first: float = math.nan
    times: tuple[float, ...] = ()
    result: Any = None
    simulated: bool = False
    refusal: str = ""

    @property
    def fastest(self) -> float:
        """The minimum time of a call, in seconds."""
        return min(self.times)

    @property
    def median(self) -> float:
        """The median time of a call, in seconds."""
        return float(np.median(self.times))


def measure(operation: Operation) -> Iterator[Measured]:
    """Yield the measurement of an operation on each installed backend.

    Raises:
        InputError: the operation is too large.
        TensorError: the operation does not support these shapes or this dtype.
    """
    steps = max(operation.steps(), operation.size())
    arrays = operation.arrays()
    for name in sorted(mt.backends(), key=_place):
        with measuring:
            measured = _measured(name, operation, steps, arrays)
        yield measured  # outside of the lock


def backend_of(name: str) -> tuple[Any, bool]:
    """Return a backend, and whether it is the simulator because there is no GPU."""
    if name == "cuda" and mt.backends()["cuda"].status() != "ready":
        return CudaOps(Simulator(), plain=True), True
    return name, False


def _place(backend: str) -> tuple[int, str]:
    """Return the sort key of a backend."""
    return ORDER.index(backend) if backend in ORDER else len(ORDER), backend


def _measured(name: str, operation: Operation, steps: int, arrays: list[Array]) -> Measured:
    try:
        chosen, simulated = backend_of(name)
        backend = mt.get_backend(chosen) if isinstance(chosen, str) else chosen
    except (ImportError, BackendError) as error:
        return Measured(name, refusal=f"unavailable: {error}")
    quick = name in ("numpy", "fast") or (name == "cuda" and not simulated)
    if not quick and steps > STEPS_OF_PYTHON:
        what = "the GPU simulator" if simulated else name
        return Measured(
            name,
            simulated=simulated,
            refusal=f"skipped: {what} needs a Python step for each of {steps:,} elements or "
            f"multiplications; the limit is {STEPS_OF_PYTHON:,}.",
        )
    compute = operation.function([mt.tensor(array, backend=backend) for array in arrays])
    try:
        return _timed(name, compute, backend.synchronize, simulated)
    except TensorError:
        raise
    except Exception as error:  # noqa: BLE001 -- a third-party backend may raise anything
        return Measured(name, refusal=f"it failed: {type(error).__name__}: {error}")


def _timed(
    name: str, compute: Callable[[], Any], synchronize: Callable[[], None], simulated: bool
) -> Measured:
    def call() -> Any:
        result = compute()
        synchronize()
        return result

    start = time.perf_counter()
    result = call()
    first = time.perf_counter() - start
    return Measured(name, first, repeated(call), result.numpy(), simulated)


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

    Only finite floats may differ; the difference is relative to the largest of them.
    """
    rounded = result.dtype.kind == "f"
    if np.array_equal(result, reference, equal_nan=rounded):
        return True, "identical bits"
    if not rounded:
        return False, "different numbers"
    finite = np.isfinite(reference)
    if not np.array_equal(_not_finite(result), _not_finite(reference), equal_nan=True):
        return False, "nan or infinity at different positions"
    ours, theirs = result[finite].astype(np.float64), reference[finite].astype(np.float64)
    relative = float(np.abs(ours - theirs).max()) / (float(np.abs(theirs).max()) or 1.0)
    tolerance = 1e-4 if result.dtype == np.float32 else 1e-10
    return relative <= tolerance, f"differs by rounding, {relative:.0e}"


def _not_finite(numbers: Array) -> Array:
    """Return numbers with 0 in place of finite ones."""
    return np.where(np.isfinite(numbers), 0.0, numbers)


# --- Kernels ------------------------------------------------------------------------------------


def kernels(name: str, operation: Operation) -> list[tuple[str, str]]:
    """Return the code that a backend runs for an operation, with titles.

    For `cuda` these are the kernels for a GPU, even if the simulator has computed the result.
    """
    makers = {"simple": _of_simple, "numpy": _of_numpy, "fast": _of_fast, "cuda": _of_cuda}
    return makers[name](operation) if name in makers else []


def _of_simple(operation: Operation) -> list[tuple[str, str]]:
    if operation.name == PRODUCT:
        loop: Any = simple.SimpleOps.matmul
    elif operation.name in REDUCTIONS:
        loop = simple.tensor_reduce
    else:
        loops = {1: simple.tensor_map, 2: simple.tensor_zip}
        loop = loops.get(OPERATORS[operation.name].arity, simple.SimpleOps.elementwise)
    return [("a Python loop", textwrap.dedent(inspect.getsource(loop)))]


def _of_numpy(operation: Operation) -> list[tuple[str, str]]:
    if operation.name == PRODUCT:
        return [("one call, which uses BLAS for floats", "np.matmul(a, b)")]
    if operation.name in REDUCTIONS:
        name = UFUNCS[REDUCTIONS[operation.name]].__name__
        code = f"np.{name}.reduce(x, axis={operation.dim}, dtype=np.{operation.dtype})"
        return [("one call", code)]
    operator = OPERATORS[operation.name]
    function = BY_NUMPY.get(operator.name)
    if function is None:
        return [("its graph, with one call for each step", numpy_source(operator.value))]
    arguments = ", ".join(operator.parameters)
    if function.__module__ == "numpy" or isinstance(function, np.ufunc):
        return [("one call", f"np.{function.__name__}({arguments})")]
    return [("a function of arrays", inspect.getsource(function))]


def _of_fast(operation: Operation) -> list[tuple[str, str]]:
    tensors = [mt.tensor(array, backend="fast") for array in operation.arrays()]
    found = [
        (
            f"compiled to machine code; threads divide its {run.units:,} units"
            if run.units
            else "compiled to machine code; runs on one thread",
            run.kernel.source.text,
        )
        for run in kernels_of(operation.function(tensors))
    ]
    return found or [
        (
            "left to NumPy, which has the same bits and less overhead"
            if operation.name != PRODUCT
            else "left to BLAS through NumPy: tiles are faster for larger products only",
            "np.dot(a, b)" if operation.name == PRODUCT else _of_numpy(operation)[0][1],
        )
    ]


def _of_cuda(operation: Operation) -> list[tuple[str, str]]:
    size = Size(
        threads=THREADS,
        resident=BLOCKS_PER_MULTIPROCESSOR * MULTIPROCESSORS,
        parallel=1024,
        least=8,
        large=LARGE,
        small=SMALL,
        enough=MULTIPROCESSORS,
    )
    machine = PlanningMachine(size)
    backend = CudaOps(machine, plain=True)
    operation.function([mt.tensor(array, backend=backend) for array in operation.arrays()])()
    return [
        (
            f"for {math.prod(launch.grid):,} blocks of {launch.threads} threads",
            launch.kernel.source,
        )
        for launch in machine.launches
    ]
