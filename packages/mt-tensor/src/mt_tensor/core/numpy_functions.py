"""Operators as functions of whole NumPy arrays.

The `numpy` backend has no loops. An operator that NumPy has is one call; any other formula becomes
source code of such calls (`numpy_source.py`). `numpy_calls.py` calls them with views, and
`numpy_backend.py` has the other primitives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import ROUNDING
from mt_operators.core.lowering import lowered
from mt_tensor.core.dtypes import Array, Number
from mt_tensor.core.host import no_warnings

_NAMES = {
    "neg": "negative",
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
    "clamp_min": "maximum",
    "clamp_max": "minimum",
}
"""NumPy's name of an operator, where it is not the name in the table."""

_DIFFERENT = {*ROUNDING, "lcm", "remainder", "sign", "signbit"}
"""Operators whose ufunc lacks some dtypes, or gives another result."""

UFUNCS: dict[str, np.ufunc] = {
    name: ufunc
    for name in OPERATORS
    if name not in _DIFFERENT
    and isinstance(ufunc := getattr(np, _NAMES.get(name, name), None), np.ufunc)
}
"""Operators that NumPy has as a ufunc."""

LARGE = 2**19
"""From so many elements on, the result of a step has left the processor's cache when the next step
reads it."""

SPECIAL_CASES: dict[str, Callable[..., Any]] = {}
"""Faster ways of the `numpy` backend for large arrays, which `large_arrays/` adds:

- `in_blocks(function, *arrays)`: an elementwise function of arrays, a block at a time;
- `formula(graph, constant, namespace)`: add a function for large arrays to the namespace of a
  generated one, which begins with the statement that is returned (`numpy_source.py`);
- `update(formula, out, inputs)`: write results to views block by block, if they replace inputs;
  return whether they have been written.
"""


def _rounding(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a rounding ufunc that leaves integers as they are.

    NumPy's would make them floats, which do not hold every integer beyond 2**53.
    """

    def rounded(x: Any, **options: Any) -> Any:
        integer = np.asarray(x).dtype.kind in "iu"
        return (np.positive if integer else ufunc)(x, **options)

    return rounded


def _sign(x: Any, **options: Any) -> Any:
    """Return the sign; bools, which the ufunc refuses, are read as 0 and 1."""
    x = np.asarray(x)
    return np.sign(x.view(np.uint8) if x.dtype == np.bool_ else x, **options)


def _sigmoid(x: Any, out: Array | None = None, casting: Any = "same_kind") -> Any:
    """Return `1 / (1 + exp(-x))`, called like a ufunc.

    Where the exponential overflows the result is 0. float16 is computed in float32, so that its
    subnormal results are not lost.
    """
    x = np.asarray(x)
    if out is None and x.size >= LARGE and "in_blocks" in SPECIAL_CASES:
        return SPECIAL_CASES["in_blocks"](_sigmoid, x)
    result = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    computed = np.float32 if result == np.float16 else result
    decay = np.asarray(np.negative(x, dtype=computed))
    np.exp(decay, out=decay)
    decay += 1
    if out is None:
        out = decay if result == computed else np.empty(x.shape, result)
    return np.divide(1, decay, out=out, casting=casting)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **UFUNCS,
    **{name: _rounding(np.rint if name == "round" else getattr(np, name)) for name in ROUNDING},
    "sigmoid": _sigmoid,
    "sign": _sign,
    "clamp": np.clip,
    "hardtanh": np.clip,
}
"""Operators that are one call on whole arrays, with the options of ufuncs. NumPy has no error
functions: `special/` adds them."""


def function_of(
    formula: Formula, functions: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any] | None:
    """Return the one function that computes a formula from its arguments in order, or None.

    There is one for most operators, and for a few gradients: that of `exp` is a product.
    """
    try:
        graph = lowered(formula, functions)
    except TracingError:  # raised again when it is computed
        return None
    step, inputs = graph.expressions[-1], tuple(range(graph.arity))
    only = len(graph.expressions) == graph.arity + 1 and graph.outputs == (graph.arity,)
    return functions.get(step.operation) if only and step.operands == inputs else None


def typed(number: Number, dtype: np.dtype[Any]) -> Any:
    """Return a number as an array, which NumPy takes in half the time of a Python number."""
    fraction = not math.isfinite(number) or number != int(number)
    exact = np.float64 if dtype.kind in "iu" and fraction else dtype
    return no_warnings().run(np.asarray(number).astype, exact)
