"""What NumPy has for operators: functions of whole arrays.

The `simple` backend is made of loops; this file and the next two are the second, which has none.
An operator that NumPy has is one call, any other formula is a walk over its graph with such calls.
`calls.py` gives them views, and `backend.py` has the other primitives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import ROUNDING
from mt_tensor.backends.quiet import quiet
from mt_tensor.dtypes import Array, DType, Number
from mt_tensor.widening import numbers

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
"""Operators that NumPy has by name, but not for all element types, or with another result."""

UFUNCS: dict[str, np.ufunc] = {
    name: ufunc
    for name in OPERATORS
    if name not in _DIFFERENT
    and isinstance(ufunc := getattr(np, _NAMES.get(name, name), None), np.ufunc)
}
"""Operators that NumPy has as a ufunc."""


def _rounding(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a ufunc that rounds as a function that leaves whole numbers as they are.

    The ufunc would make them floats, which do not hold every integer beyond 2**53.
    """

    def rounded(x: Any, **options: Any) -> Any:
        whole = np.asarray(x).dtype.kind in "iu"
        return (np.positive if whole else ufunc)(x, **options)

    return rounded


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **UFUNCS,
    **{name: _rounding(np.rint if name == "round" else getattr(np, name)) for name in ROUNDING},
}
"""Operators that are one call on whole arrays, with the options of ufuncs."""


def _one_by_one(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return a function of floats, which NumPy lacks, as one of arrays: element by element."""
    of_objects = np.frompyfunc(function, 1, 1)

    def of_arrays(x: Any) -> Any:
        x = np.asarray(x)
        return np.asarray(of_objects(x), x.dtype if x.dtype.kind == "f" else np.float64)

    return of_arrays


SPELLING: dict[str, Callable[..., Any]] = {
    **FUNCTIONS,
    "where": np.where,
    "erf": _one_by_one(math.erf),
    "erfc": _one_by_one(math.erfc),
}
"""Functions of arrays for the steps of a graph: all elementary functions, and more operators."""


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


def on_arrays(formula: Formula, dtype: DType) -> Callable[..., Any]:
    """Return a formula as a function of arrays, all of whose results are new: one, or a list.

    Args:
        formula: what to compute.
        dtype: the type of the arguments, some of which may be of bool. It computes in
            `dtype.computed`.
    """
    from dataclasses import replace  # these when first needed only

    from mt_operators.core.lowering import evaluate, lowered

    computed = dtype.computed.numpy
    graph = lowered(formula, SPELLING)
    graph = replace(
        graph,
        expressions=tuple(
            replace(e, number=typed(e.number, computed)) if e.operation == "constant" else e
            for e in graph.expressions
        ),
    )

    def compute(*arrays: Array) -> Any:
        operands = [a.astype(computed) if a.dtype == np.float16 else numbers(a) for a in arrays]
        # Copies, for a formula may return one of its arguments.
        results = [np.array(result) for result in evaluate(graph, operands, SPELLING)]
        return results[0] if formula.outputs == 1 else results

    return compute
