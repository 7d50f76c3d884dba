"""The backend contract: everything that tensors ask of the place where their elements live.

A backend holds data (`empty`, `from_host`, `to_host`) and runs six primitives over strided views
(`TensorData`). All else is composed from these, so a backend that implements them has every
operation, with gradients, and passes `pytest --pyargs mt_tensor.conformance --mt-backend NAME`.

More methods (`compute`, `computing`, `on_arrays`, `fold`, `product`, `gathered`, `converted`,
`joined`) return what the primitives write; `update` writes it over what they read. They follow from
the primitives, and need no thought; a backend that can do it in less time, as NumPy can, may have
its own. A class with its own primitive and none of these gets what follows from that primitive.

What every primitive may rely on, because the caller has seen to it:

- All views belong to this backend. Shapes, strides and offsets stay inside their storage, and
  indices inside their dimension.
- Outputs are given, never returned: the primitive writes into them. An output may be any view,
  contiguous or not, in which no two indices name the same position. It shares no memory with an
  input (see `same_memory`), unless it is the same view: same storage, shape, strides, offset.
- Where there are several outputs, each may be such a view. All results of an element are computed
  before the first is written: a formula that returns its inputs in another order exchanges them.
- Any extent may be zero, any number of dimensions may occur, strides may be zero or negative.
- Broadcasting has happened: it shows as stride 0.

Division by zero, overflow and the like follow IEEE 754 silently; integers wrap around, and nothing
may trap: an integer divided by zero may become any number, as tensors refuse it before. Sums of
float16, in `reduce` and `matmul`, are added up in float32 at least, and rounded once.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mt_operators import Formula, Operator
from mt_tensor.backends.kernels import registered_kernel
from mt_tensor.dtypes import Array, DType, Number, float16, float32
from mt_tensor.errors import ExchangeError
from mt_tensor.layout import Layout, row_major
from mt_tensor.strides import Shape
from mt_tensor.tensor_data import TensorData

if TYPE_CHECKING:
    from mt_tensor.fused import FusedKernel

_FOLLOWS = {
    "elementwise": ("compute", "computing", "on_arrays", "update"),
    "compute": ("computing", "on_arrays"),
    "computing": ("on_arrays",),
    "copy": ("concatenate",),
}
"""What follows from each method, unless a class has a shorter way to it."""


class TensorBackend(ABC):
    """One place where tensors live. There is one instance per name in a process.

    Attributes:
        name: the name it is chosen by.
        device: torch's word for where its elements are: "cpu" for the memory of this machine.
        parallel_from: the number of elements from which it pays to use several threads.
    """

    name: str
    device: str = "cpu"
    parallel_from: int = sys.maxsize

    def __init_subclass__(cls) -> None:
        """Let what follows from a primitive do so wherever a class has a primitive of its own."""
        for primitive, followers in _FOLLOWS.items():
            for follows in followers:
                if primitive in cls.__dict__ and follows not in cls.__dict__:
                    setattr(cls, follows, getattr(TensorBackend, follows))

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

        It may share the array's memory if that can be written to; else it copies.

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
    def elementwise(
        self, formula: Formula, inputs: Sequence[TensorData], outputs: Sequence[TensorData]
    ) -> None:
        """Run a formula on each element: `outputs[:][i] = formula(*inputs[:][i])`.

        An output may be an input, so all results of an element come before the first is written.

        Args:
            formula: its elementary functions are spelled in the backend's own way
                (`mt_operators.lift`). Its plain numbers take the type of the computation; what has
                a fraction among integers is computed in float64, and converted at the end.
            inputs: `formula.arity` views of one shape. They have one dtype, the type of the
                computation, except that inputs of dtype bool may stand among others.
            outputs: `formula.outputs` views of that same shape, of the dtype of the computation
                or bool.
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
            a: shape (*batch, n, m).
            b: shape (*batch, m, k), of the same dtype, which is not bool.

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
            operator: if given (`add`, `mul`, `maximum`, `minimum`), combines what is there with
                what comes instead of replacing it, every repetition counted. Without it, which
                of several repetitions remains is open.
        """

    @abstractmethod
    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy a view, converting the dtype.

        A float becomes an integer by dropping its fraction, an integer wraps around, non-zero
        becomes True. What nan and floats out of range become as integers is left open.

        Args:
            source: a view.
            out: where to, of the same shape: a view, or the layout of a new one.
        """

    # --- What follows from the primitives: new views --------------------------------------------

    def compute(
        self, formula: Formula, inputs: Sequence[TensorData], shape: Shape, dtype: DType
    ) -> Any:
        """Return the values of a formula as new contiguous views.

        Args:
            formula: as for `elementwise`.
            inputs: as for `elementwise`, but still to be broadcast.
            shape: the shape that they broadcast to.
            dtype: the element type of all results.

        Returns:
            A TensorData, or a list of them if the formula has several outputs.
        """
        outputs = [self.empty(shape, dtype) for _ in range(formula.outputs)]
        self.elementwise(formula, [view.expand(shape) for view in inputs], outputs)
        return outputs[0] if formula.outputs == 1 else outputs

    def computing(self, formula: Formula) -> Callable[..., Any]:
        """Return `compute` for one formula: a function of each input, the shape and the dtype.

        It is asked for once, so that what can be looked up beforehand need not be at every call.
        """

        def computed(*given: Any) -> Any:
            *inputs, shape, dtype = given
            return self.compute(formula, inputs, shape, dtype)

        return computed

    def on_arrays(self, formula: Formula, dtype: DType) -> Callable[..., Any] | None:
        """Return a function of arrays that computes a formula, or None if there is none.

        What surrounds the computation takes most of a small tensor's time. With such a function,
        an operation on tensors in rows, of fewer than `parallel_from` elements, calls the backend
        no more. Only for backends whose elements are NumPy's.

        Args:
            formula: as for `elementwise`.
            dtype: of all arguments.

        Returns:
            None for comparisons, and for what has several results. Else a function
            of row-major arrays that returns a new one of the same dtype. The first has a shape
            other than (), which is that of the result; the others have the same shape or ().
        """
        return None

    def update(
        self, formula: Formula, inputs: Sequence[TensorData | Number], changed: tuple[int, ...]
    ) -> None:
        """Replace the elements of some inputs by the results of a formula.

        All results are those of the elements as they were before: the results of an element are
        computed before the first of them is written.

        Args:
            formula: as for `elementwise`.
            inputs: views of one floating-point type, which are still to be broadcast, and numbers.
            changed: which of them the results replace, in order. These are views of the shape that
                all broadcast to, and share no memory with another.
        """
        first: Any = inputs[changed[0]]
        dtype = float32 if first.dtype is float16 else first.dtype  # numbers keep their digits
        views = [
            data if isinstance(data, TensorData) else self.full((), dtype, data) for data in inputs
        ]
        views = [view.expand(first.shape) for view in views]
        targets = [views[place] for place in changed]
        if dtype is first.dtype:
            self.elementwise(formula, views, targets)
            return
        wide = [
            view if view.dtype is dtype else self.copy(view, row_major(view.shape, dtype))
            for view in views
        ]
        results = [self.empty(first.shape, dtype) for _ in targets]
        self.elementwise(formula, wide, results)
        for result, target in zip(results, targets, strict=True):
            self.copy(result, target)

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

    def written(self, out: Layout | TensorData) -> TensorData:
        """Return where a result goes: a view that is there, or a new one of a layout."""
        return self.empty(out.shape, out.dtype) if isinstance(out, Layout) else out

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new contiguous view in which every element is `value`."""
        with np.errstate(over="ignore"):
            number = self.from_host(np.asarray(dtype.convert(value), dtype.numpy))
        if shape == ():
            return number
        out = self.empty(shape, dtype)
        self.copy(number.expand(shape), out)
        return out

    # --- Optional: named fused kernels ----------------------------------------------------------

    def kernel(self, name: str) -> Callable[..., Any] | FusedKernel | None:
        """Return this backend's own version of the named operation, or None.

        By default one that a package gave to it with `mt_tensor.extending.register_kernels`.

        That is a `mt_tensor.fused.FusedKernel`: a value and its gradient. Where nothing is
        recorded, as of integers, a function will do that has the signature of the composed form.
        """
        return registered_kernel(self.name, name)

    # --- Memory ---------------------------------------------------------------------------------

    def reinterpreted(self, storage: Any, dtype: DType) -> Any:
        """Return the bytes of a storage as elements of another type, in the same memory.

        What is left of the bytes at the end, less than an element, is left out.

        Raises:
            ExchangeError: this backend cannot, as storages that are no arrays of NumPy cannot
                without a method of their own.
        """
        if not isinstance(storage, np.ndarray):
            raise ExchangeError(
                f"backend {self.name!r} cannot show the same memory as another element type: do it "
                "on another, as in x.to('numpy').view(dtype)."
            )
        whole = storage.nbytes // dtype.itemsize * dtype.itemsize
        return storage.view(np.uint8)[:whole].view(dtype.numpy)

    def same_memory(self, a: Any, b: Any) -> bool:
        """Whether two storages share memory: the same one, or arrays over the same bytes."""
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return np.may_share_memory(a, b)
        return a is b

    def synchronize(self) -> None:  # noqa: B027 - most backends have nothing to wait for
        """Wait until all work given to this backend has been done."""

    # --- One instance in a process --------------------------------------------------------------

    def __copy__(self) -> Self:
        """Return the backend itself: tensors of one backend must share one instance."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the backend itself."""
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        """Pickle by name."""
        from mt_tensor.backends.registry import get_backend

        return get_backend, (self.name,)

    def __repr__(self) -> str:
        """Show class and name."""
        return f"{type(self).__name__}({self.name!r})"
