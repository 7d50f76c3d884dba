"""Elementwise kernels in which each thread moves 16 bytes at a time.

All operands are contiguous, or a single repeated element, and aligned to 16 bytes.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.backend import Call, CudaOps
from mt_cuda.core.elements import store
from mt_cuda.core.elementwise import (
    Signature,
    apply,
    call,
    element,
    in_rows,
    outputs,
    single_elements,
)
from mt_cuda.core.kernel import Kernel, define, indented
from mt_cuda.core.layout import Layout
from mt_cuda.core.tables import SPECIAL_CASES
from mt_operators.core.graph import Graph


def vector(name: str, graph: Graph, types: Signature, unit: tuple[bool, ...], lanes: int) -> Kernel:
    """Return the kernel that moves 16 bytes at a time; every operand is aligned to 16 bytes.

    Args:
        name: the name of the formula.
        graph: the traced formula.
        types: the dtypes, all of one size except for operands of one element.
        unit: as in `mt_cuda.core.elementwise.contiguous`.
        lanes: the number of elements in 16 bytes.
    """
    streams = [each for each, row in zip(types.names, unit, strict=True) if row]
    names = outputs(types)
    inputs = [each for each in types.names if each not in names]
    step = [
        f"{each}_lanes = load{lanes}({each}, {each}_at + i)" for each in inputs if each in streams
    ]
    for lane in range(lanes):
        elements = {
            each: f"{each}_lanes[{lane}]" if each in streams else f"{each}_single"
            for each in inputs
        }
        results = ", ".join(f"{each}_{lane}" for each in names)
        step.append(f"{results} = {call(types, elements)}")
    for each, dtype in zip(names, types.outputs, strict=True):
        values = ", ".join(store(f"{each}_{lane}", dtype) for lane in range(lanes))
        step.append(f"store{lanes}({each}, {each}_at + i, ({values}))")
    body = [
        *element(graph, types),
        *single_elements(types, unit),
        f"i = {lanes} * cuda.grid(1)",
        f"step = {lanes} * cuda.gridsize(1)",
        f"while i + {lanes - 1} < n:",
        *indented(step),
        "    i += step",
        f"i = n - n % {lanes} + cuda.grid(1)  # the remainder, less than 16 bytes",
        "while i < n:",
        *indented(apply(types, in_rows(types, unit, "i"))),
        "    i += cuda.gridsize(1)",
    ]
    return define(f"{name}_{types}_vector", types.parameters("n"), body)


def for_layout(ops: CudaOps, called: Call, layout: Layout) -> Any:
    """Return the kernel, its numbers, and the number of elements per 16 bytes; or None."""
    unit, types = layout.unit(), called.types
    lanes = 16 // types.outputs[-1].itemsize
    if unit is None or not called.aligned or layout.size < lanes or not _same_size(types, unit):
        return None
    name, graph = called.formula.name, ops.graph(called.formula)
    return vector(name, graph, types, unit, lanes), (), lanes


def _same_size(types: Signature, unit: tuple[bool, ...]) -> bool:
    """Return whether all contiguous views have elements of one size."""
    dtypes = (dtype for _, dtype in types.operands)
    return len({d.itemsize for d, is_row in zip(dtypes, unit, strict=True) if is_row}) == 1


SPECIAL_CASES["elementwise"] = for_layout
