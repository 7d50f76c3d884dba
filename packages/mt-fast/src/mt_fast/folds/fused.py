"""Fuse a reduction with the formula that computes its elements, which are never stored.

A program (`mt_tensor.compile`) uses this for elements that are only reduced. Each
thread has the formula's kernel compute some thousand elements into scratch memory, which stays in
the cache, and the reduction's kernel fold them from there: the kernels and the order of arithmetic
are those of the two primitives, and so are the bits.
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
from mt_fast.core.tables import kept, launch, thread_count
from mt_fast.folds import plans, reduce
from mt_operators import Formula, Operator
from mt_tensor import TensorData, float32, float64
from mt_tensor.backends.extending import Layout, row_major
from mt_tensor.extending import Number, folded_shape

ROOM = 8192
"""How many elements are computed at a time, if a unit of the reduction has no more."""

MOST = 2**20
"""How many there are at most: with more, scratch memory would be as slow as any other."""


def fold_of(
    backend: Any,
    formula: Formula,
    inputs: Sequence[Layout | None],
    source: Layout,
    operator: Operator,
    dims: tuple[int, ...],
    keepdim: bool = False,
) -> Callable[..., TensorData] | None:
    """Return a function that reduces what a formula computes; see `mt_tensor`'s `FOLD`."""
    if not (source.size and source.row_major and source.dtype in (float32, float64)):
        return None
    number = row_major((), source.dtype)
    layouts = tuple([number if layout is None else layout for layout in inputs])
    if any(layout.dtype.is_narrow for layout in layouts):
        return None
    filling = _filling(formula, layouts, source)
    whole = reduce.planned(operator, source, dims, backend.parallel_from)
    if filling is None or whole is None:
        return None
    steps = [
        _computing(step, filling) if step.source[0] == plans.SOURCE else step
        for step in whole.steps
    ]
    if None in steps:
        return None
    filled = replace(whole, steps=tuple(steps))  # type: ignore[arg-type]
    result = row_major(folded_shape(source.shape, dims, keepdim), source.dtype)

    def run(*values: TensorData | Number) -> TensorData:
        views = [
            value if isinstance(value, TensorData) else backend.full((), source.dtype, value)
            for value in values
        ]
        out = np.empty(result.size, result.dtype.numpy)
        filled.run([view.storage for view in views], out)
        return TensorData.in_rows(out, result)

    return run


@dataclass(frozen=True, slots=True)
class _Filling:
    """How a formula is computed for a range of elements.

    Attributes:
        kernel: what computes them.
        before: the sizes of its loop, if that goes over rows.
        places: for each input where it begins, with its strides.
        first: where the first result goes, with strides if there are rows.
        row: how many elements a unit of the kernel has.
    """

    kernel: Kernel
    before: tuple[Any, ...]
    places: tuple[Any, ...]
    first: Any
    row: int


@functools.lru_cache(CACHE_SIZE)
def _filling(formula: Formula, inputs: tuple[Layout, ...], source: Layout) -> _Filling | None:
    """Return how to compute any range of elements; None if no kernel walks over them in order."""
    views = tuple([elementwise.broadcast(layout, source.shape) for layout in inputs])
    planned = elementwise.planned(formula, views, (source,), False)
    loop = planned.loop
    if loop.form not in ("flat", "rows") or any(planned.copies) or len(loop.calls) != 1:
        return None
    ((_, before, (*places, first)),) = loop.calls
    return _Filling(planned.kernel, before, tuple(places), first, before[0][-1] if before else 1)


