"""Lower operators to the functions of `vector_math`, chosen by the dtypes of their arguments.

Exponentials and logarithms are vectorized for both float dtypes; sines, cosines, powers and the
error function for float32 only. The other functions are C's. Operators that would be slower or less
accurate as compositions of these are vectorized as a whole.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types
from numba.extending import overload

from mt_fast import vector_math
from mt_fast.core.lowering import NAMESPACE, TABLE, register_functions
from mt_fast.core.rendering import render, traced
from mt_fast.core.source import indented
from mt_fast.core.tables import jit
from mt_fast.integers.lowering import power_by
from mt_fast.vectors.compiler import INLINED
from mt_operators import OPERATORS, Formula
from mt_tensor import float32, float64


def _unary(single: Any, double: Any) -> Any:
    """Return a function of one number: `single` for float32, `double` for all other dtypes."""

    def function(x: Any) -> Any:
        return double(x)

    @overload(function, jit_options=INLINED)
    def chosen(x: Any) -> Any:
        def for_float32(x: Any) -> Any:
            return single(x)

        def for_others(x: Any) -> Any:
            return double(types.float64(x))

        return for_float32 if x == types.float32 else for_others

    return function


def _binary(single: Any, double: Any) -> Any:
    """Return a function of two numbers: `single` if both are float32, else `double`."""

    def function(x: Any, y: Any) -> Any:
        return double(x, y)

    @overload(function, jit_options=INLINED)
    def chosen(x: Any, y: Any) -> Any:
        def for_float32(x: Any, y: Any) -> Any:
            return single(x, y)

        def for_others(x: Any, y: Any) -> Any:
            return double(types.float64(x), types.float64(y))

        return for_float32 if x == y == types.float32 else for_others

    return function


def _vectorized(name: str) -> Any:
    """Return a function of `vector_math` by name; for a dtype that it lacks, C's."""
    single, double = (
        vector_math.callable_in_kernels(functions[name], kind) if name in functions else None
        for kind, functions in vector_math.WRITTEN.items()
    )
    return (_unary if OPERATORS[name].arity == 1 else _binary)(
        single, double or getattr(math, name)
    )


VECTORIZED = {name: _vectorized(name) for name in vector_math.WRITTEN[vector_math.FLOAT32]}
log = VECTORIZED["log"]
decay = _unary(
    *(vector_math.callable_in_kernels(vector_math.decay, kind) for kind in vector_math.WRITTEN)
)
"""`exp` of numbers that are not positive, in less time."""

register_functions({**VECTORIZED, "pow": power_by(VECTORIZED["pow"])})


def derivative(name: str) -> Any:
    """Return the derivative of a unary operator as a function of its value.

    The operator's partial derivative must use nothing but the value.
    """
    (partial,) = OPERATORS[name].partials
    formula = Formula(f"{name}_derivative", 1, 1, lambda value: partial(None, value))
    functions = []
    for dtype in (float32, float64):
        text = render(traced(formula, TABLE), ["value"], dtype, [dtype], TABLE)
        body = indented([*text.statements, f"return {text.results[0]}"])
        namespace = {**NAMESPACE}
        exec("\n".join(["def derivative(value):", *body]), namespace)
        functions.append(jit()(namespace["derivative"]))
    return _unary(*functions)
