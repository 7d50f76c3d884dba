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
from mt_cuda.rows.kernels import planned, rows_along
from mt_operators import OPERATORS
from mt_tensor import TensorData
from mt_tensor.backends.extending import are_products_exact
from mt_tensor.extending import Shape, size_of

MANY_PARTS = 32
"""The number of parts from which a block adds the parts of one element, if there are few
elements."""


def matmul(ops: CudaOps, left: TensorData, right: TensorData, shape: Shape) -> TensorData | None:
    """Return a product of matrices; None if it is empty, or no kernel supports its layout."""
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

    def plan_first() -> tuple[Plan, int]:
        found = cast(Planned, plan(a, b, ops.machine.size, summed=True))
        return _plan_first(ops, found), found.cut.parts

    first, parts = ops.remembered(key, plan_first)
    totals = ops.empty((parts, elements), total_type(dtype))
    layout = rows_along(totals.shape, 0)
    second = planned(ops, (added_parts, dtype), layout, counts=(rows * columns,))
    result, sums = ops.empty((rows, columns), dtype), ops.empty((rows,), dtype)
    ops.launch(first, (a, b, totals))
    ops.launch(second, (totals, result, sums))
    return result, sums


def multiplied(
    ops: CudaOps, left: TensorData, right: TensorData, shape: Shape, bias: TensorData | None = None
) -> TensorData | None:
    """Return a product plus a bias per column; None if no kernel supports its layout."""
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


def _plan_first(ops: CudaOps, found: Planned) -> Plan:
    cut = found.cut
    return ops.plan(best(found.form), (cut.tiles, cut.parts), cut.tile.threads, found.numbers)


def _plan_product(
    ops: CudaOps, a: TensorData, b: TensorData, biased: bool
) -> tuple[Plan | None, Plan | None, int]:
    """Plan a product.

    Returns:
        The launch of the product, None if no kernel supports it; the launch that adds the parts,
        None if there is one part; and the number of elements of all parts.
    """
    size = ops.machine.size
    found = plan(a, b, size, biased=biased)
    if found is None:
        return None, None, 0
    cut, form = found.cut, found.form
    first = _plan_first(ops, found)
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
