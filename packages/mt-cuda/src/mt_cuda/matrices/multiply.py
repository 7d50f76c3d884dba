"""The products of a backend: by cuBLAS, or by the kernel for the hardware."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.layout import Layout
from mt_cuda.core.matrix import total_type
from mt_cuda.core.tables import SPECIAL_CASES
from mt_cuda.images.weights import added_parts
from mt_cuda.matrices import blas
from mt_cuda.matrices.planning import Planned, plan
from mt_cuda.matrices.tensor_cores import best
from mt_cuda.matrices.tiles import lanes_of
from mt_cuda.rows.teams import team_beside
from mt_operators import OPERATORS
from mt_tensor import TensorData
from mt_tensor.backends.extending import are_products_exact
from mt_tensor.extending import Shape, size_of

MANY_PARTS = 32
"""The number of parts from which a block adds the parts of one element, if there are few
elements."""


def matmul(ops: CudaOps, left: TensorData, right: TensorData, shape: Shape) -> TensorData | None:
    """Return a product of matrices by the kernel for this layout; None if there is none."""
    return multiplied(ops, left, right, shape) if size_of(shape) else None


def linear(ops: CudaOps, a: TensorData, b: TensorData, bias: TensorData | None) -> TensorData:
    """Return the product of two matrices plus a bias per column.

    The matrices are of a float dtype, and of sizes that `plan` supports.
    """
    return cast(TensorData, multiplied(ops, a, b, (a.shape[0], b.shape[1]), bias))


def product_and_sums(ops: CudaOps, a: TensorData, b: TensorData) -> tuple[TensorData, TensorData]:
    """Return the product of two matrices, and the sums of the rows of the left one.

    The matrices are of a float dtype, and of sizes that `plan` supports.
    """
    rows, columns, dtype = a.shape[0], b.shape[1], a.dtype
    by_library = blas.multiplied(ops, a, b, (rows, columns), None)
    if by_library is not None:
        return by_library, ops.reduce(OPERATORS["add"], a, (1,))
    elements = rows * columns + rows
    key = ("product and sums", dtype, _layout(a, b))

    def plan_both() -> tuple[Plan, Plan, int]:
        planned = cast(Planned, plan(a, b, ops.machine.size, summed=True))
        team = team_beside(elements, planned.cut.parts, ops.machine.size.threads)
        second = ops.plan(
            added_parts(dtype, team),
            (team.blocks(elements), 1),
            team.threads,
            (elements, planned.cut.parts, rows * columns),
        )
        return _plan_first(ops, planned), second, planned.cut.parts

    first, second, parts = ops.remembered(key, plan_both)
    totals = ops.empty((parts * elements,), total_type(dtype))
    result, sums = ops.empty((rows, columns), dtype), ops.empty((rows,), dtype)
    ops.launch(first, (a, b, totals))
    ops.launch(second, (totals, result, sums))
    return result, sums


def multiplied(
    ops: CudaOps, left: TensorData, right: TensorData, shape: Shape, bias: TensorData | None = None
) -> TensorData | None:
    """Return a product plus a bias per column, by cuBLAS or our kernel; None for neither."""
    by_library = blas.multiplied(ops, left, right, shape, bias)
    if by_library is not None:
        return by_library
    biased = bias is not None
    key = ("product", left.dtype, biased, _layout(left, right))
    first, second, count = ops.remembered(key, lambda: _plan_product(ops, left, right, biased))
    if first is None:
        return None
    result = ops.empty(shape, left.dtype)
    given = (left, right) if bias is None else (left, right, bias)
    if second is None:
        ops.launch(first, (*given, result))
        return result
    totals = ops.empty((count,), total_type(left.dtype))
    ops.launch(first, (*given, totals))
    ops.launch(second, (totals, result))
    return result


def _plan_first(ops: CudaOps, planned: Planned) -> Plan:
    cut = planned.cut
    return ops.plan(best(planned.form), (cut.tiles, cut.parts), cut.tile.threads, planned.numbers)


def _plan_product(
    ops: CudaOps, a: TensorData, b: TensorData, biased: bool
) -> tuple[Plan | None, Plan | None, int]:
    """Plan a product: a launch, another that adds parts, if there are any, and their totals."""
    size = ops.machine.size
    planned = plan(a, b, size, biased=biased)
    if planned is None:
        return None, None, 0
    cut, form = planned.cut, planned.form
    first = _plan_first(ops, planned)
    if cut.parts == 1:
        return first, None, 0
    elements = size_of((*a.shape[:-1], b.shape[-1]))
    kept = Layout((elements,), ((1,), (1,)))
    parts = Layout((cut.parts,), ((elements,),))
    by_rows = cut.parts >= MANY_PARTS and elements < size.threads * size.enough
    second = ops.plan_pass(OPERATORS["add"], (form.out, form.dtype), kept, parts, by_rows)
    return first, second, cut.parts * elements


def _layout(*views: TensorData) -> Hashable:
    """Return everything a plan depends on except the dtype: layouts and the precision setting."""
    layouts = ((x.shape, x.strides, x.offset % lanes_of(x.dtype)) for x in views)
    return are_products_exact(), *layouts


SPECIAL_CASES["matmul"] = matmul
