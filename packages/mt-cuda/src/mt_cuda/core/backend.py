"""The backend `cuda`: the primitives of the contract as launches of generated kernels.

Each primitive chooses a kernel for the layout of its operands, and launches it with shapes and
strides as integer arguments. Everything up to the launch depends only on shapes, strides and
dtypes, so it is computed once and cached as a `Plan`.

Faster kernels for certain layouts are registered in `SPECIAL_CASES` (`tables.py`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from mt_cuda.core import elementwise, indexed, matrix, reduction
from mt_cuda.core.elements import computed
from mt_cuda.core.elementwise import Signature
from mt_cuda.core.gpu import Gpu
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.layout import Layout, Strides, index_type, lies_along, merge
from mt_cuda.core.machine import Grid, Machine
from mt_cuda.core.machine import Number as Argument
from mt_cuda.core.simulator import Simulator
from mt_cuda.core.tables import SPECIAL_CASES
from mt_operators import OPERATORS, Formula, Operator
from mt_operators.core.graph import Graph
from mt_operators.core.lowering import expanded
from mt_operators.core.tracing import graph_of
from mt_tensor import DType, TensorBackend, TensorData
from mt_tensor.core.casting import dtype_of
from mt_tensor.core.contract import computation_type
from mt_tensor.core.dtypes import Number, NumberLike
from mt_tensor.core.host import no_warnings
from mt_tensor.core.kernels import registered_kernel
from mt_tensor.core.layout import Layout as Contiguous
from mt_tensor.core.layout import row_major
from mt_tensor.core.strides import Shape, reduce_shape, size_of, strides_from_shape
from mt_tensor.core.tensor_data import MAX_DIMENSIONS, not_an_array

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

SIMULATE = "MT_CUDA_SIM"
"""The environment variable that selects the simulator; `reversed` runs threads in reverse."""

CACHE_SIZE = 4096
"""The number of cached plans, and of cached kernels; a typical program has a few hundred."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch without its memory.

    Attributes:
        loaded: the loaded kernel.
        grid: the number of blocks in each dimension.
        threads: the number of threads per block.
        numbers: the sizes and strides.
    """

    loaded: Any
    grid: Grid
    threads: int
    numbers: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Call:
    """A formula and the layouts of its operands, without memory and numbers.

    Attributes:
        formula: the formula.
        types: the dtypes.
        dtype: the dtype of the operation, to which numbers are converted first; see `computed`.
        shape: the shape of the outputs.
        strides: the strides of each view, inputs before outputs, broadcast to that shape.
        aligned: whether every view starts at a multiple of 16 bytes.
        plan: the launch, created on first use.
    """

    formula: Formula
    types: Signature
    dtype: DType
    shape: Shape
    strides: tuple[Strides, ...]
    aligned: bool
    plan: Plan | None = None


class _Thread(threading.local):
    """Thread-local state: calls that are delayed inside `batch_calls`."""

    queue: Any = None


class CudaOps(TensorBackend):
    """The backend that runs kernels on a machine; if `plain`, only the kernels of the core.

    Attributes:
        machine: the machine.
        thread: the delayed calls of this thread.
        state: data that special cases store for this backend, by name.
    """

    name = "cuda"
    device = "cuda"

    def __init__(self, machine: Machine, plain: bool = False) -> None:
        """Run on a machine; if `plain`, use only the kernels of the core."""
        self.machine = machine
        self.thread = _Thread()
        self.state: dict[str, Any] = {}
        self._special = {} if plain else SPECIAL_CASES
        self._plain = plain
        self._loaded: dict[Kernel, Any] = {}
        self._plans: dict[Hashable, Any] = {}
        self._calls: dict[Hashable, Call] = {}
        self._graphs: dict[Formula, Graph] = {}

    def special(self, name: str, *arguments: Any) -> Any:
        """Call the special case registered under a name; return None if there is none."""
        case = self._special.get(name)
        return case and case(self, *arguments)

    def kernel(self, name: str) -> Any:
        """Return the registered kernel for a named operation, or None.

        Kernels registered for `cuda` also run in subclasses with other names.
        """
        if self._plain:
            return None
        return super().kernel(name) or registered_kernel(CudaOps.name, name)

    # --- Holding data ---------------------------------------------------------------------------

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Allocate device memory."""
        return TensorData(self.machine.allocate(size_of(shape), dtype), shape, dtype=dtype)

    def from_host(self, array: npt.NDArray[Any]) -> TensorData:
        """Copy an array to the device."""
        dtype = dtype_of(array)
        row = np.ascontiguousarray(array, dtype.numpy).reshape(-1)
        return TensorData(self.machine.upload(row), array.shape, dtype=dtype)

    def to_host(self, data: TensorData) -> npt.NDArray[Any]:
        """Wait for the device, and return a copy of the elements."""
        if len(data.shape) > MAX_DIMENSIONS:
            raise not_an_array(data.shape)
        layout = data.layout
        row = data if layout is layout.contiguous else self.copy(data, layout.contiguous)
        self.settle()
        elements = self.special("download", row.storage, data.size)
        if elements is None:
            elements = self.machine.download(row.storage, data.size)
        return cast(npt.NDArray[Any], elements.reshape(data.shape))

    def reinterpreted(self, storage: Any, dtype: DType) -> Any:
        """Reinterpret device memory as elements of another dtype."""
        return self.machine.reinterpreted(storage, dtype)

    def same_memory(self, a: Any, b: Any) -> bool:
        """Return whether two storages share device memory."""
        return self.machine.shares(a, b)

    def shared_memory(self) -> Any:
        """Return the machine's interface for other libraries to access its memory."""
        self.settle()
        return self.machine.shared_memory

    def synchronize(self) -> None:
        """Wait for the device."""
        self.settle()
        if not self.special("synchronize"):
            self.machine.synchronize()

    def random(self, numbers: np.random.Generator, shape: Shape, dtype: DType) -> TensorData:
        """Draw random numbers with the registered kernel, or on the host."""
        drawn: TensorData | None = self.special("random", numbers, shape, dtype)
        return super().random(numbers, shape, dtype) if drawn is None else drawn

    # --- Elementwise ----------------------------------------------------------------------------

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Return the function that runs the formula's kernel for the layout of its operands."""

        def run(out: Contiguous | Sequence[TensorData], *inputs: TensorData | Number) -> Any:
            results = self.results(formula, out)
            self._each(formula, inputs, results)
            return results[0] if formula.outputs == 1 else results

        return run

    def copy(self, source: TensorData, out: Contiguous | TensorData) -> TensorData:
        """Copy elements, converted to the dtype of `out`, with the kernel of the formula `x`."""
        out = self.target(out)
        if not self.special("copy", source, out):
            self._each(OPERATORS["id"].value, (source,), (out,))
        return out

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a tensor filled with a number, with the kernel of the formula `x`."""
        run = self.elementwise(OPERATORS["id"].value)
        return cast(TensorData, run(row_major(shape, dtype), value))

    def _each(
        self,
        formula: Formula,
        inputs: Sequence[TensorData | Number],
        outputs: Sequence[TensorData],
    ) -> None:
        if outputs[0].size == 0:
            return
        key: list[Hashable] = [formula]
        views, numbers = [], []
        for x in (*inputs, *outputs):
            if isinstance(x, TensorData):
                views.append(x)
                key.append(x.layout)
            else:
                numbers.append(x)
                key.append(None)
        call = _cached(self._calls, tuple(key), lambda: _call(formula, inputs, outputs))
        values = [_number(x, call.dtype) for x in numbers]
        queue = self.thread.queue
        if queue is None or not queue.takes(call, views, values):
            self.over_elements(call, views, values)

    def over_elements(
        self, call: Call, views: Sequence[TensorData], values: Sequence[np.generic]
    ) -> None:
        """Launch a call on views, inputs before outputs, and on numbers."""
        if call.plan is None:
            key = (call.formula, call.types, call.aligned, call.shape, *call.strides)
            call.plan = self.remembered(key, lambda: self._plan_each(call))
        self.launch(call.plan, views, values)

    def _plan_each(self, call: Call) -> Plan:
        layout = merge(call.shape, call.strides)
        special = self.special("elementwise", call, layout)
        if special is not None:
            kernel, numbers, each = special
            return self.plan_over_grid(kernel, layout.size, numbers, each)
        name, graph, types = call.formula.name, self.graph(call.formula), call.types
        unit = layout.unit()
        if unit is not None:
            kernel = elementwise.contiguous(name, graph, types, unit)
            return self.plan_over_grid(kernel, layout.size, ())
        kernel = elementwise.strided(name, graph, types, layout.rank, index_type(layout.size))
        return self.plan_over_grid(kernel, layout.size, (*layout.shape[1:], *_flat(layout.strides)))

    # --- Reductions -----------------------------------------------------------------------------

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce dimensions in one launch, or in two for long reductions with few outputs."""
        shape, dtype = reduce_shape(source.shape, dims, keepdim), source.dtype
        if source.size == 0:
            return self.full(shape, dtype, operator.identity or 0)
        out = self.empty(shape, dtype)
        key = (operator, source.shape, source.strides, dtype, dims)
        first, chunks, second = self.remembered(
            key, lambda: self._plan_reduce(operator, source, dims)
        )
        if second is None:
            self.launch(first, (source, out))
            return out
        partial = self.empty((out.size * chunks,), computed(dtype))
        self.launch(first, (source, partial))
        self.launch(second, (partial, out))
        return out

    def _plan_reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...]
    ) -> tuple[Plan, int, Plan | None]:
        rest = tuple(d for d in range(source.ndim) if d not in dims)
        sizes = _at(source.shape, rest)
        kept = merge(sizes, [_at(source.strides, rest), strides_from_shape(sizes)])
        folded = merge(_at(source.shape, dims), [_at(source.strides, dims)])
        return self._plan_fold(operator, source.dtype, kept, folded)

    def _plan_fold(
        self, operator: Operator, dtype: DType, kept: Layout, folded: Layout
    ) -> tuple[Plan, int, Plan | None]:
        """Plan a fold, in two launches if chunks occupy more of the GPU."""
        size = self.machine.size
        by_rows = self.folds_by_rows(kept, folded)
        workers, least = (
            (kept.size, size.threads * size.least)
            if by_rows
            else (-(-kept.size // size.threads), size.least)
        )
        span = -(-folded.size // max(1, min(size.parallel // workers, folded.size // least)))
        chunks = -(-folded.size // span)  # none of them is empty
        if chunks == 1:
            plan = self.plan_pass(operator, (dtype, dtype), kept, folded, by_rows)
            return plan, 1, None
        total = computed(dtype)
        rows = tuple(stride * chunks for stride in strides_from_shape(kept.shape))
        partial = Layout(kept.shape, (kept.strides[0], rows))
        first = self.plan_pass(operator, (dtype, total), partial, folded, by_rows, chunks=chunks)
        gathered = Layout(kept.shape, (partial.strides[1], kept.strides[1]))
        again = Layout((chunks,), ((1,),))
        second_by_rows = self.folds_by_rows(gathered, again)
        second = self.plan_pass(operator, (total, dtype), gathered, again, second_by_rows)
        return first, chunks, second

    def plan_pass(
        self,
        operator: Operator,
        types: tuple[DType, DType],
        kept: Layout,
        folded: Layout,
        by_rows: bool,
        *,
        chunks: int = 1,
    ) -> Plan:
        """Plan one launch of a fold that reads `types[0]` and writes `types[1]`."""
        size = self.machine.size
        fold = reduction.Fold(
            operator.name,
            self.graph(operator.value),
            operator.identity,
            *types,
            kept.rank,
            folded.rank,
            index_type(max(kept.size, folded.size)),
        )
        numbers = (
            *(kept.size, folded.size, -(-folded.size // chunks)),
            *(*kept.shape[1:], *folded.shape[1:]),
            *(*kept.strides[0], *folded.strides[0], *kept.strides[1], 1),
        )
        if by_rows:
            return self.plan_rows(fold, (kept.size, chunks), folded.size, numbers)
        blocks = min(-(-kept.size // size.threads), size.resident)
        return self.plan(reduction.columns(fold), (blocks, chunks), size.threads, numbers)

    def folds_by_rows(self, kept: Layout, folded: Layout) -> bool:
        """Return whether a block shares each fold, as for long folds of adjacent elements."""
        few = self.machine.size.threads // 4
        if folded.size >= few and (kept.size < few or lies_along(kept, folded)):
            return True
        return bool(self.special("folds_by_rows", kept, folded))

    def plan_rows(
        self, fold: reduction.Fold, grid: Grid, length: int, numbers: tuple[int, ...]
    ) -> Plan:
        """Plan a launch with one block per output and chunk (`grid`); folds have `length`."""
        special: Plan | None = self.special("plan_rows", fold, grid, length, numbers)
        threads = self.machine.size.threads
        return special or self.plan(reduction.rows(fold, threads), grid, threads, numbers)

    # --- Matrix product -------------------------------------------------------------------------

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply matrices with the tiled kernel: one block for each tile of each product."""
        left, right, shape = self.factors(a, b)
        special: TensorData | None = self.special("matmul", left, right, shape)
        if special is not None:
            return special
        result = self.empty(shape, a.dtype)
        if result.size:
            matrices = (*left.shape[:-1], right.shape[-1])
            views = (left, right, TensorData(result.storage, matrices, dtype=a.dtype))
            key = ("matmul", a.dtype, *((view.shape, view.strides) for view in views))
            self.launch(self.remembered(key, lambda: self._plan_matmul(*views)), views)
        return result

    def _plan_matmul(self, a: TensorData, b: TensorData, out: TensorData) -> Plan:
        views = (a, b, out)
        rows, inner = a.shape[-2:]
        columns = b.shape[-1]
        batch = merge(a.shape[:-2], [view.strides[:-2] for view in views])
        size = self.machine.size
        big = _tiles(rows, columns, size.large) * batch.size >= size.enough
        tiling = size.large if big else size.small
        kernel = matrix.matmul(
            a.dtype,
            tiling,
            batch.rank,
            a_by_rows=abs(a.strides[-1]) <= abs(a.strides[-2]),
            b_by_rows=abs(b.strides[-1]) <= abs(b.strides[-2]),
        )
        numbers = (
            *(batch.size, rows, inner, columns),
            *(stride for view in views for stride in view.strides[-2:]),
            *(*batch.shape[1:], *_flat(batch.strides)),
        )
        blocks = _tiles(rows, columns, tiling) * batch.size
        return self.plan(kernel, (blocks, 1), tiling.threads, numbers)

    # --- Indexing -------------------------------------------------------------------------------

    def checked_indices(
        self, index: TensorData, size: int, where: tuple[str, str], negative: bool = False
    ) -> TensorData:
        """Check indices with the registered kernel, or on the host."""
        checked: TensorData | None = self.special("checked_indices", index, size, where, negative)
        return super().checked_indices(index, size, where, negative) if checked is None else checked

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Gather elements along a dimension, in one launch over the elements of the index."""
        out = self.empty(index.shape, source.dtype)
        if index.size == 0:
            return out
        views = (source, index, out)
        key = ("gather", dim, source.dtype, index.shape, *(v.strides for v in views))

        def plan() -> Plan:
            strides = (_without(source.strides, dim), index.strides, out.strides)
            layout = merge(index.shape, strides)
            kernel = indexed.gather(source.dtype, layout.rank, index_type(layout.size))
            return self._plan_indexed(kernel, layout, source.strides[dim])

        self.launch(self.remembered(key, plan), views)
        return out

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Scatter elements along a dimension, in one launch over elements or lines of the index."""
        if index.size == 0:
            return
        views = (source, index, out)
        key = ("scatter", operator, dim, out.dtype, index.shape, *(v.strides for v in views))

        def plan() -> Plan:
            if operator is None or out.dtype.name in indexed.ATOMIC.get(operator.name, ()):
                strides = (source.strides, index.strides, _without(out.strides, dim))
                layout = merge(index.shape, strides)
                name = operator.name if operator else None
                kernel = indexed.scatter(out.dtype, layout.rank, index_type(layout.size), name)
                return self._plan_indexed(kernel, layout, out.strides[dim])
            rest = tuple(d for d in range(index.ndim) if d != dim)
            layout = merge(_at(index.shape, rest), [_at(view.strides, rest) for view in views])
            name, graph = operator.name, self.graph(operator.value)
            index_dtype = index_type(layout.size)
            kernel = indexed.scatter_lines(name, graph, out.dtype, layout.rank, index_dtype)
            steps = (source.strides[dim], index.strides[dim], out.strides[dim])
            return self._plan_indexed(kernel, layout, index.shape[dim], *steps)

        self.launch(self.remembered(key, plan), views)

    def _plan_indexed(self, kernel: Kernel, layout: Layout, *steps: int) -> Plan:
        """Plan a kernel over the elements or lines of an index; `steps` are its first numbers."""
        numbers = (*steps, *layout.shape[1:], *_flat(layout.strides))
        return self.plan_over_grid(kernel, layout.size, numbers)

    # --- Launching ------------------------------------------------------------------------------

    def batch_calls(self) -> AbstractContextManager[None]:
        """Return a context manager that may delay calls, to launch several at once."""
        special: AbstractContextManager[None] | None = self.special("batch_calls")
        return special or super().batch_calls()

    def program(self, calls: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        """Return a function that runs the calls of a program, in one launch if possible."""
        return self.special("program", calls) or super().program(calls)

    def settle(self) -> None:
        """Launch the delayed calls of this thread."""
        queue = self.thread.queue
        if queue is not None:
            queue.settle()

    def remembered(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the cached plan for a key, or create it."""
        return _cached(self._plans, key, make)

    def graph(self, formula: Formula) -> Graph:
        """Return the cached graph of a formula, in operations that kernels support."""
        return _cached(self._graphs, formula, lambda: expanded(graph_of(formula)))

    def plan_over_grid(
        self, kernel: Kernel, count: int, numbers: tuple[int, ...], each: int = 1
    ) -> Plan:
        """Plan a kernel that loops over `count` elements; a thread processes `each` at a time."""
        size = self.machine.size
        blocks = min(-(-count // (size.threads * each)), size.resident)
        return self.plan(kernel, (blocks, 1), size.threads, (count, *numbers))

    def plan(self, kernel: Kernel, grid: Grid, threads: int, numbers: tuple[int, ...]) -> Plan:
        """Plan a launch of a kernel, which is loaded on first use."""
        loaded = _cached(self._loaded, kernel, lambda: self.machine.load(kernel))
        return Plan(loaded, grid, threads, numbers)

    def launch(
        self, plan: Plan, views: Sequence[TensorData], values: Sequence[np.generic] = ()
    ) -> None:
        """Launch a plan on views, with further numbers after those of the plan."""
        self.settle()
        numbers: tuple[Argument, ...] = (*plan.numbers, *values)
        operands = [part for view in views for part in (view.storage, view.offset)]
        self.machine.launch(plan.loaded, plan.grid, plan.threads, numbers, operands)


def _cached(cache: dict[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
    """Return the cached value for a key, or create it; a full cache drops its oldest entry."""
    value = cache.get(key)
    if value is None:
        value = make()
        if len(cache) >= CACHE_SIZE:
            cache.pop(next(iter(cache)), None)
        cache[key] = value
    return value


# --- Calls --------------------------------------------------------------------------------------


def _call(
    formula: Formula, inputs: Sequence[TensorData | Number], outputs: Sequence[TensorData]
) -> Call:
    dtype, shape = computation_type(inputs, outputs[0].dtype), outputs[0].shape
    views = [*(x.expand(shape) for x in inputs if isinstance(x, TensorData)), *outputs]
    types = Signature(
        tuple(x.dtype if isinstance(x, TensorData) else None for x in inputs),
        tuple(view.dtype for view in outputs),
        computed(dtype),
    )
    strides = tuple(view.strides for view in views)
    aligned = not any(view.offset * view.dtype.itemsize % 16 for view in views)
    return Call(formula, types, dtype, shape, strides, aligned)


def _number(value: Any, dtype: DType) -> np.generic:
    """Convert a number to `dtype`, and then to the type of computations in `dtype`."""
    if isinstance(value, NumberLike):  # a number without a value yet: see `graphs/`
        return cast(np.generic, value.later(_number, dtype))
    return cast(np.generic, no_warnings().run(computed(dtype).numpy.type, dtype.convert(value)))


# --- Layouts ------------------------------------------------------------------------------------


def _at(values: Sequence[int], dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(values[d] for d in dims)


def _without(strides: Strides, dim: int) -> Strides:
    """Return strides with the stride of one dimension set to zero."""
    return (*strides[:dim], 0, *strides[dim + 1 :])


def _flat(strides: Sequence[Strides]) -> tuple[int, ...]:
    return tuple(stride for each in strides for stride in each)


def _tiles(rows: int, columns: int, tiling: matrix.Tiling) -> int:
    return -(-rows // tiling.tile) * -(-columns // tiling.tile)


def create_backend() -> CudaOps:
    """Create the backend on this machine's GPU, or on the simulator if `MT_CUDA_SIM` is set.

    Raises:
        BackendUnavailableError: there is no usable GPU; the message says why and what to do.
    """
    simulate = os.environ.get(SIMULATE, "")
    if simulate in {"", "0"}:
        return CudaOps(Gpu())
    return CudaOps(Simulator("reversed" if simulate == "reversed" else "forward"))
