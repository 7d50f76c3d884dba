"""The backend contract: what tensors require of a backend.

A backend holds data (`empty`, `from_host`, `to_host`) and implements six primitives over strided
views (`TensorData`). All else is composed from these: with them a backend has every operation, with
gradients, and passes `pytest --pyargs mt_tensor.conformance --mt-backend NAME`. The methods below
the primitives work as they are; a backend may override them with faster ones. These calls are all
that a backend sees of a program, so that recording them records the whole of it.

Where results go: `reduce`, `matmul` and `gather` return new contiguous views; `scatter` writes to a
view. `elementwise` and `copy` do either, by their argument `out`: a `Layout` for new contiguous
views of its shape and dtype, or the views to write to. A change in place is a formula whose output
is one of its inputs.

What a backend works with:

- A view has `shape`, `strides`, `offset` and `dtype`, and the `storage` that this backend made, of
  any class. `TensorData(storage, shape, dtype=dtype)` is a contiguous view of a whole storage;
  `view.indices()` iterates over indices, and `view.index(i)` is the position of an element.
- A `Formula` has a `function` of Python's numbers (several `outputs` are a tuple), and a `graph`
  for compilers. An `Operator` has a `function`, too, and may have an `identity`.

What every primitive may rely on:

- All views belong to this backend, and stay inside their storage; indices are in range.
- A view that is written to may be strided, but no two of its indices name the same position. It
  shares no memory with an input (see `same_memory`), unless it is the same view.
- Any size may be zero, there may be any number of dimensions, strides may be zero or negative.

Of several outputs, all results of an element are computed before the first is written: a formula
that returns its inputs in another order exchanges them. The inputs of a formula, and the batches of
a product, are not broadcast yet: `operands` and `factors` do that, by strides of 0.

Results are rounded to the dtype of the view that they are stored in. Division by zero and overflow
follow IEEE 754 silently; integers wrap around (`DType.convert`). Nothing may trap: an integer
divided by zero may become any number, as tensors refuse it before. Sums of float16 and bfloat16, in
`reduce` and `matmul`, are added up in float32 at least, and rounded once.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from mt_operators import Formula, Operator
from mt_tensor.core.casting import cast_array, element
from mt_tensor.core.dtypes import Array, DType, Number, bfloat16, bool_, float64, int64
from mt_tensor.core.errors import IndexingError
from mt_tensor.core.extensions import ACTIVE, EXTENSIONS
from mt_tensor.core.kernels import registered_kernel
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape, shape_broadcast
from mt_tensor.core.tensor_data import TensorData

Method = TypeVar("Method", bound=Callable[..., Any])


class PlannedRun(Protocol):
    """A function that `elementwise` may return if it can choose a kernel once per signature."""

    def __call__(self, out: Any, *inputs: Any) -> Any:
        """Compute the formula; see `TensorBackend.elementwise`."""

    def plan(self, out: Layout, inputs: tuple[Layout, ...]) -> Callable[..., Any] | None:
        """Return the function for one signature; None if there is no better one than this.

        Args:
            out: the layout of new views.
            inputs: the layout of each input.

        Returns:
            `run(*inputs)`, which returns the new view, or a list of several.
        """


def on_tape(method: Method) -> Method:
    """Return a method of a backend whose calls an active tape sees (`mt_tensor/tape.py`).

    A tape belongs to a profiler, or to what records programs. Without one the method runs at once.
    """
    name = method.__name__

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if not ACTIVE.count:
            return method(self, *arguments, **options)
        return EXTENSIONS["call on tape"](self, name, method.__get__(self), arguments, options)

    @functools.wraps(method)
    def elementwise(self: Any, formula: Formula) -> Any:
        run = method(self, formula)
        return EXTENSIONS["elementwise on tape"](self, formula, run) if ACTIVE.count else run

    return elementwise if name == "elementwise" else call  # type: ignore[return-value]


class TensorBackend(ABC):
    """One place where tensors live. There is one instance per name in a process.

    Attributes:
        name: the name it is chosen by, which is also that of its entry point.
        device: torch's name of the device of its elements: "cpu" for the memory of this machine.
    """

    name: str
    device: str = "cpu"

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the tape see the calls of what a backend implements; see `on_tape`."""
        super().__init_subclass__(**options)
        for name in ON_TAPE & vars(cls).keys():
            if isinstance(vars(cls)[name], FunctionType):
                setattr(cls, name, on_tape(vars(cls)[name]))

    # --- Holding data ---------------------------------------------------------------------------

    @abstractmethod
    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view with arbitrary content.

        Raises:
            DTypeError: the backend does not support this dtype; the message lists those it does.
        """

    @abstractmethod
    def from_host(self, array: Array) -> TensorData:
        """Return a contiguous view with the elements of an array of any strides and byte order.

        It may share the array's memory if that is writeable; else it copies. An array of bfloat16,
        which NumPy lacks, has the dtype `bfloat16.numpy`: see `casting.py`.

        Raises:
            DTypeError: the backend does not support this dtype.
        """

    @abstractmethod
    def to_host(self, data: TensorData) -> Array:
        """Return the elements of a view as an array of its shape; may share its memory.

        Raises:
            ShapeError: there are more dimensions than arrays can have.
        """

    # --- The six primitives ---------------------------------------------------------------------

    @abstractmethod
    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Return the function `run(out, *inputs)`, a `PlannedRun` or a plain one.

        It is created once and called many times. For each index i of the results,
        `results[:][i] = formula(*inputs[:][i])`.

        Args:
            formula: what to compute. Its constants take the dtype of the computation; fractions
                among integers are computed in float64, and converted at the end.

        The arguments of `run`:
            out: the layout of new contiguous views, or `formula.outputs` views of one shape, each
                of which may also be an input. Their dtype is that of the computation, or bool.
            *inputs: `formula.arity` views, still to be broadcast to the shape of `out`, and
                numbers. The views have one dtype, that of the computation, except that some may be
                bool. Numbers among views of float16 or bfloat16 are not rounded to it: the formula
                is computed in float32, and its result rounded once.

        If `out` is a layout, `run` returns the new view, or a list of them for several outputs.
        """

    @abstractmethod
    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce the dimensions `dims` of `source` with an associative binary operator.

        Args:
            operator: `add`, `mul`, `maximum`, `minimum`, `logical_and`, `logical_or`, or another
                associative and commutative operator of two arguments.
            source: a view, of bool for the logical operators. Where a reduced dimension has size 0
                the result is `operator.identity`, which then is not None. Where there is an
                identity, every fold begins with it: not even the sum of one element is -0.0.
            dims: the dimensions, each once; for `()` each element is reduced alone.
            keepdim: whether they stay, with size 1.
        """

    @abstractmethod
    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply matrices: `result[..., i, k] = sum over j of a[..., i, j] * b[..., j, k]`.

        Args:
            a: shape (*batch, n, m); or (m,), a single row, whose dimension the result then lacks.
            b: shape (*batch, m, k); or (m,), a single column, likewise. It is of the same dtype,
                which is not bool. Batch dimensions are still to be broadcast.

        Returns:
            A view of shape (*batch, n, k); zero where m is 0.
        """

    @abstractmethod
    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Read along `dim`: `result[i][j][k] = source[i][index[i][j][k]][k]` for `dim` 1 of 3.

        Args:
            source: at least as long as `index` in every dimension but `dim`.
            dim: the dimension that the indices count in.
            index: dtype int64, values from 0 to `source.shape[dim] - 1`. Where strides are 0 in all
                other dimensions, as in a lookup of rows, it names whole slices.

        Returns:
            A view of the shape of `index`.
        """

    @abstractmethod
    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Write along `dim`: `out[i][index[i][j][k]][k] = source[i][j][k]` for `dim` 1 of 3.

        Args:
            source: the shape of `index` and the dtype of `out`.
            dim: the dimension that the indices count in.
            index: dtype int64, values from 0 to `out.shape[dim] - 1`, possibly with repetition.
            out: a view at least as long as `index` in every dimension but `dim`.
            operator: `add`, `mul`, `maximum` or `minimum` combines an element of `out` with each
                that is written to its place. With None they replace it; of several, any one may
                remain.
        """

    @abstractmethod
    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy a view, converting the dtype, to a view of the same shape or one of a new layout.

        A float becomes an integer by dropping its fraction, an integer wraps around, non-zero
        becomes True. As integers, nan and floats out of range may become any number.
        """

    # --- What follows from the primitives -------------------------------------------------------

    @on_tape
    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Return views of one dtype, whose shapes differ in `dim` only, one after the other."""
        first = parts[0]
        size = sum(part.shape[dim] for part in parts)
        out = self.empty((*first.shape[:dim], size, *first.shape[dim + 1 :]), first.dtype)
        starts = [0] * out.ndim
        for part in parts:
            self.copy(part, out.slice(tuple(starts), (1,) * out.ndim, part.shape))
            starts[dim] += part.shape[dim]
        return out

    @on_tape
    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new contiguous view in which every element is `value`."""
        with np.errstate(over="ignore"):
            number = self.from_host(np.asarray(element(value, dtype), dtype.numpy))
        return self.copy(number.expand(shape), row_major(shape, dtype))

    @on_tape
    def random(self, numbers: np.random.Generator, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view of uniform random numbers from 0 to below 1.

        They are drawn on the host. A backend that draws them itself consumes the same part of the
        sequence (`take_blocks` of `mt_tensor.backends.extending`), and gives the same numbers.

        Args:
            numbers: NumPy's Philox, at the beginning of a block.
            shape: the shape of the view.
            dtype: a floating-point dtype. Numbers of 16 bits are those of float32, rounded down.
        """
        drawn: Array = np.asarray(
            numbers.random(shape, np.float64 if dtype is float64 else np.float32)
        )
        if dtype.is_narrow:
            digits = 8 if dtype is bfloat16 else 11  # of a number
            spacing: Any = np.float32(2.0**-digits)
            drawn = np.floor(drawn / spacing) * spacing
        return self.from_host(cast_array(drawn, dtype))

    @on_tape
    def checked_indices(
        self, index: TensorData, size: int, where: tuple[str, str], negative: bool = False
    ) -> TensorData:
        """Return indices as int64, each from 0 to `size` - 1.

        They are read on the host, which waits for them. A backend that does not wait raises
        `IndexingError` at the next `to_host` or `synchronize`, and until then replaces a wrong
        index by any other.

        Args:
            index: a view of integers.
            size: the number of elements that they index.
            where: for the error: the operation, and what has so many elements.
            negative: whether indices from `-size` on count from the end.

        Raises:
            IndexingError: an index is out of range.
        """
        array = self.to_host(index)  # faster than a reduction by a backend
        unsigned = array.view(f"u{array.itemsize}")  # in which negative numbers are the largest
        if array.size and unsigned.item(unsigned.argmax()) >= size:  # quicker than a reduction
            low, high, least = int(array.min()), int(array.max()), -size if negative else 0
            if low < least or high >= size:
                raise index_error(where, low if low < least else high, size)
            return self.from_host(np.where(array < 0, array + np.int64(size), array))
        return index if index.dtype is int64 else self.copy(index, row_major(index.shape, int64))

    # --- For backends that loop over elements ----------------------------------------------------

    def results(self, formula: Formula, out: Layout | Sequence[TensorData]) -> Sequence[TensorData]:
        """Return the views that results of a formula are written to: `out`, or new ones."""
        if isinstance(out, Layout):
            return [self.empty(out.shape, out.dtype) for _ in range(formula.outputs)]
        return out

    def operands(
        self, inputs: Sequence[TensorData | Number], out: Layout | Sequence[TensorData]
    ) -> list[TensorData]:
        """Return all inputs as views of the shape of `out`; numbers become elements."""
        layout = out if isinstance(out, Layout) else out[0].layout
        wide = computation_type(inputs, layout.dtype).computed  # numbers are not rounded to less
        return [
            (x if isinstance(x, TensorData) else self.full((), wide, x)).expand(layout.shape)
            for x in inputs
        ]

    def factors(self, a: TensorData, b: TensorData) -> tuple[TensorData, TensorData, Shape]:
        """Return the factors of a product as matrices of one batch shape, and its shape."""
        left = a if a.ndim > 1 else a.like((1, *a.shape), (0, *a.strides), a.offset)
        right = b if b.ndim > 1 else b.like((*b.shape, 1), (*b.strides, 0), b.offset)
        batch = shape_broadcast(left.shape[:-2], right.shape[:-2])
        left, right = (each.expand((*batch, *each.shape[-2:])) for each in (left, right))
        return left, right, (*batch, *a.shape[:-1][-1:], *b.shape[1:][-1:])

    def target(self, out: Layout | TensorData) -> TensorData:
        """Return the view that a copy is written to: `out`, or a new one."""
        return self.empty(out.shape, out.dtype) if isinstance(out, Layout) else out

    # --- Optional -------------------------------------------------------------------------------

    @on_tape
    def kernel(self, name: str) -> Any:
        """Return this backend's kernel for a named operation, or None.

        The default looks it up among those of `register_kernels`; `mt_tensor.extending.FusedKernel`
        says what it may be.
        """
        return registered_kernel(self.name, name)

    def same_memory(self, a: Any, b: Any) -> bool:
        """Whether two storages share memory: the same one, or arrays over the same bytes."""
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return np.may_share_memory(a, b)
        return a is b

    def shared_memory(self) -> Any:
        """Return a `mt_tensor.backends.extending.SharedMemory` for elements outside NumPy arrays.

        None if other libraries cannot reach them.
        """
        return None

    def together(self) -> AbstractContextManager[None]:
        """Return a block in which the backend may delay calls to batch them with later ones.

        Results are the same, in program order. Optimizers update all parameters within one.
        """
        return nullcontext()

    def synchronize(self) -> None:  # noqa: B027 - most backends have nothing to wait for
        """Wait until all work given to this backend has been done."""

    def __copy__(self) -> Self:
        """Return the backend itself: tensors of one backend must share one instance."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


ON_TAPE = {
    "empty", "from_host", "to_host", "elementwise", "reduce", "matmul", "gather", "scatter", "copy",
    "concatenate", "full", "random", "checked_indices", "kernel",
}  # fmt: skip
"""The methods that compute, hold or look up something for a program."""


def index_error(where: tuple[str, str], index: int, size: int) -> IndexingError:
    """Return the error for an index that `TensorBackend.checked_indices` finds out of range."""
    operation, what = where
    return IndexingError(
        f"{operation}: index {index} is out of range for {what} with {size} element(s)."
    )


def computation_type(inputs: Sequence[TensorData | Number], default: DType) -> DType:
    """Return the dtype that a formula of these inputs is computed in.

    It is that of a view which is not bool, or bool if all are; `default` if there are only numbers.
    """
    dtype = None
    for x in inputs:
        if isinstance(x, TensorData):
            dtype = x.layout.dtype
            if dtype is not bool_:
                return dtype
    return default if dtype is None else dtype
