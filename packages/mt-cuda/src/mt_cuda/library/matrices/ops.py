"""The products of a backend: by the kernel that the hardware wants, instead of the lesson's."""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.backend import CudaOps, Plan
from mt_cuda.layout import Layout
from mt_cuda.library.matrices.planning import plan
from mt_cuda.library.matrices.tensor_cores import best
from mt_cuda.library.matrices.tiles import lanes_of
from mt_cuda.matrix import total_type
from mt_operators import OPERATORS
from mt_tensor import TensorData
from mt_tensor.extending import size_of

MANY_PARTS = 32
"""Parts from which on a block adds those of one element up, if there are few elements."""


@dataclass(frozen=True, slots=True)
class Launches:
    """The launches of a product.

    Attributes:
        first: multiplies.
        second: adds up what the parts of the inner dimension gave; None if it is not cut.
        totals: how many totals there are between the two.
    """

    first: Plan
    second: Plan | None
    totals: int


class ProductOps(CudaOps):
    """Matrix products of floats: one launch, or two where the inner dimension is cut into parts."""

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Run the kernel for this layout; what it is not made for goes to the lesson's."""
        left, right, shape = self.factors(a, b)
        if size_of(shape) == 0:
            return self.empty(shape, a.dtype)
        aligned = (view.offset % lanes_of(view.dtype) for view in (left, right))
        key = ("product", a.dtype, left.shape, left.strides, right.shape, right.strides, *aligned)
        (launches,) = self.remembered(key, lambda: (self._plan_product(left, right),))
        if launches is None:
            return super().matmul(a, b)
        result = self.empty(shape, a.dtype)
        if launches.second is None:
            self.launch(launches.first, (left, right, result))
            return result
        totals = self.empty((launches.totals,), total_type(a.dtype))
        self.launch(launches.first, (left, right, totals))
        self.launch(launches.second, (totals, result))
        return result

    def _plan_product(self, a: TensorData, b: TensorData) -> Launches | None:
        size = self.machine.size
        planned = plan(a, b, size)
        if planned is None:
            return None
        cut, form = planned.cut, planned.form
        first = self.plan(best(form), (cut.tiles, cut.parts), cut.tile.threads, planned.numbers)
        if cut.parts == 1:
            return Launches(first, None, 0)
        elements = size_of((*a.shape[:-1], b.shape[-1]))
        kept = Layout((elements,), ((1,), (1,)))
        parts = Layout((cut.parts,), ((elements,),))
        by_rows = cut.parts >= MANY_PARTS and elements < size.threads * size.enough
        second = self._plan_pass(OPERATORS["add"], (form.out, form.dtype), kept, parts, by_rows)
        return Launches(first, second, cut.parts * elements)
