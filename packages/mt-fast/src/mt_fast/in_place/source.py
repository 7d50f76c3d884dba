"""Kernels of formulas whose results replace their inputs.

LLVM must see that input and output are the same memory: a loop that writes to rows which only
happen to be those that it reads is not vectorized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mt_fast.core.elementwise import argument_names
from mt_fast.core.rendering import Table, render, traced
from mt_fast.core.source import Source, function, indented
from mt_operators import Formula
from mt_tensor import DType

Kind = Literal["row", "element", "number"]
"""What an input is: contiguous memory, one element of it for the whole loop, or a number, which has
no memory."""

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
    """Return the kernel of a formula over rows.

    Args:
        formula: what to compute for each element.
        dtype: the type of all elements.
        kinds: what each input is; numbers are converted.
        changed: the inputs, rows, that the results replace.
        table: how elementary functions are written.
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
