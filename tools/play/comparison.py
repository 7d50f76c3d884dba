"""One operation on every backend: how long it takes, whether the results agree, and its kernels."""

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
from mt.concept.running import backend_of
from mt_cuda import CudaOps
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
from play.tracing import PlanningMachine
from play.views import ViewError

REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "maximum", "amin": "minimum"}
"""What folds a dimension: the method of tensors, and the operator of the table."""

PRODUCT = "matrix product"
DTYPES = ("float32", "float64", "int32")

MOST_ELEMENTS = 2**20
"""How many elements a tensor may have."""

MOST_STEPS = 2**27
"""How many multiplications a matrix product may need."""

STEPS_OF_PYTHON = 20_000
"""How many steps a backend may need that is made of Python: some tenths of a second's work."""

ENOUGH_CALLS, ENOUGH_SECONDS, LEAST_CALLS = 50, 0.15, 3
"""An operation is called so often, or for so long, but no less than three times."""

ORDER = ("simple", "numpy", "fast", "cuda")
"""In which order backends are shown; those of other people come after these."""

MULTIPROCESSORS = 132
"""Of the GPU that kernels are chosen for, where there is none: an H100."""

measuring = threading.Lock()
"""Held while something is measured, so that two readers do not measure each other."""


@dataclass(frozen=True)
class Operation:
    """What every backend is to compute.

    Attributes:
        name: an operator of the table, a reduction or the matrix product.
        shapes: of the tensors that it takes.
        dtype: of their elements.
        dim: which dimension a reduction folds.
    """

    name: str
    shapes: tuple[Shape, ...]
    dtype: str = "float32"
    dim: int = -1

    def size(self) -> int:
        """Return how many elements the result has; they may be many although nothing is folded.

        Raises:
            ShapeError: the shapes do not fit each other.
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
        """Return how many elements are computed, or how many numbers multiplied.

        Raises:
            ViewError: there is more to compute than anybody wants to wait for.
            ShapeError: the shapes do not fit each other.
        """
        size = self.size()
        steps = size
        if self.name == PRODUCT:
            steps *= size_of(self.shapes[0][-1:])
        elif self.name in REDUCTIONS:
            steps = size_of(self.shapes[0])
        if size > MOST_ELEMENTS or steps > MOST_STEPS:
            raise ViewError(
                f"at most {MOST_ELEMENTS:,} elements or {MOST_STEPS:,} multiplications are "
                f"computed here; this would be {size:,} and {steps:,}."
            )
        return steps

    def arrays(self) -> list[Array]:
        """Return arrays of random numbers of the domain, always the same."""
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
        """Return what computes it of tensors."""
        if self.name == PRODUCT:
            return lambda: tensors[0] @ tensors[1]
        if self.name in REDUCTIONS:
            method = getattr(tensors[0], self.name)
            return lambda: method(self.dim)
        return lambda: FUNCTIONS[self.name](*tensors)


@dataclass(frozen=True)
class Measured:
    """What a backend made of an operation.

    Attributes:
        backend: its name.
        first: how many seconds the first call took.
        times: of the calls after it.
        result: what came out.
        simulated: whether a simulator of a GPU took this time.
        refusal: why it was not computed, in a sentence; empty if it was.
    """

    backend: str
    first: float = math.nan
    times: tuple[float, ...] = ()
    result: Any = None
    simulated: bool = False
    refusal: str = ""

    @property
    def fastest(self) -> float:
        """The shortest time of a call, in seconds."""
        return min(self.times)

    @property
    def median(self) -> float:
        """The time that half of the calls did not exceed, in seconds."""
        return float(np.median(self.times))


def measure(operation: Operation) -> Iterator[Measured]:
    """Yield what each installed backend makes of an operation, one after the other.

    Raises:
        ViewError: there is more to compute than anybody wants to wait for.
        TensorError: the operation does not take these shapes, or this dtype.
    """
    steps = max(operation.steps(), operation.size())
    arrays = operation.arrays()
    for name in sorted(mt.backends(), key=_place):
        with measuring:
            measured = _measured(name, operation, steps, arrays)
        yield measured  # nobody waits for what is done with it


def _place(backend: str) -> tuple[int, str]:
    """Return what backends are sorted by."""
    return ORDER.index(backend) if backend in ORDER else len(ORDER), backend


def _measured(name: str, operation: Operation, steps: int, arrays: list[Array]) -> Measured:
    try:
        chosen, simulated = backend_of(name)
        backend = mt.get_backend(chosen) if isinstance(chosen, str) else chosen
    except (ImportError, BackendError) as error:
        return Measured(name, refusal=f"not here: {error}")
    quick = name in ("numpy", "fast") or (name == "cuda" and not simulated)
    if not quick and steps > STEPS_OF_PYTHON:
        what = "the simulator of a GPU" if simulated else name
        return Measured(
            name,
            simulated=simulated,
            refusal=f"left out: {what} takes a step of Python for each of {steps:,} elements or "
            f"multiplications; up to {STEPS_OF_PYTHON:,} are quick.",
        )
    compute = operation.function([mt.tensor(array, backend=backend) for array in arrays])
    try:
        return _timed(name, compute, backend.synchronize, simulated)
    except TensorError:
        raise
    except Exception as error:  # noqa: BLE001 -- somebody's backend, perhaps not finished
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
    """Return how many seconds each call takes, of as many as there is time for."""
    times: list[float] = []
    while len(times) < LEAST_CALLS or (len(times) < ENOUGH_CALLS and sum(times) < seconds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return tuple(times)


def agreement(result: Array, reference: Array) -> tuple[bool, str]:
    """Return whether two results are the same but for rounding, and how far they are apart.

    Only finite floats are rounded; their distance is told as a share of the largest of them.
    """
    rounded = result.dtype.kind == "f"
    if np.array_equal(result, reference, equal_nan=rounded):
        return True, "the same bits"
    if not rounded:
        return False, "other numbers"
    finite = np.isfinite(reference)
    if not np.array_equal(_not_finite(result), _not_finite(reference), equal_nan=True):
        return False, "nan or infinity in other places"
    ours, theirs = result[finite].astype(np.float64), reference[finite].astype(np.float64)
    relative = float(np.abs(ours - theirs).max()) / (float(np.abs(theirs).max()) or 1.0)
    tolerance = 1e-4 if result.dtype == np.float32 else 1e-10
    return relative <= tolerance, f"rounded otherwise, by {relative:.0e}"


def _not_finite(numbers: Array) -> Array:
    """Return numbers with 0 in place of all but nan and infinities."""
    return np.where(np.isfinite(numbers), 0.0, numbers)


# --- Kernels ------------------------------------------------------------------------------------


def kernels(name: str, operation: Operation) -> list[tuple[str, str]]:
    """Return what a backend runs for an operation, as titles and code.

    Of `cuda` these are the kernels for a GPU, whatever has computed the result here.
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
    return [("a loop of Python", textwrap.dedent(inspect.getsource(loop)))]


