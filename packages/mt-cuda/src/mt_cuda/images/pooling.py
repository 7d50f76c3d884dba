"""Pooling: the maximum or the mean of each window of an image, and the gradients.

A thread computes one result by a loop over its window. Backward a thread owns an element of the
input, and loops over the windows that contain it, in order: so no two threads add to the same
element, as threads that own windows would. For max pooling, it adds only the gradients of windows
whose maximum is this element.
"""

from __future__ import annotations

from typing import Any, Literal

from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, define, indented, numbers, over_grid
from mt_cuda.images.windows import convolved_size, countable, narrowed
from mt_cuda.tensors import elements_of, is_floating, new, ops_of, planned_over_grid, tensor_of
from mt_fast.extending import constant, converted
from mt_tensor import DType, Tensor, int32
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved

Reduction = Literal["max", "mean"]

NUMBERS = tuple(
    f"{name}_{axis}"
    for name in ("source", "result", "tap", "step", "low")
    for axis in ("rows", "columns")
)
"""The names of the sizes of images, results and windows, of the strides and the padding."""


def pool(reduction: Reduction, dtype: DType, remembers: bool = False) -> Kernel:
    """Return the kernel that reduces each window to an element of `y`, with one thread for each.

    Args:
        reduction: whether to compute the maximum or the mean of a window.
        dtype: the dtype of the elements.
        remembers: whether to store which tap of each window was the maximum, in `choice`.
    """
    compute = computed(dtype)
    begin = constant(float("-inf") if reduction == "max" else 0, compute)
    seen = [f"value = {load('x[at + row * n_source_columns + column]', dtype, compute)}"]
    if reduction == "max":  # the first of equal elements, and the first nan
        seen += [
            "if (value > total) | ((value != value) & (total == total)):",
            "    total = value",
            *(["    best = r * n_tap_columns + s"] if remembers else []),
        ]
        result = "total"
    else:
        seen += ["total += value"]
        result = f"total / {compute.name}(n_tap_rows * n_tap_columns)"
    lines = [
        *_take_apart("result"),
        "at = x_at + plane * source_rows * source_columns",
        "top = place_row * n_step_rows",
        "left = place_column * n_step_columns",
        f"total = {begin}",
        *(["best = index32(0)"] if remembers else []),
        "for r in range(n_tap_rows):",
        "    for s in range(n_tap_columns):",
        "        row = top + r - n_low_rows",
        "        column = left + s - n_low_columns",
        "        inside = (top + r >= n_low_rows) & (left + s >= n_low_columns)",
        "        if inside & (row < n_source_rows) & (column < n_source_columns):",
        *indented(indented(indented(seen))),
        f"y[y_at + i] = {store(converted(result, compute, dtype), dtype)}",
        *(["choice[choice_at + i] = int32(best)"] if remembers else []),
    ]
    parameters = [
        *numbers("n", *NUMBERS),
        *operand("x", dtype),
        *operand("y", dtype),
        *(operand("choice", int32) if remembers else ()),
    ]
    name = f"{reduction}_pool_{dtype.name}" + "_remembers" * remembers
    return define(name, parameters, [*narrowed(*NUMBERS), *over_grid(lines)], *WORK)


def pool_gradient(reduction: Reduction, dtype: DType) -> Kernel:
    """Return the kernel of `out`, the gradient of the images, with one thread for each element.

    It reads `grad`, the upstream gradient, and for max pooling also `choice`.
    """
    compute = computed(dtype)
    found = load("grad[at]", dtype, compute)
    if reduction == "max":
        tap = "(row - p * n_step_rows) * n_tap_columns + column - q * n_step_columns"
        add = [f"if choice[choice_at - grad_at + at] == {tap}:", f"    total += {found}"]
        result = "total"
    else:
        add = [f"total += {found}"]
        result = f"total / {compute.name}(n_tap_rows * n_tap_columns)"
    lines = [
        *_take_apart("source"),
        f"total = {constant(0, compute)}",
        *_windows_of("row", "rows", "p"),
        *_windows_of("column", "columns", "q"),
        "p = p_first",
        "while p < p_end:",
        "    q = q_first",
        "    while q < q_end:",
        "        at = grad_at + (plane * result_rows + p) * result_columns + q",
        *indented(indented(add)),
        "        q += 1",
        "    p += 1",
        f"out[out_at + i] = {store(converted(result, compute, dtype), dtype)}",
    ]
    parameters = [
        *numbers("n", *NUMBERS),
        *operand("grad", dtype),
        *(operand("choice", int32) if reduction == "max" else ()),
        *operand("out", dtype),
    ]
    name = f"{reduction}_pool_gradient_{dtype.name}"
    return define(name, parameters, [*narrowed(*NUMBERS), *over_grid(lines)], "n")


WORK = ("n", "tap_rows", "tap_columns")
"""The names of the numbers whose product is the number of elements read."""


def _take_apart(what: str) -> Lines:
    """Return the lines that find the plane, the row and the column of element `i`."""
    return [
        f"place_column = index32(i) % n_{what}_columns",
        f"place_row = index32(i) // n_{what}_columns % n_{what}_rows",
        f"plane = index32(i) // n_{what}_columns // n_{what}_rows",
    ]


def _windows_of(what: str, ways: str, window: str) -> Lines:
    """Return the lines that find the windows that contain a row, or a column, of the input."""
    size, step = f"n_tap_{ways}", f"n_step_{ways}"
    return [
        f"{what} = place_{what} + n_low_{ways}",
        f"{window}_first = ({what} - {size}) // {step} + 1 if {what} >= {size} else index32(0)",
        f"{window}_end = min({what} // {step} + 1, n_result_{ways})",
    ]


# --- The operation on tensors -------------------------------------------------------------------


class Pooling(FusedKernel):
    """Pooling; the arguments are images, and the size, stride and padding of windows.

    Attributes:
        reduction: the reduction of a window.
    """

    def __init__(self, reduction: Reduction) -> None:
        self.reduction: Reduction = reduction

    def fits(self, *arguments: Any) -> bool:
        """Return whether the images are non-empty and floating-point, and sizes fit 32 bits."""
        x, size, stride, padding = arguments
        out = (*x.shape[:2], *convolved_size(x.shape[2:], size, stride, padding, (1, 1)))
        return is_floating(x) and countable(x.shape, size, out, padding)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the reduced windows; save the tap of each maximum if a gradient is needed."""
        x, size, stride, padding = arguments
        shape = (*x.shape[:2], *convolved_size(x.shape[2:], size, stride, padding, (1, 1)))
        out, remembers = new(x, shape), needs[0] and self.reduction == "max"
        choice = [new(x, shape, int32)] if remembers else []
        ops, recipe = ops_of(x), (pool, self.reduction, x.dtype, remembers)
        numbers = (*x.shape[2:], *shape[2:], *size, *stride, *padding)
        plan = planned_over_grid(ops, recipe, out.size, numbers)
        ops.launch(plan, [elements_of(x), out, *choice])
        return tensor_of(out, x), tuple(tensor_of(each, x) for each in choice)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the images."""
        x, size, stride, padding = arguments
        ops, out = ops_of(x), new(x)
        numbers = (*x.shape[2:], *grad.shape[2:], *size, *stride, *padding)
        plan = planned_over_grid(ops, (pool_gradient, self.reduction, x.dtype), out.size, numbers)
        ops.launch(plan, [*map(elements_of, (grad, *saved)), out])
        return tensor_of(out, x), None, None, None


KERNELS = {"avg_pool2d": Pooling("mean"), "max_pool2d": Pooling("max")}
"""For `mt_tensor.extending.register_kernels`."""
