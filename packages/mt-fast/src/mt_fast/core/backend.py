"""The `fast` backend: the primitives of the contract as compiled loops.

`FastOps` handles empty views and narrow dtypes, and decides from how many elements on a primitive
uses all threads. The modules named after the primitives choose and run the loops.

The storage of a tensor is a writeable NumPy array, so that views cost nothing and tensors can share
memory with NumPy. Most processors have no fast arithmetic of 16 bits: float16 and bfloat16 are
computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from mt_fast.core import calls, elementwise, movement, products, reductions
from mt_fast.core.loops import WORTH_A_KERNEL
from mt_fast.core.tables import MEMORY, SPECIAL_CASES, START, empty
from mt_operators import OPERATORS, Formula, Operator
from mt_tensor import DType, TensorData, bfloat16, float32, int16
from mt_tensor.core.casting import assign, to_float32
from mt_tensor.core.dtypes import Array, Number
from mt_tensor.core.errors import BackendUnavailableError
from mt_tensor.core.host import HostBackend, copied, no_warnings
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.plans import drop_plans
from mt_tensor.core.strides import Shape, folded_shape, size_of
from mt_tensor.core.tensor_data import MOST_DIMENSIONS, not_an_array

_ADD = OPERATORS["add"]

PARALLEL_FROM = 131072
"""Elements from which all threads are used. One thread adds up so many in 20 microseconds, and to
wake a sleeping thread takes longer than that."""

ANEW = 2**25
"""Bytes from which the C library gets memory from the system each time, which is already zero."""


class FastOps(HostBackend):
    """Every primitive as a loop compiled by Numba.

    Attributes:
        parallel_from: the number of elements from which a primitive uses all of the threads that
            Numba may use (`numba.set_num_threads`).
    """

    name = "fast"

    def __init__(self) -> None:
        """Start the threads.

        Raises:
            BackendUnavailableError: Numba must not compile, or the folder of compiled kernels is
                invalid.
        """
        super().__init__()
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            raise BackendUnavailableError(
                "NUMBA_DISABLE_JIT is set, so Numba does not compile: unset it, or use another "
                "backend."
            )
        for start in START:
            start()
        self._parallel_from = PARALLEL_FROM

    @property
    def parallel_from(self) -> int:
        """The number of elements from which a primitive uses all threads."""
        return self._parallel_from

    @parallel_from.setter
    def parallel_from(self, elements: int) -> None:
        self._parallel_from = elements
        drop_plans()  # which depend on it

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view with arbitrary elements."""
        layout = row_major(shape, dtype)
        try:
            return TensorData.in_rows(empty(layout.size, dtype.numpy), layout)
        except ValueError as error:
            raise not_an_array((layout.size,)) from error

    def from_host(self, array: Array) -> TensorData:
        """Return a contiguous view of the elements of an array."""
        data = super().from_host(array)
        storage = MEMORY["aligned"](data.storage)
        return (
            data if storage is data.storage else TensorData(storage, data.shape, dtype=data.dtype)
        )

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a new contiguous view of one number, written by all threads if it is large."""
        size = size_of(shape)
        if not self._parallel(size) or size * dtype.itemsize >= ANEW:
            return super().full(shape, dtype, value)
        out = self.empty(shape, dtype)
        return self.copy(super().full((), dtype, value).expand(out.shape), out)

    def random(self, numbers: np.random.Generator, shape: Shape, dtype: DType) -> TensorData:
        """Draw many numbers with the registered kernel, others with NumPy."""
        special = SPECIAL_CASES.get("random")
        drawn: TensorData | None = special and special(self, numbers, shape, dtype)
        return super().random(numbers, shape, dtype) if drawn is None else drawn

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Return the function that runs a formula.

        Raises:
            TracingError: the formula cannot be compiled; raised when it is run.
        """
        return calls.Running(formula, self, functools.partial(self._run, formula))

    def _run(
        self, formula: Formula, out: Layout | Sequence[TensorData], *inputs: TensorData | Number
    ) -> Any:
        """Run the formula's kernel over any views."""
        views, results = self.operands(inputs, out), self.results(formula, out)
        size = results[0].size
        if size:
            computed = [self._float32(view) for view in results]
            wide = [self._widened(view) for view in views]
            elementwise.run_formula(formula, wide, computed, self._parallel(size))
            for result, view in zip(computed, results, strict=True):
                self._rounded(result, view)
        return results[0] if formula.outputs == 1 else results

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Run the operator's kernel for this layout."""
        layout = source.layout
        shape, dtype, size = layout.shape, layout.dtype, layout.size
        first = len(shape) - len(dims)
        if layout.row_major and size and not dtype.is_narrow and (not dims or min(dims) >= first):
            storage = reductions.fold_rows(operator, source, len(dims), self.parallel_from)
            if storage is not None:
                remaining = shape[:first] + (1,) * len(dims) if keepdim else shape[:first]
                return TensorData.in_rows(storage, row_major(remaining, dtype))
        if dtype.is_narrow:
            total = self.reduce(operator, self._widened(source), dims, keepdim)
            return self.copy(total, row_major(total.shape, dtype))
        result = row_major(folded_shape(shape, dims, keepdim), dtype)
        if size == 0:
            return self.full(result.shape, dtype, operator.identity or 0)
        if all(shape[d] == 1 for d in dims):
            return self._fold_nothing(operator, source, result)
        plan = reductions.planned(operator, layout, dims, self.parallel_from)
        if plan is None:
            kept = [d for d in range(len(shape)) if d not in dims]
            rows = source.permute(*kept, *dims)
            rows = self.copy(rows, rows.layout.contiguous)
            total = self.reduce(operator, rows, tuple(range(len(kept), len(shape))))
            return total.with_layout(result)
        storage = empty(result.size, dtype.numpy)
        plan.run(source.storage, storage)
        return TensorData.in_rows(storage, result)

    def _fold_nothing(self, operator: Operator, source: TensorData, result: Layout) -> TensorData:
        """Fold dimensions of size 1: apply the operator to its identity and each element."""
        if operator.identity is None:
            return self.copy(source, source.layout.contiguous).with_layout(result)
        out = source.layout.contiguous
        folded = self.elementwise(operator.value)(out, operator.identity, source)
        return folded.with_layout(result)  # type: ignore[no-any-return]

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply with BLAS or a registered kernel, integers with a compiled loop."""
        dtype = a.layout.dtype
        if dtype.is_narrow:
            wide = products.of_floats(self._widened(a).array, self._widened(b).array)
            product = TensorData.of(wide, row_major(wide.shape, float32))
            return self.copy(product, row_major(wide.shape, dtype))
        if dtype.is_floating_point:
            result = products.of_floats(a.array, b.array)
            return TensorData.of(result, row_major(result.shape, dtype))
        left, right, shape = self.factors(a, b)
        left, right = map(self._contiguous, (left, right))
        out = self.empty((*left.shape[:-1], right.shape[-1]), dtype)
        parallel = self._parallel(left.size * right.shape[-1])
        products.of_integers(left.array, right.array, out.array, parallel)
        return out.with_layout(row_major(shape, dtype))

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Read by index."""
        if source.dtype is bfloat16:
            read = self.gather(_as_bits(source), dim, index)
            return TensorData(read.storage.view(bfloat16.numpy), read.shape, dtype=bfloat16)
        parallel = self._parallel(index.size)
        special = SPECIAL_CASES.get("gather") if index.size else None
        slices: TensorData | None = special and special(source, dim, index, parallel)
        if slices is not None:
            return slices
        out = self.empty(index.shape, source.dtype)
        if index.size:
            movement.gather(source, dim, index, out, parallel)
        return out

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Write by index; an operator, if any, combines old and new elements."""
        if index.size == 0:
            return
        if operator is not None and out.dtype.is_narrow:
            result = self._widened(out)
            self.scatter(self._widened(source), dim, index, result, operator)
            self._rounded(result, out)
            return
        source, out = _as_bits(source), _as_bits(out)
        special = SPECIAL_CASES.get("scatter_add") if operator is _ADD else None
        if special is None or not special(source, dim, index, out, self._parallel(index.size)):
            movement.scatter(source, dim, index, out, operator)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert."""
        if isinstance(out, Layout):
            if out.size < WORTH_A_KERNEL and len(out.shape) <= MOST_DIMENSIONS:
                return copied(source, out)  # NumPy needs less time to look at the layout
            out = self.empty(out.shape, out.dtype)
        if out.size == 0:
            return out
        if source.dtype is not out.dtype and (source.dtype.is_narrow or out.dtype.is_narrow):
            self._rounded(source, out)
        else:
            movement.copy(_as_bits(source), _as_bits(out), self._parallel(out.size))
        return out

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Join views with NumPy, in one call for all of them."""
        if parts[0].ndim > MOST_DIMENSIONS:
            return super().concatenate(parts, dim)
        array = np.concatenate([part.array for part in parts], dim)
        return TensorData.of(array, row_major(array.shape, parts[0].dtype))

    def _contiguous(self, view: TensorData) -> TensorData:
        """Return a contiguous view of the same elements: itself, or a copy."""
        return view if view.layout.row_major else self.copy(view, view.layout.contiguous)

    def _parallel(self, elements: int) -> bool:
        return elements >= self.parallel_from

    # --- float16 and bfloat16, by way of float32 ------------------------------------------------

    def _float32(self, view: TensorData) -> TensorData:
        """Return a float32 view for the results of a narrow view; another view itself."""
        return self.empty(view.shape, float32) if view.dtype.is_narrow else view

    def _widened(self, view: TensorData) -> TensorData:
        """Return a narrow view as float32, repeated elements once; another view itself."""
        if not view.dtype.is_narrow:
            return view
        once = tuple(
            1 if stride == 0 else size
            for size, stride in zip(view.shape, view.strides, strict=True)
        )
        array = to_float32(self.to_host(view.like(once, view.strides, view.offset)))
        return self.from_host(array.astype(np.float32, order="C")).expand(view.shape)

    def _rounded(self, result: TensorData, out: TensorData) -> None:
        """Copy a view to one of another dtype, with NumPy."""
        if result is not out:
            no_warnings().run(assign, self.to_host(out), self.to_host(result))


def _as_bits(view: TensorData) -> TensorData:
    """Return a view of bfloat16, which Numba lacks, as integers; another view itself."""
    if view.dtype is not bfloat16:
        return view
    storage = view.storage.view(int16.numpy)
    return TensorData(storage, view.shape, view.strides, view.offset, dtype=int16)


def create_backend() -> FastOps:
    """Return the backend, for the entry point of the package."""
    return FastOps()
