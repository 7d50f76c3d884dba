"""The backend contract: what tensors require of a backend.

A backend holds data (`empty`, `from_host`, `to_host`) and implements six primitives over strided
views (`TensorData`). Every other operation is composed from these, so a backend that implements
them has all operations, with gradients, and passes
`pytest --pyargs mt_tensor.conformance --mt-backend NAME`. The methods below the primitives have
default implementations, which a backend may override with faster ones. A program reaches a backend
through these methods only, so recording their calls records the whole program.

`reduce`, `matmul` and `gather` return new contiguous views; `scatter` writes to a view.
`elementwise` and `copy` do either, depending on their argument `out`: a `Layout` requests new
contiguous views of its shape and dtype; views are written to. An in-place operation is a formula
with the same view as input and output.

The arguments of a backend:

- A view has `shape`, `strides`, `offset` and `dtype`, and a `storage` created by this backend, of
  any class. `TensorData(storage, shape, dtype=dtype)` is a contiguous view of a whole storage;
  `view.indices()` iterates over indices, and `view.index(i)` is the position of an element.
- A `Formula` has a `function` of Python numbers, which returns a tuple for several `outputs`, and a
  `graph` for compilers. An `Operator` also has a `function`, and may have an `identity`.

Every primitive may assume:

- All views belong to this backend, and stay inside their storage; indices are in range.
- A view that is written to may be strided, but no two of its indices name the same position. It
  shares no memory with an input (see `same_memory`), unless it is the same view.
- Any size may be zero, there may be any number of dimensions, strides may be zero or negative.

If a formula has several outputs, all results of an element are computed before the first is
written, so a formula that returns its inputs in another order swaps them. The inputs of a formula,
and the batch dimensions of a matrix product, are not broadcast yet: `operands` and `factors`
broadcast them with strides of 0.

Results are rounded to the dtype of the view that they are stored in. Division by zero and overflow
follow IEEE 754 silently; integers wrap around (`DType.convert`). Nothing may trap: an integer
divided by zero may give any number, since tensors raise an error first. `reduce` and `matmul`
accumulate float16 and bfloat16 in float32 or wider, and round once.
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
from mt_tensor.core.extensions import ACTIVE_TAPES, EXTENSIONS
from mt_tensor.core.kernels import registered_kernel
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape, shape_broadcast
from mt_tensor.core.tensor_data import TensorData

Method = TypeVar("Method", bound=Callable[..., Any])


class PlannedRun(Protocol):
    """An optional result type of `elementwise`: chooses a kernel once per signature."""

    def __call__(self, out: Any, *inputs: Any) -> Any:
        """Compute the formula; see `TensorBackend.elementwise`."""

    def plan(self, out: Layout, inputs: tuple[Layout, ...]) -> Callable[..., Any] | None:
        """Return a function specialized for one signature, or None to use this one.

        Args:
            out: the layout of the new views.
            inputs: the layout of each input.

        Returns:
            `run(*inputs)`, which returns the new view, or a list of several.
        """


def on_tape(method: Method) -> Method:
    """Wrap a backend's method so that an active tape intercepts its calls (`mt_tensor/tape.py`).

    Profilers and program recorders use tapes. Without a tape the method runs directly.
    """
    name = method.__name__

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if not ACTIVE_TAPES.count:
            return method(self, *arguments, **options)
        return EXTENSIONS["call on tape"](self, name, method.__get__(self), arguments, options)

    @functools.wraps(method)
    def elementwise(self: Any, formula: Formula) -> Any:
        run = method(self, formula)
        return EXTENSIONS["elementwise on tape"](self, formula, run) if ACTIVE_TAPES.count else run

    return elementwise if name == "elementwise" else call  # type: ignore[return-value]


class TensorBackend(ABC):
    """Base class of backends. There is one instance per name in a process.

    Attributes:
        name: the name that selects it, also the name of its entry point.
        device: torch's name for the device that holds the elements: "cpu" for host memory.
    """

    name: str
    device: str = "cpu"

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap the methods that a backend implements in `on_tape`."""
        super().__init_subclass__(**options)
        for name in ON_TAPE & vars(cls).keys():
            if isinstance(vars(cls)[name], FunctionType):
                setattr(cls, name, on_tape(vars(cls)[name]))

    # --- Holding data ---------------------------------------------------------------------------

    @abstractmethod
    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view with arbitrary content.

        Raises:
            DTypeError: the backend does not support this dtype; the message lists supported ones.
        """

    @abstractmethod
    def from_host(self, array: Array) -> TensorData:
        """Return a contiguous view with the elements of an array of any strides and byte order.

        The view may share the array's memory if it is writeable. A bfloat16 array has the dtype
        `bfloat16.numpy`, since NumPy has no bfloat16.

        Raises:
            DTypeError: the backend does not support this dtype.
        """

    @abstractmethod
    def to_host(self, data: TensorData) -> Array:
        """Return the elements of a view as an array of its shape, which may share its memory.

        Raises:
            ShapeError: there are more dimensions than NumPy arrays can have.
        """

    # --- The six primitives ---------------------------------------------------------------------

    @abstractmethod
    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Return a function `run(out, *inputs)` that computes a formula elementwise.

        It is created once and called many times. For each index i of the results,
        `results[:][i] = formula(*inputs[:][i])`.

        Args:
            formula: the formula to compute. Its constants take the dtype of the computation;
                fractional constants with integer views are computed in float64, and converted at
                the end.

        The arguments of `run`:
        - `out`: the layout of new contiguous views, or `formula.outputs` views of one shape, each
          of which may also be an input. Their dtype is that of the computation, or bool.
        - `*inputs`: `formula.arity` views and numbers. The views must be broadcast to the shape of
          `out`. They have one dtype, that of the computation, except that some may be bool. Numbers
          with float16 or bfloat16 views are not rounded to that dtype: the formula is computed in
          float32, and its result rounded once.

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
            source: a view, bool for the logical operators. If a reduced dimension has size 0, the
                result is `operator.identity`, which is not None then. Every fold starts with the
                identity if there is one, so that even the sum of a single -0.0 is 0.0.
            dims: the dimensions, without repetition; for `()` each element is reduced alone.
            keepdim: whether to keep them, with size 1.
        """

    @abstractmethod
    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply matrices: `result[..., i, k] = sum over j of a[..., i, j] * b[..., j, k]`.

        Args:
            a: shape (*batch, n, m); or (m,), a single row, whose dimension the result drops.
            b: shape (*batch, m, k); or (m,), a single column, whose dimension the result drops. It
                has the dtype of `a`, which is not bool. Batch dimensions must be broadcast.

        Returns:
            A view of shape (*batch, n, k); zero where m is 0.
        """

    @abstractmethod
    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Read along `dim`: `result[i][j][k] = source[i][index[i][j][k]][k]` for `dim` 1 of 3.

        Args:
            source: at least as long as `index` in every dimension but `dim`.
            dim: the dimension that is indexed.
            index: dtype int64, values from 0 to `source.shape[dim] - 1`. If its strides are 0 in
                all other dimensions, as in a lookup of rows, it selects whole slices.

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
            dim: the dimension that is indexed.
            index: dtype int64, values from 0 to `out.shape[dim] - 1`, possibly with repetition.
            out: a view at least as long as `index` in every dimension but `dim`.
            operator: `add`, `mul`, `maximum` or `minimum` combines an element of `out` with all
                values written to it. With None they replace it; if there are several, any one of
                them may remain.
        """

    @abstractmethod
    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy a view to a view of the same shape, or to a new one, converting the dtype.

        Conversion of floats to integers truncates, integers wrap around, and nonzero numbers
        become True. The integer for nan, or for a float out of range, is unspecified.
        """

    # --- Composed from the primitives -----------------------------------------------------------

    @on_tape
    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Concatenate views of one dtype, whose shapes differ in `dim` only."""
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
        """Return a new contiguous view of random numbers, uniform in [0, 1).

        This implementation draws them on the host. A backend that draws them itself must consume
        the same part of the sequence (`take_blocks` of `mt_tensor.backends.extending`), and return
        the same numbers.

        Args:
            numbers: NumPy's Philox, at the start of a block.
            shape: the shape of the view.
            dtype: a floating-point dtype. 16-bit numbers are float32 numbers rounded down.
        """
        drawn: Array = np.asarray(
            numbers.random(shape, np.float64 if dtype is float64 else np.float32)
        )
        if dtype.is_narrow:
            digits = 8 if dtype is bfloat16 else 11  # of the significand
            spacing: Any = np.float32(2.0**-digits)
            drawn = np.floor(drawn / spacing) * spacing
        return self.from_host(cast_array(drawn, dtype))

    @on_tape
    def checked_indices(
        self, index: TensorData, size: int, where: tuple[str, str], negative: bool = False
    ) -> TensorData:
        """Return indices as int64, each checked to be from 0 to `size - 1`.

        This implementation reads them on the host. An asynchronous backend may raise
        `IndexingError` at the next `to_host` or `synchronize` instead, and use any valid index in
        place of an invalid one until then.

        Args:
            index: a view of integers.
            size: the number of elements that they index.
            where: for the error message: the operation, and the name of the indexed object.
            negative: whether indices from `-size` to -1 count from the end.

        Raises:
            IndexingError: an index is out of range.
        """
        array = self.to_host(index)  # faster than a reduction by a backend
        unsigned = array.view(f"u{array.itemsize}")  # in which negative numbers are the largest
        if array.size and unsigned.item(unsigned.argmax()) >= size:  # faster than `max`
            low, high, least = int(array.min()), int(array.max()), -size if negative else 0
            if low < least or high >= size:
                raise index_error(where, low if low < least else high, size)
            return self.from_host(np.where(array < 0, array + np.int64(size), array))
        return index if index.dtype is int64 else self.copy(index, row_major(index.shape, int64))

    # --- For backends that loop over elements ----------------------------------------------------

    def results(self, formula: Formula, out: Layout | Sequence[TensorData]) -> Sequence[TensorData]:
        """Return the views to write the results of a formula to: `out`, or new ones."""
        if isinstance(out, Layout):
            return [self.empty(out.shape, out.dtype) for _ in range(formula.outputs)]
        return out

    def operands(
        self, inputs: Sequence[TensorData | Number], out: Layout | Sequence[TensorData]
    ) -> list[TensorData]:
        """Return all inputs as views expanded to the shape of `out`; numbers become 0-D views."""
        layout = out if isinstance(out, Layout) else out[0].layout
        wide = computation_type(inputs, layout.dtype).computed  # numbers are not rounded to less
        return [
            (x if isinstance(x, TensorData) else self.full((), wide, x)).expand(layout.shape)
            for x in inputs
        ]

    def factors(self, a: TensorData, b: TensorData) -> tuple[TensorData, TensorData, Shape]:
        """Return the factors of a product, expanded to one batch shape, and the result's shape."""
        left = a if a.ndim > 1 else a.like((1, *a.shape), (0, *a.strides), a.offset)
        right = b if b.ndim > 1 else b.like((*b.shape, 1), (*b.strides, 0), b.offset)
        batch = shape_broadcast(left.shape[:-2], right.shape[:-2])
        left, right = (each.expand((*batch, *each.shape[-2:])) for each in (left, right))
        return left, right, (*batch, *a.shape[:-1][-1:], *b.shape[1:][-1:])

    def target(self, out: Layout | TensorData) -> TensorData:
        """Return the view to write a copy to: `out`, or a new one."""
        return self.empty(out.shape, out.dtype) if isinstance(out, Layout) else out

    # --- Optional -------------------------------------------------------------------------------

    @on_tape
    def kernel(self, name: str) -> Any:
        """Return this backend's kernel for a named operation, or None.

        The default looks it up among those registered with `register_kernels`. Results are cached:
        call `mt_tensor.backends.extending.drop_plans` when they change.
        """
        return registered_kernel(self.name, name)

    def same_memory(self, a: Any, b: Any) -> bool:
        """Return whether two storages may share memory."""
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return np.may_share_memory(a, b)
        return a is b

    def shared_memory(self) -> Any:
        """Return an `mt_tensor.backends.extending.SharedMemory` for storages that are not arrays.

        Return None if other libraries cannot access them.
        """
        return None

    def batch_calls(self) -> AbstractContextManager[None]:
        """Return a context in which the backend may batch calls instead of running each at once.

        The results do not change. Optimizers update all parameters inside one context.
        """
        return nullcontext()

    def program(self, calls: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        """Return a function that does the same as `calls`, which may be faster.

        Args:
            calls: makes the calls of this backend that a compiled function has made. It takes, and
                empties, a list of the values that may differ between runs: views, tuples with
                tensors that a `FusedKernel` has saved, numbers and generators. It returns a list of
                new views and such tuples.
        """
        return calls

    def synchronize(self) -> None:  # noqa: B027 - most backends are synchronous
        """Wait for all pending work of this backend."""

    def __copy__(self) -> Self:
        """Return the backend itself, since all tensors of a backend share one instance."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


ON_TAPE = {
    "empty", "from_host", "to_host", "elementwise", "reduce", "matmul", "gather", "scatter", "copy",
    "concatenate", "full", "random", "checked_indices", "kernel",
}  # fmt: skip
"""The methods whose calls a tape intercepts."""


def index_error(where: tuple[str, str], index: int, size: int) -> IndexingError:
    """Return the error for an index out of range; see `TensorBackend.checked_indices`."""
    operation, what = where
    return IndexingError(
        f"{operation}: index {index} is out of range for {what} with {size} element(s)."
    )


def computation_type(inputs: Sequence[TensorData | Number], default: DType) -> DType:
    """Return the dtype that a formula of these inputs is computed in.

    That is the dtype of the first view that is not bool, bool if all views are bool, and `default`
    if there are only numbers.
    """
    dtype = None
    for x in inputs:
        if isinstance(x, TensorData):
            dtype = x.layout.dtype
            if dtype is not bool_:
                return dtype
    return default if dtype is None else dtype
