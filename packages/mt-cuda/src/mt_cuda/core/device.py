"""Lower the elementary functions to kernel source.

Most are functions of `math`, which Numba CUDA compiles to GPU functions for the dtype, and which
the simulator replaces with NumPy's. They follow IEEE 754, and never raise errors. The rounding
functions of `math` return integers, so kernels use those of CUDA's `libdevice` instead.
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
"""The names of the rounding functions of `libdevice` for float64; those for float32 end with f."""


def _lowered(suffix: str) -> dict[str, str]:
    """Return a lowering table; `suffix` is the suffix of `libdevice` for the dtype."""
    return {
        **{name: f"math.{call(name)}" for name in ELEMENTARY if hasattr(math, name)},
        **{name: f"libdevice.{device}{suffix}({{0}})" for name, device in LIBRARY.items()},
        "div": "{0} / {1}",
        # `|` instead of `or`, for a selection instead of a branch. `{0} != {0}` propagates nan.
        "maximum": "{0} if ({0} >= {1}) | ({0} != {0}) else {1}",
        "minimum": "{0} if ({0} <= {1}) | ({0} != {0}) else {1}",
    }


TABLES: dict[str, dict[str, str]] = {
    "float32": _lowered("f"),
    **{name: _lowered("") for name in ("float64", "int64", "uint64")},
}
"""The lowering tables: one for float32, float64, signed and unsigned integers each. `integers.py`
adds operations with several steps."""

HELPERS: dict[str, Callable[[str], str]] = {}
"""For each operation, a function from the name of a dtype to the source of a helper function, or an
empty string if none is needed (`integers.py`)."""


def table(dtype: DType) -> Table:
    """Return the lowering table of kernels that compute in `dtype`."""
    return TABLES[table_name(dtype)]


def table_name(dtype: DType) -> str:
    """Return the key of a dtype in `TABLES`."""
    if dtype.kind == "integer":
        return "int64" if dtype.is_signed else "uint64"
    return "float64" if dtype.itemsize == 8 else "float32"


def helpers(graph: Graph, dtype: DType) -> Lines:
    """Return the source of the helper functions that a kernel needs to compute `graph`."""
    used = dict.fromkeys(expression.operation for expression in graph.expressions)
    name = table_name(dtype) if dtype.is_floating_point else dtype.name
    texts = [HELPERS[each](name) for each in used if each in HELPERS]
    return [line for text in texts if text for line in (*text.splitlines(), "")]


def combine(graph: Graph, dtype: DType) -> Lines:
    """Return the source of the function `combine`, which applies an operator to two numbers."""
    rendered = render(graph, ("a", "b"), dtype, (dtype,), table(dtype))
    return [
        *helpers(graph, dtype),
        "def combine(a, b):",
        *indented(rendered.statements),
        f"    return {rendered.results[0]}",
        "",
    ]