def _of_numpy(operation: Operation) -> list[tuple[str, str]]:
    if operation.name == PRODUCT:
        return [("one call, which is BLAS for floats", "np.matmul(a, b)")]
    if operation.name in REDUCTIONS:
        name = UFUNCS[REDUCTIONS[operation.name]].__name__
        code = f"np.{name}.reduce(x, axis={operation.dim}, dtype=np.{operation.dtype})"
        return [("one call", code)]
    operator = OPERATORS[operation.name]
    function = BY_NUMPY.get(operator.name)
    if function is None:
        return [("its graph, with a call for each step", numpy_source(operator.value))]
    arguments = ", ".join(operator.parameters)
    if function.__module__ == "numpy" or isinstance(function, np.ufunc):
        return [("one call", f"np.{function.__name__}({arguments})")]
    return [("a function of arrays", inspect.getsource(function))]


def _of_fast(operation: Operation) -> list[tuple[str, str]]:
    tensors = [mt.tensor(array, backend="fast") for array in operation.arrays()]
    found = [
        (
            f"compiled to machine code; its {run.units:,} units are shared by threads"
            if run.units
            else "compiled to machine code; one thread runs it",
            run.kernel.source.text,
        )
        for run in kernels_of(operation.function(tensors))
    ]
    return found or [
        (
            "left to NumPy, which has the same bits and begins sooner"
            if operation.name != PRODUCT
            else "left to BLAS by way of NumPy: tiles of one's own pay for larger products only",
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
