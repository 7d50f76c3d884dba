"""Run a formula over views: the elementwise primitive.

The kernel of a formula is its statements (`rendering.py`) in a loop (`source.py`). Contiguous
memory, and numbers broadcast over it, use a flat loop. Broadcast rows use another kernel if the
tensor is large enough to justify compiling it. Views of any other layout, and 16-bit views, are
copied to contiguous memory first. The copy costs a pass over memory, but strided loops would cost
more, and require one more kernel per formula.

These decisions take ten times as long as adding eight numbers, so a `Plan` is cached for each
combination of layouts.
"""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mt_fast.core import loops
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.loops import CACHE_SIZE, Loop, loop_over
from mt_fast.core.lowering import TABLE
from mt_fast.core.movement import copied, copy, new_view
from mt_fast.core.rendering import COMPUTED, computation_type, converted, render, traced
from mt_fast.core.source import Element, Source, View, loop
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Formula
from mt_operators.core.graph import PYTHON
from mt_tensor import DType, TensorData
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import Shape

# --- The kernel of a formula ----------------------------------------------------------------------

_RESERVED = "lo hi i n sizes unit index start row out unravel position _ min max range abs inf nan"
"""The names of a kernel's variables, and of functions that it calls."""

_GENERATED = re.compile(r".*(\d|_(data|layout|row|number|value|at|first|start|step))")


def argument_names(formula: Formula) -> Sequence[str]:
    """Return names for the arguments of a formula: its parameter names if these are unreserved."""
    names = formula.parameters
    reserved = {*_RESERVED.split(), *COMPUTED, *keyword.kwlist, *TABLE}.union(
        name for name in names if _GENERATED.fullmatch(name) or not name.isascii()
    )
    usable = len(set(names)) == formula.arity and reserved.isdisjoint(names)
    return names if usable else [f"x{i}" for i in range(formula.arity)]


@functools.lru_cache(None)
def elementwise_source(
    formula: Formula,
    inputs: tuple[DType, ...],
    outputs: tuple[DType, ...],
    form: str = "flat",
    roles: tuple[str, ...] = (),
) -> Source:
    """Generate the kernel that computes a formula for every element.

    Args:
        formula: the formula.
        inputs: the dtype of each input.
        outputs: the dtype of each output.
        form: the form of the loop.
        roles: the role of each input in the loop; by default all are rows.
    """
    graph = traced(formula, TABLE)
    dtype = computation_type(inputs)
    names = argument_names(formula)
    results = ["out"] if len(outputs) == 1 else [f"out{i}" for i in range(len(outputs))]
    rendered = render(graph, names, dtype, outputs, TABLE)

    def body(element: Element) -> list[str]:
        return [
            *(
                f"{name} = {converted(element(name), stored, dtype)}"
                for name, stored in zip(names, inputs, strict=True)
            ),
            *rendered.statements,
            *(
                f"{element(name)} = {text}"
                for name, text in zip(results, rendered.results, strict=True)
            ),
        ]

    views = [View(*view) for view in zip(names, roles or ["row"] * len(names), strict=True)]
    views += [View(name) for name in results]
    kinds = {stored.name for stored in (*inputs, *outputs)} - {dtype.name}
    name = "_".join((formula.name, dtype.name, *sorted(kinds), form))
    steps = [step.operation for step in graph.expressions[graph.arity :]]
    is_simple = len(steps) <= len(views) and set(steps) <= {*PYTHON, "constant"}
    return replace(loop(form, name, views, body), is_memory_bound=is_simple)


