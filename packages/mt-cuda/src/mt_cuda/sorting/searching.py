"""Places in sorted rows: every thread halves what is left of a row until its value fits."""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.kernel import Kernel, computed, define, load, numbers, operand, over_grid
from mt_cuda.sorting.sorting import comes_after
from mt_tensor import DType, TensorData, int64


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
