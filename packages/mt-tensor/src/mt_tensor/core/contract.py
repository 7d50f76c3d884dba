"""The backend contract: everything that tensors ask of the place where their elements live.

So far there were views of elements; this is about who computes with them. A backend holds data
(`empty`, `from_host`, `to_host`) and has six primitives over strided views (`TensorData`). All else
is composed from these: a backend that implements them has every operation, with gradients, and
passes `pytest --pyargs mt_tensor.conformance --mt-backend NAME`. The methods below them work as
they are; a backend may replace those for which it has a shorter way.

Each primitive has one form. `reduce`, `matmul` and `gather` return new contiguous views; `scatter`
writes to a view. `elementwise` and `copy` do either, by their argument `out`: a `Layout` stands for
new contiguous views of its shape and dtype, and anything else is views to write to. A change in
place is a formula whose output is one of its inputs. So these few calls are all that a backend sees
of a program, and one that writes them down sees the whole of it.

What a backend works with:

- A view has `shape`, `strides`, `offset` and `dtype`, and the `storage` that this backend made, of
  whatever class. `TensorData(storage, shape, dtype=dtype)` is a contiguous view of a whole storage;
  `view.indices()` are the indices of its elements, and `view.index(i)` is where in the storage
  the one at `i` lies.
- A `Formula` has a `function`, which computes it on Python's numbers (several `outputs` are a
  tuple), and a `graph` for backends that compile it. An `Operator` has such a `function`, too, and
  an `identity` if it is one that `reduce` begins with.

What every primitive may rely on, because the caller has seen to it:

- All views belong to this backend. Shapes, strides and offsets stay inside their storage, and
  indices inside their dimension.
- A view that is written to may be contiguous or not, but no two of its indices name the same
  position. It shares no memory with an input (see `same_memory`), unless it is the same view.
- Where there are several outputs, all results of an element are computed before the first is
  written: a formula that returns its inputs in another order exchanges them.
- Any extent may be zero, any number of dimensions may occur, strides may be zero or negative.

The inputs of a formula, and the batches of a product, are not broadcast yet. `operands` and
`factors` do that, by strides of 0, for backends that need it.

Results are rounded to the dtype of the view that they are stored in. Division by zero, overflow and
the like follow IEEE 754 silently; integers wrap around (`DType.convert`). Nothing may trap: an
integer divided by zero may become any number, as tensors refuse it before. Sums of float16
and bfloat16, in `reduce` and `matmul`, are added up in float32 at least, and rounded once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, Self

import numpy as np

from mt_operators import Formula, Operator
from mt_tensor.core.casting import cast_array, element
from mt_tensor.core.dtypes import NARROW, Array, DType, Number, bool_, float64, int64
from mt_tensor.core.errors import IndexingError
from mt_tensor.core.kernels import registered_kernel
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape, shape_broadcast
from mt_tensor.core.tensor_data import TensorData

Layouts = tuple[Layout, ...]


class PlannedRun(Protocol):
    """What `elementwise` may return: a function that can be specialized for layouts."""

    def __call__(self, out: Any, *inputs: Any) -> Any:
        """Compute the formula; see `TensorBackend.elementwise`."""

    def plan(
        self, out: Layout | Layouts, inputs: tuple[Layout | None, ...]
    ) -> Callable[..., Any] | None:
        """Return the function for one signature; None if there is no better one than this.

        Args:
            out: the layout of new views, or the layouts of the views that are written to.
            inputs: the layout of each input; None for a number.

        Returns:
            `run(*inputs)`, which returns the new view, or a list of several; or, to write to views,
            `run(out, *inputs)`.
        """


class TensorBackend(ABC):
    """One place where tensors live. There is one instance per name in a process.

    Attributes:
        name: the name it is chosen by, which is also that of its entry point.
        device: torch's word for where its elements are: "cpu" for the memory of this machine.
    """

    name: str
    device: str = "cpu"

    # --- Holding data ---------------------------------------------------------------------------

    @abstractmethod
    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view with arbitrary content.

        Raises:
            DTypeError: the backend has no elements of this type; the message says which it has.
        """

    @abstractmethod
    def from_host(self, array: Array) -> TensorData:
        """Return a contiguous view with the elements of an array of any strides and byte order.

        It may share the array's memory if that can be written to; else it copies. An array of
        bfloat16, which NumPy has not, is one of `bfloat16.numpy`: see `widening.py`.

        Raises:
            DTypeError: the backend has no elements of this type; the message says which it has.
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
        """Return the function `run(out, *inputs)` that computes a formula for each element.

        The caller asks once and calls it many times. For each index i of the results,
        `results[:][i] = formula(*inputs[:][i])`.

        Args:
            formula: what to compute. Its constants take the type of the computation; what has a
                fraction among integers is computed in float64, and converted at the end.

        The arguments of `run`:
            out: where the results go: the layout of new contiguous views, or `formula.outputs`
                views of one shape, each of which may also be an input. Their dtype is that of the
                computation, or bool.
            *inputs: `formula.arity` views, still to be broadcast to the shape of `out`, and
                numbers. The views have one dtype, that of the computation, except that some may be
                bool. Numbers among views of float16 or bfloat16 are not rounded to it: the formula
                is computed in float32, and its result rounded once.

        What `run` returns if `out` is a layout: the new view; a list of them for several outputs.
        If it is views, nobody reads what `run` returns.

        A backend that can choose a kernel for the layouts of a call once, and not at each call,
        returns a `PlannedRun`.
        """

    @abstractmethod
    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Fold the dimensions `dims` of `source` with an associative binary operator.

        Args:
            operator: `add`, `mul`, `maximum`, `minimum`, `logical_and`, `logical_or`, or another
                associative and commutative operator of two arguments.
            source: a view, of bool for the logical operators. Where a folded dimension has extent 0
                the result is `operator.identity`, which then is not None. Where there is an
                identity, every fold begins with it: a sum is never -0.0, not even that of a single
                element.
            dims: the dimensions, each once; for `()` each element is folded alone.
            keepdim: whether they stay, with extent 1.
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
                other dimensions, as when rows are looked up, it names whole slices.

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
        """Copy a view, converting the dtype.

        A float becomes an integer by dropping its fraction, an integer wraps around, non-zero
        becomes True. As integers, nan and floats out of range may become any number.

        Args:
            source: a view.
            out: where to, of the same shape: a view, or the layout of a new one.
        """

    # --- What follows from the primitives -------------------------------------------------------

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Return views of one dtype, one after the other along `dim`, as a new contiguous view.

        Args:
            parts: at least one; their shapes are equal except in `dim`.
            dim: one of their dimensions.
        """
        first = parts[0]
        extent = sum(part.shape[dim] for part in parts)
        out = self.empty((*first.shape[:dim], extent, *first.shape[dim + 1 :]), first.dtype)
        starts = [0] * out.ndim
        for part in parts:
            self.copy(part, out.slice(tuple(starts), (1,) * out.ndim, part.shape))
            starts[dim] += part.shape[dim]
        return out

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new contiguous view in which every element is `value`."""
        with np.errstate(over="ignore"):
            number = self.from_host(np.asarray(element(value, dtype), dtype.numpy))
        return self.copy(number.expand(shape), row_major(shape, dtype))

    def random(self, numbers: np.random.Generator, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view of numbers drawn evenly from 0 to below 1.

        They are drawn on the host. A backend that draws them itself takes what it needs of the
        sequence (`take_blocks` of `mt_tensor.backends.extending`), and gives the same numbers.

        Args:
            numbers: where they come from: NumPy's Philox, at the beginning of a block.
            shape: how many.
            dtype: a floating-point type. float32 and float64 are what `numbers.random` draws. In a
                type with fewer bits they are those of float32, rounded down.
        """
        drawn: Array = np.asarray(
            numbers.random(shape, np.float64 if dtype is float64 else np.float32)
        )
        if dtype.is_narrow:
            spacing: Any = np.float32(2.0 ** -NARROW[dtype].digits)
            drawn = np.floor(drawn / spacing) * spacing
        return self.from_host(cast_array(drawn, dtype))

    def checked_indices(
        self, index: TensorData, extent: int, where: tuple[str, str], negative: bool = False
    ) -> TensorData:
        """Return indices as int64 of which each is sure to be from 0 to `extent` - 1.

        They are looked at here, which waits for what computes them. A backend that does not wait
        has `IndexingError` raised by the next `to_host` or `synchronize`, and until then puts any
        other index in the place of a wrong one.

        Args:
            index: a view of integers.
            extent: of how many elements they name some.
            where: for the error: the operation, and what has so many elements.
            negative: whether those from `-extent` on count from the end.

        Raises:
            IndexingError: an index is out of range.
        """
        array = self.to_host(index)  # a look costs less than a reduction by a backend
        unsigned = array.view(f"u{array.itemsize}")  # in which negative numbers are the largest
        if array.size and np.maximum.reduce(unsigned, None) >= extent:
            low, high, least = int(array.min()), int(array.max()), -extent if negative else 0
            if low < least or high >= extent:
                raise index_error(where, low if low < least else high, extent)
            return self.from_host(np.where(array < 0, array + np.int64(extent), array))
        return index if index.dtype is int64 else self.copy(index, row_major(index.shape, int64))

    # --- For backends that look at one element after the other ----------------------------------

    def results(self, formula: Formula, out: Layout | Sequence[TensorData]) -> Sequence[TensorData]:
        """Return the views that results of a formula go to: those that are there, or new ones."""
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
        """Return what is multiplied as matrices with one batch shape, and the product's shape."""
        left = a if a.ndim > 1 else a.like((1, *a.shape), (0, *a.strides), a.offset)
        right = b if b.ndim > 1 else b.like((*b.shape, 1), (*b.strides, 0), b.offset)
        batch = shape_broadcast(left.shape[:-2], right.shape[:-2])
        left, right = (each.expand((*batch, *each.shape[-2:])) for each in (left, right))
        return left, right, (*batch, *a.shape[:-1][-1:], *b.shape[1:][-1:])

    def target(self, out: Layout | TensorData) -> TensorData:
        """Return where a copy goes: a view that is there, or a new one."""
        return self.empty(out.shape, out.dtype) if isinstance(out, Layout) else out

    # --- Optional: named fused kernels ----------------------------------------------------------

    def kernel(self, name: str) -> Any:
        """Return this backend's own version of the operation called `name`, or None.

        By default one that a package gave to it with `mt_tensor.extending.register_kernels`. What
        it may be, `mt_tensor.extending.FusedKernel` says. No operation of the lesson has one.
        """
        return registered_kernel(self.name, name)

    # --- Memory ---------------------------------------------------------------------------------

    def same_memory(self, a: Any, b: Any) -> bool:
        """Whether two storages share memory: the same one, or arrays over the same bytes."""
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return np.may_share_memory(a, b)
        return a is b

    def shared_memory(self) -> Any:
        """Return how other libraries reach elements that are in no NumPy array; None if they can't.

        What it is, `mt_tensor.backends.extending.SharedMemory` says.
        """
        return None

    def together(self) -> AbstractContextManager[None]:
        """Return a block in which calls may wait, to be made one with those that follow.

        Nobody notices but by the time it takes: what depends on a call that waits is computed
        after it. Optimizers change all parameters within one.
        """
        return nullcontext()

    def synchronize(self) -> None:  # noqa: B027 - most backends have nothing to wait for
        """Wait until all work given to this backend has been done."""

    # --- One instance in a process --------------------------------------------------------------

    def __copy__(self) -> Self:
        """Return the backend itself: tensors of one backend must share one instance."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the backend itself."""
        return self

    def __repr__(self) -> str:
        """Show class and name."""
        return f"{type(self).__name__}({self.name!r})"


def index_error(where: tuple[str, str], index: int, extent: int) -> IndexingError:
    """Return the error for an index that `TensorBackend.checked_indices` finds out of range."""
    operation, what = where
    return IndexingError(
        f"{operation}: index {index} is out of range for {what} with {extent} element(s)."
    )


def computation_type(inputs: Sequence[TensorData | Number], default: DType) -> DType:
    """Return the type that a formula of these inputs is computed in.

    It is that of a view which is not of bool, if there is one; else bool, as every condition is;
    and `default` if there are only numbers.
    """
    dtype = None
    for x in inputs:
        if isinstance(x, TensorData):
            dtype = x.layout.dtype
            if dtype is not bool_:
                return dtype
    return default if dtype is None else dtype