# --- Plans ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan to run a formula over views of certain layouts.

    Attributes:
        kernel: the kernel of the formula.
        loop: the loop over the views that the kernel reads and writes.
        parallel: whether to use all threads.
        copies: for each input and then each output, the contiguous layout of a copy that the
            kernel reads or writes instead, or None.
    """

    kernel: Kernel
    loop: Loop
    parallel: bool
    copies: tuple[Layout | None, ...]

    def run(self, inputs: Sequence[TensorData], outputs: Sequence[TensorData]) -> None:
        """Compute the formula; inputs are broadcast."""
        copies = self.copies[len(inputs) :]
        results = [
            out if layout is None else new_view(layout)
            for out, layout in zip(outputs, copies, strict=True)
        ]
        views = [*self.readable(inputs, outputs[0].shape), *results]
        self.loop.run(self.kernel, [view.storage for view in views], self.parallel)
        for result, out in zip(results, outputs, strict=True):
            if result is not out:
                copy(result, out, self.parallel)

    def readable(self, inputs: Sequence[TensorData], shape: Shape) -> list[TensorData]:
        """Return the views that the kernel reads: the inputs, or copies of them."""
        views = [*inputs]
        for i, layout in enumerate(self.copies[: len(views)]):
            if layout is not None:
                view = views[i].expand(shape)
                if layout.shape != shape:  # copy repeated elements once
                    view = view.like(layout.shape, view.strides, view.offset)
                views[i] = copied(view, layout, self.parallel)
        return views


@functools.lru_cache(CACHE_SIZE)
def planned(
    formula: Formula, inputs: tuple[Layout, ...], outputs: tuple[Layout, ...], parallel: bool
) -> Plan:
    """Return the cached plan of a formula for views of one shape, which is not empty."""
    views, count = (*inputs, *outputs), len(inputs)
    loop = loop_over(views, count, parallel)
    strided = [i >= count or role == "strided" for i, role in enumerate(loop.roles)]
    copies = tuple([_copy_of(view, loop.form, strided[i]) for i, view in enumerate(views)])
    if any(copies):
        used = [view if copy is None else broadcast(copy, view.shape)
                for view, copy in zip(views, copies, strict=True)]  # fmt: skip
        plan = planned(formula, tuple(used[:count]), tuple(used[count:]), parallel)
        pairs = zip(plan.copies, copies, strict=True)
        return replace(plan, copies=tuple([second or first for second, first in pairs]))
    dtypes, roles = tuple([view.dtype for view in views]), loop.roles[:count]
    source = elementwise_source(formula, dtypes[:count], dtypes[count:], loop.form, roles)
    return Plan(compiled(source), loop, parallel, copies)


def _copy_of(view: Layout, form: str, strided: bool) -> Layout | None:
    """Return the layout of the copy that replaces a view in a loop, or None."""
    shape, small = view.shape, view.size < loops.KERNEL_FROM
    in_loop = form == "flat" or view.row_major
    in_loop = in_loop or (view.repeats if small else form != "strided" or not strided)
    if in_loop and not view.dtype.is_narrow:
        return None
    if view.repeats or not small:  # the kernel repeats elements itself
        sizes = zip(shape, view.strides, strict=True)
        shape = tuple([size if stride else 1 for size, stride in sizes])
    return row_major(shape, view.dtype.computed)


def broadcast(layout: Layout, shape: Shape) -> Layout:
    """Return the layout of a view that is broadcast to a shape."""
    return TensorData.of_storage((), layout).expand(shape).layout


class FormulaRunner:
    """Run a formula with compiled kernels; see `TensorBackend.elementwise`.

    Attributes:
        formula: the formula.
        backend: the backend; its `parallel_from` determines when all threads are used.
        small: runs the formula on few elements, with the same results; None if not registered.
    """

    def __init__(self, formula: Formula, backend: Any) -> None:
        self.formula = formula
        self.backend = backend
        special = SPECIAL_CASES.get("small")
        self.small: Any = special(formula) if special is not None else None

    def __call__(self, out: Any, *inputs: Any) -> Any:
        """Compute the formula for views and numbers."""
        new = out.__class__ is Layout
        layout = out if new else out[0].layout
        parallel = layout.size >= self.backend.parallel_from
        if self.small and not parallel:
            return self.small(out, *inputs)
        update = None if new else SPECIAL_CASES.get("update")
        if update is not None and update(self.formula, out, inputs, parallel):
            return None
        results = self.backend.results(self.formula, out)
        if layout.size:
            views = self.backend.operands(inputs, out)
            layouts = [tuple([view.layout for view in group]) for group in (views, results)]
            planned(self.formula, *layouts, parallel).run(views, results)
        return results[0] if self.formula.outputs == 1 else results

    def plan(self, out: Layout, layouts: tuple[Layout, ...]) -> Callable[..., Any] | None:
        """Return the function for inputs of these layouts, or None for empty results."""
        parallel = out.size >= self.backend.parallel_from
        if self.small and not parallel:
            return self.small.plan(out, layouts)  # type: ignore[no-any-return]
        if not out.size:
            return None
        inputs, outputs = [broadcast(layout, out.shape) for layout in layouts], self.formula.outputs
        plan = planned(self.formula, tuple(inputs), (out,) * outputs, parallel)
        special = SPECIAL_CASES.get("call")
        call: Callable[..., Any] | None = special and special(plan, out, len(inputs))
        if call is not None:
            return call

        def run(*inputs: Any) -> Any:
            results = self.backend.results(self.formula, out)
            plan.run(inputs, results)
            return results[0] if outputs == 1 else results

        return run
