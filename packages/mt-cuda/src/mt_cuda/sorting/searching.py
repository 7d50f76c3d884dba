"""Places in sorted rows: every thread halves what is left of a row until its value fits."""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.kernel import Kernel, computed, define, load, numbers, operand, over_grid
from mt_cuda.sorting.sorting import comes_after
from mt_cuda.tensors import elements_of, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData, elementwise, int64, sort
from mt_tensor.extending import FUSED


def search(dtype: DType, right: bool) -> Kernel:
    """Return the kernel that counts, for each value, the elements of its row that come before it.

    Args:
        dtype: that of rows and values; a nan comes behind all numbers.
        right: whether elements that equal a value are among those.
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
    """Return, for each value, how many elements of its row come before it.

    Args:
        ops: the backend.
        rows: a contiguous view: one sorted row, or one for each row of the values.
        values: a contiguous view of the same type.
        right: whether elements that equal a value are among those.

    Returns:
        int64, of the shape of the values.
    """
    out = ops.empty(values.shape, int64)
    if values.size:
        each = values.shape[-1] if rows.ndim > 1 else values.size

        def plan() -> Plan:
            kernel = search(values.dtype, right)
            return ops.plan_over_grid(kernel, values.size, (rows.shape[-1], each))

        key = ("search", values.dtype, right, values.size, rows.shape[-1], each)
        ops.launch(ops.remembered(key, plan), (rows, values, out))
    return out


def searchsorted(rows: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return how many elements of its row come before each value; the host compares two types."""
    if rows.dtype is not values.dtype:
        return FUSED["searchsorted"](rows, values, right)
    found = places(ops_of(rows), elements_of(rows), elements_of(values), right)
    return tensor_of(found, values)


def isin(elements: Tensor, others: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    """Return which elements occur among others, which are sorted; the host compares two types."""
    if elements.dtype is not others.dtype or not others.numel():
        return FUSED["isin"](elements, others, assume_unique, invert)
    ordered = sort(others.reshape(-1), 0).values
    place = searchsorted(ordered, elements, False)
    there = ordered[elementwise("minimum", place, others.numel() - 1)]
    return elementwise("ne" if invert else "eq", there, elements)


KERNELS = {"isin": isin, "searchsorted": searchsorted}
"""For `mt_tensor.extending.register_kernels`."""
