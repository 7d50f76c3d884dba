"""Run a formula whose results replace its inputs, as in a step of an optimizer.

LLVM must see that input and output are the same memory: it does not vectorize a loop that writes to
rows which happen to be the rows it reads.

The kernel reads all inputs of an element before it writes. A processor at first compares only the
last 12 bits of addresses, so addresses that differ by a multiple of 4096, as in large arrays that
start at a page, seem equal. A read would then wait for an earlier write to the address that seems
equal, and each step would take three times as long.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

from mt_fast.core.elementwise import argument_names
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.lowering import TABLE
from mt_fast.core.rendering import Table, render, traced
from mt_fast.core.source import Source, function, indented
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Formula
from mt_tensor import DType, TensorData, float32, float64
from mt_tensor.extending import Number

Kind = Literal["row", "element", "number"]
"""The kind of an input: contiguous memory, one element of it for the whole loop, or a Python
number."""

_ARGUMENTS: dict[Kind, tuple[str, ...]] = {
    "row": ("{0}_data", "{0}_start"),
    "element": ("{0}_data", "{0}_start"),
    "number": ("{0}_number",),
}

_BEFORE: dict[Kind, str] = {
    "row": "{0}_row = {0}_data[{0}_start + lo : {0}_start + hi]",
    "element": "{0} = {0}_data[{0}_start]",
    "number": "{0} = {1}({0}_number)",
}


def update_source(
    formula: Formula, dtype: DType, kinds: Sequence[Kind], changed: Sequence[int], table: Table
) -> Source:
    """Generate the kernel of a formula over rows, some of which its results replace.

    Args:
        formula: the computation for each element.
        dtype: the dtype of all elements.
        kinds: the kind of each input; numbers are converted.
        changed: the positions of the inputs that the results replace, all of them rows.
        table: the lowerings of elementary functions.
    """
    names = argument_names(formula)
    inputs = list(zip(names, kinds, strict=True))
    rendered = render(traced(formula, table), names, dtype, (dtype,) * len(changed), table)
    lines = [_BEFORE[kind].format(name, dtype.name) for name, kind in inputs]
    body = [
        *(f"{name} = {name}_row[i]" for name, kind in inputs if kind == "row"),
        *rendered.statements,
        *(
            f"{names[place]}_row[i] = {text}"
            for place, text in zip(changed, rendered.results, strict=True)
        ),
    ]
    arguments = [part.format(name) for name, kind in inputs for part in _ARGUMENTS[kind]]
    lines += ["for i in range(hi - lo):", *indented(body)]
    return function(f"{formula.name}_{dtype.name}_in_place", arguments, lines)


@functools.lru_cache(None)
def update_kernel(
    formula: Formula, dtype: DType, kinds: tuple[Kind, ...], changed: tuple[int, ...]
) -> Kernel:
    """Return the kernel of a formula over inputs of one dtype; see `update_source`."""
    return compiled(update_source(formula, dtype, kinds, changed, TABLE))


def update(
    formula: Formula,
    out: Sequence[TensorData],
    inputs: Sequence[TensorData | Number],
    parallel: bool,
) -> bool:
    """Run the kernel of a formula, and return True; return False for unsupported arguments.

    Every output must be an input. Inputs may be contiguous views of float32 or float64, views that
    repeat one element, and numbers.

    Args:
        formula: the computation for each element.
        out: the views to replace: some of the inputs.
        inputs: the inputs, of one dtype.
        parallel: whether to use all threads.
    """
    layout = out[0].layout
    try:
        changed = tuple(map(inputs.index, out))
    except ValueError:  # an output is not an input
        return False
    size, shape, dtype = layout.size, layout.shape, layout.dtype
    if not (size and layout.row_major and (dtype is float32 or dtype is float64)):
        return False
    kinds: list[Kind] = []
    arguments: list[Any] = []
    for data in inputs:
        if isinstance(data, TensorData):
            own = data.layout
            if own is layout or (own.row_major and own.shape == shape):
                kinds.append("row")
            elif own.repeats:
                kinds.append("element")
            else:
                return False
            arguments += (data.storage, own.offset)
        else:
            kinds.append("number")
            arguments.append(float(data))
    kernel = update_kernel(formula, dtype, tuple(kinds), changed)
    kernel.run(size, parallel, *arguments)
    return True


SPECIAL_CASES["update"] = update
