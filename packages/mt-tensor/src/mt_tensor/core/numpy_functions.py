"""What NumPy has for operators: functions of whole arrays.

The `simple` backend is made of loops; this file and the next ones are the second, which has none.
An operator that NumPy has is one call, and any other formula becomes source code of such calls
(`source.py`). `calls.py` gives them views, and `backend.py` has the other primitives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import ROUNDING
from mt_tensor.core.dtypes import Array, Number
from mt_tensor.core.errstate import quiet
from mt_tensor.core.numpy_blocks import LARGE, in_blocks
from mt_tensor.core.numpy_erf import erf, erfc

_NAMES = {
    "neg": "negative",
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "clamp_min": "maximum",
    "clamp_max": "minimum",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
"""What NumPy calls an operator, where that is not its name in the table."""

_DIFFERENT = {*ROUNDING, "lcm", "remainder", "sign", "signbit"}
"""Operators that NumPy has by name, but not for all dtypes, or with another result."""

UFUNCS: dict[str, np.ufunc] = {
    name: ufunc
    for name in OPERATORS
    if name not in _DIFFERENT
    and isinstance(ufunc := getattr(np, _NAMES.get(name, name), None), np.ufunc)
}
"""Operators that NumPy has as a ufunc."""


def _rounding(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a ufunc that rounds as a function that leaves integers as they are.

    The ufunc would make them floats, which do not hold every integer beyond 2**53.
    """

    def rounded(x: Any, **options: Any) -> Any:
        integer = np.asarray(x).dtype.kind in "iu"
        return (np.positive if integer else ufunc)(x, **options)

    return rounded


def _sign(x: Any, **options: Any) -> Any:
    """Return the ufunc's result, which needs numbers: bools are read as 0 and 1."""
    x = np.asarray(x)
    return np.sign(x.view(np.uint8) if x.dtype == np.bool_ else x, **options)


def _sigmoid(x: Any, out: Array | None = None, casting: Any = "same_kind") -> Any:
    """Return `1 / (1 + exp(-x))` of each element; called like a ufunc.

    Where the exponential overflows the result is 0, beside which there are only subnormal numbers.
    float16 is computed with in float32, and so keeps these too.
    """
    x = np.asarray(x)
    if out is None and x.size >= LARGE:
        return in_blocks(_sigmoid, x)
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
    "erf": erf,
    "erfc": erfc,
    "sigmoid": _sigmoid,
    "sign": _sign,
    "clamp": np.clip,
    "hardtanh": np.clip,
}
"""Operators that are one call on whole arrays, with the options of ufuncs."""


def function_of(
    formula: Formula, functions: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any] | None:
    """Return the one function that computes a formula from its arguments in order, if there is one.

    There is for the values of most operators, and for a few gradients: that of `exp` is a product.
    """
    from mt_operators.core.lowering import lowered  # when first needed only

    try:
        graph = lowered(formula, functions)
    except TracingError:  # whoever computes it will raise it
        return None
    step, inputs = graph.expressions[-1], tuple(range(graph.arity))
    only = len(graph.expressions) == graph.arity + 1 and graph.outputs == (graph.arity,)
    return functions.get(step.operation) if only and step.operands == inputs else None


def typed(number: Number, dtype: np.dtype[Any]) -> Any:
    """Return a number as an array, which NumPy takes in half the time of a Python number."""
    fraction = not math.isfinite(number) or number != int(number)
    exact = np.float64 if dtype.kind in "iu" and fraction else dtype
    return quiet().run(np.asarray(number).astype, exact)
