"""Lower the elementary functions to code that kernels contain.

This is all that stage 4 adds to the mathematics of stage 0. Most are functions of `math`, which
Numba CUDA compiles to the GPU's own for the dtype at hand and the simulator takes from NumPy. They
follow IEEE 754: no function of a GPU raises. What `math` lacks is lowered otherwise. Its functions
that round would return integers, so those come from CUDA's library of device functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mt_cuda.core.kernel import Lines, indented
from mt_fast.core.rendering import Table, call, render
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_operators.core.graph import Graph
from mt_tensor import DType

LIBRARY = {name: {"round": "rint"}.get(name, name) for name in ROUNDING}
"""What the device library calls the functions that round, for float64; for float32 with an f."""


def _lowered(suffix: str) -> dict[str, str]:
    """Return a lowering table, with the device library's suffix for the dtype."""
    return {
        **{name: f"math.{call(name)}" for name in ELEMENTARY if hasattr(math, name)},
        **{name: f"libdevice.{device}{suffix}({{0}})" for name, device in LIBRARY.items()},
        "div": "{0} / {1}",
        # `|` instead of `or`: a selection, not a branch. A nan differs from itself, and wins.
        "maximum": "{0} if ({0} >= {1}) | ({0} != {0}) else {1}",
        "minimum": "{0} if ({0} <= {1}) | ({0} != {0}) else {1}",
    }


TABLES: dict[str, dict[str, str]] = {
    "float32": _lowered("f"),
    **{name: _lowered("") for name in ("float64", "int64", "uint64")},
}
"""The lowering tables. Kernels compute floats in float32 or float64; integers have one table for
all that are signed and one for the others. `integers.py` adds operations of several steps."""

HELPERS: dict[str, Callable[[str], str]] = {}
"""By operation, a function from the name of a dtype to the text of the helper that kernels call
(`integers.py`); the text is empty where none is needed."""


def table(dtype: DType) -> Table:
    """Return the lowering table of kernels that compute in `dtype`."""
    return TABLES[table_name(dtype)]


def table_name(dtype: DType) -> str:
    """Return the name of the table of a dtype."""
    if dtype.kind == "integer":
        return "int64" if dtype.is_signed else "uint64"
    return "float64" if dtype.itemsize == 8 else "float32"


def helpers(graph: Graph, dtype: DType) -> Lines:
    """Return the functions that a kernel must define for itself to compute `graph`."""
    used = dict.fromkeys(expression.operation for expression in graph.expressions)
    name = table_name(dtype) if dtype.is_floating_point else dtype.name
    texts = [HELPERS[each](name) for each in used if each in HELPERS]
    return [line for text in texts if text for line in (*text.splitlines(), "")]


def combine(graph: Graph, dtype: DType) -> Lines:
    """Return an operator of two numbers of dtype `dtype` as a function."""
    rendered = render(graph, ("a", "b"), dtype, (dtype,), table(dtype))
    return [
        *helpers(graph, dtype),
        "def combine(a, b):",
        *indented(rendered.statements),
        f"    return {rendered.results[0]}",
        "",
    ]
