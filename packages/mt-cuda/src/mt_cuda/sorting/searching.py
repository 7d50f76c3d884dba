"""Positions in sorted rows: every thread searches a row by bisection."""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.elements import computed, load, operand
from mt_cuda.core.kernel import Kernel, define, numbers, over_grid
from mt_cuda.sorting.sorting import comes_after
from mt_cuda.tensors import elements_of, ops_of, planned_over_grid, tensor_of
from mt_tensor import DType, Tensor, TensorData, int64
from mt_tensor.extending import FUSED


def search(dtype: DType, right: bool) -> Kernel:
    """Return the kernel that counts, for each value, the elements of its row that precede it.

    Args:
        dtype: the dtype of rows and values; nan comes after all numbers.
        right: whether elements equal to a value precede it.
    """
    compute = computed(dtype)
    before = "after(other, value) == 0" if right else "after(value, other)"
    element = [
        "row = i // each * length",
        f"value = {load('x[x_at + i]', dtype, compute)}",
        "low = int64(0)",
        "high = length",
        "while low < high:",
        "    middle = (low + high) // 2",
        f"    other = {load('s[s_at + row + middle]', dtype, compute)}",
        f"    if {before}:",
        "        low = middle + 1",
        "    else:",
        "        high = middle",
        "out[out_at + i] = low",
    ]
    parameters = [
        *numbers("n", "length", "each"),
        *operand("s", dtype),
        *operand("x", dtype),
        *operand("out", int64),
    ]
    name = f"search_{dtype.name}_{'right' if right else 'left'}"
    return define(name, parameters, [*comes_after(descending=False), *over_grid(element)])


def places(ops: CudaOps, rows: TensorData, values: TensorData, right: bool) -> TensorData:
    """Return, for each value, the number of elements of its row that precede it.

    Args:
        ops: the backend.
        rows: a contiguous view: one sorted row, or one for each row of the values.
        values: a contiguous view of the same dtype.
        right: whether elements equal to a value precede it.

    Returns:
        int64, of the shape of the values.
    """
    out = ops.empty(values.shape, int64)
    if values.size:
        numbers = (rows.shape[-1], values.shape[-1] if rows.ndim > 1 else values.size)
        plan = planned_over_grid(ops, (search, values.dtype, right), values.size, numbers)
        ops.launch(plan, (rows, values, out))
    return out


def searchsorted(rows: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return how many elements of its row precede each value; the host compares mixed dtypes."""
    if rows.dtype is not values.dtype:
        return FUSED["searchsorted"](rows, values, right)
    found = places(ops_of(rows), elements_of(rows), elements_of(values), right)
    return tensor_of(found, values)


KERNELS = {"searchsorted": searchsorted}
"""For `mt_tensor.extending.register_kernels`."""
