"""Pool adjacent windows of 2 x 2, as most networks do to halve an image.

Each output depends on two neighbors in one row and the two below them, and windows do not overlap.
So there is nothing to set up for a row of windows, and a whole vector of windows is computed at
once: of two consecutive vectors, the elements at even positions are the left ones of the windows,
the others the right ones. Rows are short if images have been halved before, so the last vector of a
row may overlap the one before, or is the only one and partial. A last row or column of an odd size
belongs to no window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from mt_fast.core.kernel import Kernel
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.instructions import Vectors, clear, index, instruction

Pair = tuple[int, int]

ELEMENTS = range(4)
"""The elements of a window: two above, two below."""

# --- Rows of windows ------------------------------------------------------------------------------


def _windows(v: Vectors, upper: Any, lower: Any, window: Any, active: Any) -> Sequence[Any]:
    """Return four vectors: the four elements of each of the windows that start at `window`."""
    b = v.builder
    vectors = []
    for pointer in (upper, lower):
        first = b.gep(pointer, [b.mul(window, index(2))])
        left, right = (v.load(half, count) for half, count in _halves(v, first, active))
        vectors += [v.every_second(left, right, start) for start in range(2)]
    return vectors


def _write_rows(
    v: Vectors, elements: Sequence[Any], upper: Any, lower: Any, window: Any, active: Any
) -> None:
    """Write four vectors to where `_windows` reads them."""
    b = v.builder
    for pointer, pair in zip((upper, lower), (elements[:2], elements[2:]), strict=True):
        first = b.gep(pointer, [b.mul(window, index(2))])
        for vector, (half, count) in zip(
            v.interleaved(*pair), _halves(v, first, active), strict=True
        ):
            v.store(vector, half, count)


def _halves(v: Vectors, first: Any, active: Any) -> Sequence[tuple[Any, Any]]:
    """Return the addresses of two consecutive vectors, and the number of elements of each."""
    b = v.builder
    second = b.gep(first, [index(v.lanes)])
    if active is None:
        return (first, None), (second, None)
    twice = b.mul(active, index(2))
    return (first, twice), (second, b.sub(twice, index(v.lanes)))


def _wins(b: Any, value: Any, largest: Any) -> Any:
    """Return where a value is larger than the largest so far; nan is larger than any number."""
    larger = b.fcmp_unordered(">", value, largest)
    return b.and_(larger, b.fcmp_ordered("ord", largest, largest))


def _row_instruction(combine: Callable[[Vectors, Sequence[Any]], Any]) -> Any:
    """Return an instruction that combines the elements of each window in a row of windows."""

    @instruction
    def combined(
        v: Vectors, x: Any, row: Any, next_row: Any, out: Any, at: Any, count: Any
    ) -> None:
        b = v.builder
        upper, lower, target = b.gep(x, [row]), b.gep(x, [next_row]), b.gep(out, [at])

        def write(window: Any, active: Any) -> None:
            result = combine(v, _windows(v, upper, lower, window, active))
            v.store(result, b.gep(target, [window]), active)

        v.for_each_vector(count, write)

    return combined


def _maximum(v: Vectors, elements: Sequence[Any]) -> Any:
    largest, *others = elements
    for value in others:
        largest = v.builder.select(_wins(v.builder, value, largest), value, largest)
    return largest


def _mean(v: Vectors, elements: Sequence[Any]) -> Any:
    b = v.builder
    left_above, right_above, left, right = elements
    total = b.fadd(b.fadd(left_above, left), b.fadd(right_above, right))
    return b.fmul(total, ir.Constant(total.type, [0.25] * v.lanes))


_largest_of_row, _mean_of_row = _row_instruction(_maximum), _row_instruction(_mean)


@instruction
def _choose_in_row(
    v: Vectors, x: Any, row: Any, next_row: Any, out: Any, chosen: Any, at: Any, count: Any
) -> None:
    """Write the largest element of each window, and the first index that holds it."""
    b = v.builder
    upper, lower = b.gep(x, [row]), b.gep(x, [next_row])
    target, choices = b.gep(out, [at]), b.gep(chosen, [at])

    def write(window: Any, active: Any) -> None:
        largest, *others = _windows(v, upper, lower, window, active)
        choice = _splat(v, 0)
        for i, value in zip(ELEMENTS[1:], others, strict=True):
            wins = _wins(b, value, largest)
            largest = b.select(wins, value, largest)
            choice = b.select(wins, _splat(v, i), choice)
        v.store(largest, b.gep(target, [window]), active)
        v.store(choice, b.gep(choices, [window]), active)

    v.for_each_vector(count, write)


@instruction
def _scatter_to_chosen(
    v: Vectors, grad: Any, chosen: Any, at: Any, out: Any, row: Any, next_row: Any, count: Any
) -> None:
    """Write the gradient of each window to the chosen element, and 0 to the others."""
    b = v.builder
    source, choices = b.gep(grad, [at]), b.gep(chosen, [at])
    upper, lower = b.gep(out, [row]), b.gep(out, [next_row])

    def write(window: Any, active: Any) -> None:
        upstream = v.load(b.gep(source, [window]), active)
        choice = v.load(b.gep(choices, [window]), active)
        masks = [b.icmp_unsigned("==", choice, _splat(v, i)) for i in ELEMENTS]
        vectors = [b.select(mask, upstream, v.zero) for mask in masks]
        _write_rows(v, vectors, upper, lower, window, active)

    v.for_each_vector(count, write)


@instruction
def _spread_to_all(
    v: Vectors, grad: Any, at: Any, out: Any, row: Any, next_row: Any, count: Any
) -> None:
    """Write a quarter of the gradient of each window to its four elements."""
    b = v.builder
    source, upper, lower = b.gep(grad, [at]), b.gep(out, [row]), b.gep(out, [next_row])

    def write(window: Any, active: Any) -> None:
        upstream = v.load(b.gep(source, [window]), active)
        quarter = b.fmul(upstream, ir.Constant(upstream.type, [0.25] * v.lanes))
        _write_rows(v, [quarter] * 4, upper, lower, window, active)

    v.for_each_vector(count, write)


def _splat(v: Vectors, element: int) -> Any:
    """Return a vector with the index of one element of a window in every lane."""
    return ir.Constant(ir.VectorType(ir.IntType(8), v.lanes), [element] * v.lanes)


# --- Kernels on planes: arrays of shape (images * channels, height, width) ------------------------


def _pool_fours(lo: Any, hi: Any, x: Any, largest: Any, out: Any) -> None:
    """Write the maximum (nan if any element is nan) or the mean of each window."""
    _, height, width = x.shape
    _, rows, columns = out.shape
    for plane in range(lo, hi):
        for i in range(rows):
            row, start = (plane * height + 2 * i) * width, (plane * rows + i) * columns
            if largest:
                _largest_of_row(x, row, row + width, out, start, columns)
            else:
                _mean_of_row(x, row, row + width, out, start, columns)


def _choices_in_fours(lo: Any, hi: Any, x: Any, out: Any, chosen: Any) -> None:
    """Write the largest element of each window, and the first index that holds it."""
    _, height, width = x.shape
    _, rows, columns = out.shape
    for plane in range(lo, hi):
        for i in range(rows):
            row, at = (plane * height + 2 * i) * width, (plane * rows + i) * columns
            _choose_in_row(x, row, row + width, out, chosen, at, columns)


def _max_gradient_of_fours(lo: Any, hi: Any, grad: Any, chosen: Any, out: Any) -> None:
    """Write the gradient of the image: that of each window at the chosen element."""
    _, height, width = out.shape
    _, rows, columns = grad.shape
    for plane in range(lo, hi):
        for i in range(rows):
            row, at = (plane * height + 2 * i) * width, (plane * rows + i) * columns
            _scatter_to_chosen(grad, chosen, at, out, row, row + width, columns)
        _clear_rest(out, plane, rows, columns)


def _mean_gradient_of_fours(lo: Any, hi: Any, grad: Any, out: Any) -> None:
    """Write the gradient of the image: each element receives a quarter of its window's gradient."""
    _, height, width = out.shape
    _, rows, columns = grad.shape
    for plane in range(lo, hi):
        for i in range(rows):
            row, at = (plane * height + 2 * i) * width, (plane * rows + i) * columns
            _spread_to_all(grad, at, out, row, row + width, columns)
        _clear_rest(out, plane, rows, columns)


@inner
def _clear_rest(out: Any, plane: Any, rows: Any, columns: Any) -> None:
    """Set the elements outside of all windows to 0: the last row and column of odd sizes."""
    _, height, width = out.shape
    if width > 2 * columns:
        for i in range(2 * rows):
            out[plane, i, width - 1] = 0
    if height > 2 * rows:
        clear(out, (plane * height + height - 1) * width, width)


POOL, CHOICES = Kernel.of(_pool_fours), Kernel.of(_choices_in_fours)
MAX_GRADIENT = Kernel.of(_max_gradient_of_fours)
MEAN_GRADIENT = Kernel.of(_mean_gradient_of_fours)


def halves(size: Pair, stride: Pair, padding: Pair) -> bool:
    """Return whether the windows are adjacent, of size 2 x 2 and without padding."""
    return size == stride == (2, 2) and padding == (0, 0)
