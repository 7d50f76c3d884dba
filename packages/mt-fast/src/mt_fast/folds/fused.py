"""Fuse a reduction with the formula that computes its elements, which are never stored.

A compiled program (`mt_tensor.compile`) uses this for elements that are only reduced. On each
thread, the formula's kernel computes a few thousand elements in scratch memory, which stays in the
cache, and the reduction's kernel reduces them from there. The kernels and the order of arithmetic
are those of the two primitives, so the results have the same bits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit, prange

from mt_fast.core import elementwise
from mt_fast.core.kernel import Kernel, call_address, defined
from mt_fast.core.loops import CACHE_SIZE
from mt_fast.core.tables import call_hooks, launch, thread_count
from mt_fast.folds import plans, reduce
from mt_operators import Formula, Operator
from mt_tensor import TensorData, float32, float64
from mt_tensor.backends.extending import Layout, row_major
from mt_tensor.extending import Number, reduce_shape

CHUNK = 8192
"""The number of elements to compute at a time, unless a unit of the reduction has more."""

MAX_CHUNK = 2**20
"""The maximum number of elements to compute at a time: more would not stay in the cache."""


def fold_of(
    backend: Any,
    formula: Formula,
    inputs: Sequence[Layout | None],
    source: Layout,
    operator: Operator,
    dims: tuple[int, ...],
    keepdim: bool = False,
) -> Callable[..., TensorData] | None:
    """Return a function that reduces the results of a formula; see `FOLD` of `mt_tensor`."""
    if not (source.size and source.row_major and source.dtype in (float32, float64)):
        return None
    number = row_major((), source.dtype)
    layouts = tuple([number if layout is None else layout for layout in inputs])
    if any(layout.dtype.is_narrow for layout in layouts):
        return None
    filling = _filling(formula, layouts, source)
    plan = reduce.planned(operator, source, dims, backend.parallel_from)
    if filling is None or plan is None:
        return None
    steps = [
        _filled_step(step, filling) if step.source[0] == plans.SOURCE else step
        for step in plan.steps
    ]
    if None in steps:
        return None
    filled = replace(plan, steps=tuple(steps))  # type: ignore[arg-type]
    result = row_major(reduce_shape(source.shape, dims, keepdim), source.dtype)

    def run(*values: TensorData | Number) -> TensorData:
        views = [
            value if isinstance(value, TensorData) else backend.full((), source.dtype, value)
            for value in values
        ]
        out = np.empty(result.size, result.dtype.numpy)
        filled.run([view.storage for view in views], out)
        return TensorData.of_storage(out, result)

    return run


@dataclass(frozen=True, slots=True)
class _Filling:
    """How to compute a formula for a range of elements.

    Attributes:
        kernel: the kernel of the formula.
        before: the sizes of its loop, if it runs over rows.
        starts: for each input its start, with its strides.
        first: the position of the first result, with strides if there are rows.
        row: the number of elements of a unit of the kernel.
    """

    kernel: Kernel
    before: tuple[Any, ...]
    starts: tuple[Any, ...]
    first: Any
    row: int


@functools.lru_cache(CACHE_SIZE)
def _filling(formula: Formula, inputs: tuple[Layout, ...], source: Layout) -> _Filling | None:
    """Return how to compute any range of elements; None if no kernel computes them in order."""
    views = tuple([elementwise.broadcast(layout, source.shape) for layout in inputs])
    planned = elementwise.planned(formula, views, (source,), False)
    loop = planned.loop
    if loop.form not in ("flat", "rows") or any(planned.copies) or len(loop.calls) != 1:
        return None
    ((_, before, (*starts, first)),) = loop.calls
    return _Filling(planned.kernel, before, tuple(starts), first, before[0][-1] if before else 1)


@dataclass(frozen=True, slots=True)
class _Step:
    """A call of a reduction's kernel, after computing the elements that it reads.

    Attributes:
        step: the planned call; each unit reads consecutive elements.
        filling: how to compute them.
        size: the number of elements of a unit.
        start: the first element.
        extra: the maximum number of further elements that are computed, if a unit does not consist
            of whole units of the formula's kernel.
    """

    step: plans.Step
    filling: _Filling
    size: int
    start: int
    extra: int

    def run(self, storages: list[Any]) -> None:
        """Run both kernels; in place of the source, `storages` has the storages of the inputs."""
        step, filling = self.step, self.filling
        threads = min(thread_count(), step.units) if step.parallel else 1
        chunk = min(max(CHUNK // self.size, 1), step.units)
        (read, (offset, *strides)), (written, out_layout) = step.source, step.out
        out = storages[written]
        buffers = np.empty((threads, chunk * self.size + self.extra), out.dtype)
        inputs = zip(storages[read], filling.starts, strict=True)
        operands = [*filling.before, *itertools.chain.from_iterable(inputs)]
        addresses = (
            filling.kernel.address((*operands, buffers[0], filling.first)),
            step.kernel.address((*step.before, buffers[0], offset, *strides, out, *out_layout)),
        )
        counts = (threads, step.units, chunk, self.size, self.start, filling.row)
        arguments = (*operands, filling.first, *step.before, offset, *strides, out, *out_layout)
        key = len(operands), bool(filling.before), step.kernel.source.arguments
        run = _fused_loop(*key, threads > 1)
        launch(run, *counts, *addresses, buffers, *arguments)


def _filled_step(step: plans.Step, filling: _Filling) -> _Step | None:
    """Return a step of a plan that computes its elements; None if they are not consecutive."""
    first, strides = step.source[1]
    if len(step.before) == 1:
        (size,), start, spacing = step.before, first, strides
    elif len(step.before) == 3:  # rows are folded with rows
        (width, length), kept, folded = step.before
        (start, *_, spacing, _), size = first, width * folded[2]
        if width != length or strides[2] != width or (*kept[:2], *folded[:2]) != (1, 1, 1, 1):
            return None
    else:
        return None
    row, max_row = filling.row, max(size, CHUNK // 4)
    aligned = size % row == start % row == 0
    if (step.units > 1 and spacing != size) or size > MAX_CHUNK or not (aligned or row <= max_row):
        return None
    return _Step(step, filling, size, start, 0 if aligned else 2 * row)


@functools.lru_cache(None)
def _fused_loop(inputs: int, rows: bool, folding: Sequence[str], parallel: bool) -> Any:
    """Return the function that runs two kernels alternately, over a few units at a time.

    It is compiled for the types of arguments, and serves all formulas with these types.

    Args:
        inputs: the number of arguments of the formula's kernel before its results.
        rows: whether it runs over rows.
        folding: the arguments of the reduction's kernel.
        parallel: whether threads share the units.

    Returns:
        A function of the number of threads, of units, of units at a time and of elements of a unit,
        the first element, and the number of elements of a unit of the formula's kernel; of the
        addresses of both kernels; of scratch memory for each thread; and of the arguments of both
        kernels except for that memory.
    """
    operands = *(f"input_{i}" for i in range(inputs)), "out_data", "layout" if rows else "start"
    first, fill = _call("fill", operands, "out_data")
    second, fold = _call("fold", folding, "source_data")
    counts = ("parts", "units", "chunk", "size", "start", "row", "filling", "folding", "buffers")
    name = "_".join(("folds", "rows" if rows else "flat", folding[0], str(inputs)))
    text = f"""