@dataclass(frozen=True, slots=True)
class _Step:
    """A call of a reduction's kernel, before which the elements that it reads are computed.

    Attributes:
        step: the call as it is planned; each unit reads elements that lie together.
        filling: what computes them.
        size: how many a unit reads.
        start: which element is the first.
        beside: how many are computed beside them at most, where rows are longer.
    """

    step: plans.Step
    filling: _Filling
    size: int
    start: int
    beside: int

    def run(self, storages: list[Any]) -> None:
        """Do it; in the place of what is read are the storages of the inputs."""
        step, filling = self.step, self.filling
        threads = min(thread_count(), step.units) if step.parallel else 1
        chunk = min(max(ROOM // self.size, 1), step.units)
        (read, (place, *strides)), (written, to) = step.source, step.out
        out = storages[written]
        rooms = np.empty((threads, chunk * self.size + self.beside), out.dtype)
        inputs = zip(storages[read], filling.places, strict=True)
        computing = [*filling.before, *itertools.chain.from_iterable(inputs)]
        addresses = (
            filling.kernel.address((*computing, rooms[0], filling.first)),
            step.kernel.address((*step.before, rooms[0], place, *strides, out, *to)),
        )
        counts = (threads, step.units, chunk, self.size, self.start, filling.row)
        arguments = (*computing, filling.first, *step.before, place, *strides, out, *to)
        kind = len(computing), bool(filling.before), step.kernel.source.arguments
        run = _together(*kind, threads > 1)
        launch(run, *counts, *addresses, rooms, *arguments)


def _computing(step: plans.Step, filling: _Filling) -> _Step | None:
    """Return a step of a plan that has its elements computed; None if they lie apart."""
    place, strides = step.source[1]
    if len(step.before) == 1:
        (size,), start, apart = step.before, place, strides
    elif len(step.before) == 3:  # rows are folded with rows
        (width, length), kept, folded = step.before
        (start, *_, apart, _), size = place, width * folded[2]
        if width != length or strides[2] != width or (*kept[:2], *folded[:2]) != (1, 1, 1, 1):
            return None
    else:
        return None
    row, most = filling.row, max(size, ROOM // 4)
    whole = size % row == start % row == 0
    if (step.units > 1 and apart != size) or size > MOST or not (whole or row <= most):
        return None
    return _Step(step, filling, size, start, 0 if whole else 2 * row)


@functools.lru_cache(None)
def _together(inputs: int, rows: bool, folding: Sequence[str], parallel: bool) -> Any:
    """Return what runs two kernels by turns, over a few units at a time.

    It is compiled for the types of arguments, and serves all formulas that have these.

    Args:
        inputs: how many arguments the formula's kernel has before its results.
        rows: whether it goes over rows.
        folding: the arguments of the reduction's kernel.
        parallel: whether threads share the units.

    Returns:
        A function of how many threads there are, how many units, how many of them at a time, how
        many elements a unit has, which is the first, how many the formula's kernel has in a unit;
        of where both kernels are; of scratch memory for each thread; and of the arguments of both,
        but for that memory.
    """
    computing = (*(f"input_{i}" for i in range(inputs)), "out_data", "layout" if rows else "start")
    first, fill = _call("fill", computing, "out_data")
    second, fold = _call("fold", folding, "source_data")
    counts = ("parts", "units", "chunk", "size", "start", "row", "filling", "folding", "rooms")
    name = "_".join(("folds", "rows" if rows else "flat", folding[0], str(inputs)))
    text = f"""
def {name}({", ".join((*counts, *first, *second))}):
    for part in {"prange" if parallel else "range"}(parts):
        room = rooms[part]
        end = units * (part + 1) // parts
        for lo in range(units * part // parts, end, chunk):
            hi = min(lo + chunk, end)
            first, last = (start + lo * size) // row, (start + hi * size + row - 1) // row
            {fill.format("filling", "first", "last")}
            {fold.format("folding", "lo", "hi")}
"""
    namespace = {"prange": prange, "call": call_address}
    compiled = njit(parallel=parallel, error_model="numpy")(defined(name, text, namespace))
    return kept(compiled, name, [text])


def _call(name: str, arguments: Sequence[str], scratch: str) -> tuple[list[str], str]:
    """Return names for the arguments of a kernel but one, and its call with `room` as that one.

    What `room` holds begins elsewhere in a tensor, so the place behind it is moved.
    """
    given, places = [], []
    for argument in arguments:
        own = f"{name}_{argument}"
        if argument == scratch:
            places.append("room")
            continue
        given.append(own)
        if places[-1:] == ["room"]:
            one = argument.endswith("start")
            own = f"{own} - first * row" if one else f"({own}[0] - first * row, *{own}[1:])"
        places.append(own)
    return given, f"call({{}}, {{}}, {{}}, {', '.join(places)})"


KERNELS: dict[str, Callable[..., Any]] = {"fold": fold_of}
"""For `mt_tensor.extending.register_kernels`."""
