"""The `fast` backend: the primitives of the contract as compiled loops.

`FastOps` handles empty views and 16-bit dtypes, and decides whether a primitive uses all threads.
The modules named after the primitives choose and run the loops.

The storage of a tensor is a writeable NumPy array, so tensors can share memory with NumPy. Most
processors have no fast 16-bit arithmetic: float16 and bfloat16 are computed in float32 and rounded
once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from mt_fast.core import movement, products, reductions
from mt_fast.core.elementwise import FormulaRunner
from mt_fast.core.tables import MEMORY, SPECIAL_CASES, START
from mt_operators import Formula, Operator
from mt_tensor import DType, TensorData, float32
from mt_tensor.core.dtypes import Array
from mt_tensor.core.errors import BackendUnavailableError
from mt_tensor.core.host import HostBackend
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.plans import drop_plans
from mt_tensor.core.strides import Shape, reduce_shape
from mt_tensor.core.tensor_data import MAX_DIMENSIONS

PARALLEL_FROM = 131072
"""The number of elements from which all threads are used. One thread sums them in 20 microseconds;
waking a sleeping thread takes longer."""


class FastOps(HostBackend):
    """The backend that computes with loops compiled by Numba."""

    name = "fast"

    def __init__(self) -> None:
        """Start the threads.

        Raises:
            BackendUnavailableError: Numba's compiler is disabled, or the kernel cache folder is
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
        """The number of elements from which a primitive uses all of Numba's threads."""
        return self._parallel_from

    @parallel_from.setter
    def parallel_from(self, elements: int) -> None:
        self._parallel_from = elements
        drop_plans()  # plans depend on it

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new contiguous view with arbitrary elements."""
        return movement.new_view(row_major(shape, dtype))

    def from_host(self, array: Array) -> TensorData:
        """Return a contiguous view of the elements of an array."""
        return super().from_host(MEMORY["aligned"](array))

    def random(self, numbers: np.random.Generator, shape: Shape, dtype: DType) -> TensorData:
        """Draw large tensors with the registered kernel, others with NumPy."""
        special = SPECIAL_CASES.get("random")
        drawn: TensorData | None = special and special(self, numbers, shape, dtype)
        return super().random(numbers, shape, dtype) if drawn is None else drawn

    def elementwise(self, formula: Formula) -> FormulaRunner:
        """Return the function that runs a formula; a call raises TracingError if tracing fails."""
        return FormulaRunner(formula, self)

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce contiguous rows of the view, or of a copy."""
        layout = source.layout
        if layout.size and not layout.dtype.is_narrow:
            return reductions.planned(operator, layout, dims, keepdim, self.parallel_from)(source)
        result = row_major(reduce_shape(layout.shape, dims, keepdim), layout.dtype)
        if layout.size == 0:
            return self.full(result.shape, result.dtype, operator.identity or 0)
        return self.copy(self.reduce(operator, self._wide(source), dims, keepdim), result)

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply matrices: floats with BLAS or a registered kernel, integers with a loop."""
        dtype = a.layout.dtype
        if dtype.is_narrow:
            product = self.matmul(self._wide(a), self._wide(b))
            return self.copy(product, row_major(product.shape, dtype))
        if dtype.is_floating_point:
            return products.planned(a.layout, b.layout)(a, b)
        left, right, shape = self.factors(a, b)
        parallel = left.size * right.shape[-1] >= self.parallel_from
        result = products.matmul_integers(left.array, right.array, parallel)
        return TensorData.of(result.reshape(shape), row_major(shape, dtype))

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Read elements by index."""
        parallel = index.size >= self.parallel_from
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
        """Write elements by index; an operator combines old and new elements."""
        if index.size == 0:
            return
        if operator is not None and out.dtype.is_narrow:
            result = self._wide(out)
            self.scatter(self._wide(source), dim, index, result, operator)
            self.copy(result, out)
            return
        parallel = index.size >= self.parallel_from
        special = SPECIAL_CASES.get(f"scatter_{operator.name}") if operator is not None else None
        if special is None or not special(source, dim, index, out, parallel):
            movement.scatter(source, dim, index, out, operator)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert."""
        parallel = out.size >= self.parallel_from
        if isinstance(out, Layout):
            return movement.copied(source, out, parallel)
        if out.size:
            movement.copy(source, out, parallel)
        return out

    def concatenate(self, parts: Sequence[TensorData], dim: int) -> TensorData:
        """Concatenate with a single call of NumPy."""
        if len(parts[0].layout.shape) > MAX_DIMENSIONS:
            return super().concatenate(parts, dim)
        array = np.concatenate([part.array for part in parts], dim)
        return TensorData.of(array, row_major(array.shape, parts[0].layout.dtype))

    def _wide(self, view: TensorData) -> TensorData:
        """Convert a 16-bit view to contiguous float32."""
        return self.copy(view, row_major(view.shape, float32))


def create_backend() -> FastOps:
    """Create the backend; the package's entry point."""
    return FastOps()
