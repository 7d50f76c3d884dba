"""How the elementary functions are spelled in kernels.

This is all that stage 4 adds to the mathematics of stage 0. Most are functions of `math`, which
Numba CUDA compiles to the GPU's own for the type at hand and the simulator takes from NumPy. They
follow IEEE 754: no function of a GPU raises. What `math` lacks is spelled otherwise. Its functions
that round would yield integers, so those come from CUDA's library of device functions, and the
power of two whole numbers is a loop that is written into the kernel.
"""

from __future__ import annotations

import math

from mt_cuda.kernel import Lines, indented
from mt_fast.extending import Table, call, integer_functions, render
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_operators.core.graph import Graph
from mt_tensor import DType

LIBRARY = {name: {"round": "rint"}.get(name, name) for name in ROUNDING}
"""What the device library calls the functions that round, for float64; for float32 with an f."""


def _floats(suffix: str) -> Table:
    """Return the table for floats, with the device library's suffix for the type."""
    return {
        **{name: f"math.{call(name)}" for name in ELEMENTARY if hasattr(math, name)},
        **{name: f"libdevice.{device}{suffix}({{0}})" for name, device in LIBRARY.items()},
        "div": "{0} / {1}",
        **{name: f"{name}({{0}}, {{1}})" for name in integer_functions.FLOATS},
        # `|` instead of `or`: a selection, not a branch. A nan differs from itself, and wins.
        "maximum": "{0} if ({0} >= {1}) | ({0} != {0}) else {1}",
        "minimum": "{0} if ({0} <= {1}) | ({0} != {0}) else {1}",
    }


_FLOAT32 = _floats("f")
_FLOAT64 = _floats("")
_INTEGERS: dict[str, Table] = {
    wide: {
        **_FLOAT64,
        "pow": "whole_power({0}, {1})",
        **{name: f"{name}({wide}({{0}}), {wide}({{1}}))" for name in integer_functions.INTEGERS},
    }
    for wide in ("int64", "uint64")
}

_WHOLE_POWER = """\
def whole_power(base, exponent):  # by squaring; a fraction is dropped, as everywhere
    power = {wide}(1)
    factor = {wide}(base)
    rest = {wide}(exponent)
    if rest < 0:
        if (base != 1) & (base != -1):
            power = {wide}(0)
        rest = {wide}(-rest)
    while rest > 0:
        if rest % {wide}(2) == {wide}(1):
            power = {wide}(power * factor)
        factor = {wide}(factor * factor)
        rest = {wide}(rest // {wide}(2))
    return {kind}(power)
"""


def _widest(dtype: DType) -> str:
    """Return the name of the type that holds all integers of an integer type."""
    return "int64" if dtype.is_signed else "uint64"


def table(dtype: DType) -> Table:
    """Return how a kernel that computes in `dtype` writes the elementary functions."""
    if dtype.kind == "integer":
        return _INTEGERS[_widest(dtype)]
    return _FLOAT64 if dtype.itemsize == 8 else _FLOAT32


def helpers(graph: Graph, dtype: DType) -> Lines:
    """Return the functions that a kernel must define for itself to compute `graph`."""
    used = dict.fromkeys(expression.operation for expression in graph.expressions)
    kind = "float64" if table(dtype) is _FLOAT64 else "float32"
    element = kind if dtype.is_floating_point else dtype.name
    texts = [integer_functions.text(name, element, "math.fmod") for name in used]
    if "pow" in used and dtype.kind == "integer":
        texts.append(_WHOLE_POWER.format(kind=dtype.name, wide=_widest(dtype)))
    return [line for text in texts if text for line in (*text.splitlines(), "")]


def combine(graph: Graph, dtype: DType) -> Lines:
    """Return an operator of two numbers, which are of the type `dtype`, as a function."""
    rendered = render(graph, ("a", "b"), dtype, (dtype,), table(dtype))
    return [
        *helpers(graph, dtype),
        "def combine(a, b):",
        *indented(rendered.statements),
        f"    return {rendered.results[0]}",
        "",
    ]