def {name}({", ".join((*counts, *first, *second))}):
    for part in {"prange" if parallel else "range"}(parts):
        buffer = buffers[part]
        end = units * (part + 1) // parts
        for lo in range(units * part // parts, end, chunk):
            hi = min(lo + chunk, end)
            first, last = (start + lo * size) // row, (start + hi * size + row - 1) // row
            {fill.format("filling", "first", "last")}
            {fold.format("folding", "lo", "hi")}
"""
    namespace = {"prange": prange, "call": call_address}
    compiled = njit(parallel=parallel, error_model="numpy")(defined(name, text, namespace))
    return call_hooks(compiled, name, [text])


def _call(name: str, arguments: Sequence[str], scratch: str) -> tuple[list[str], str]:
    """Return names for the arguments of a kernel except `scratch`, and its call with a buffer.

    The buffer begins with element `first * row` of the tensor, so the start that follows it in the
    arguments is reduced by this.
    """
    names, values = [], []
    for argument in arguments:
        full = f"{name}_{argument}"
        if argument == scratch:
            values.append("buffer")
            continue
        names.append(full)
        if values[-1:] == ["buffer"]:
            is_flat = argument.endswith("start")
            full = f"{full} - first * row" if is_flat else f"({full}[0] - first * row, *{full}[1:])"
        values.append(full)
    return names, f"call({{}}, {{}}, {{}}, {', '.join(values)})"


KERNELS: dict[str, Callable[..., Any]] = {"fold": fold_of}
"""For `mt_tensor.extending.register_kernels`."""
