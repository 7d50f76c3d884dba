"""Lower operators and formulas to functions of NumPy arrays.

An operator that NumPy has is one call. Any other formula is lowered to Python source from its graph
(`mt_operators.core.graph`): the gradient of tanh, for example, to

    def on_arrays(x0, x1, x2):
        return x0 * (1.0 - (x2 * x2))

A value that is used once is not assigned to a variable, so that NumPy can reuse its memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import ROUNDING
from mt_operators.core.graph import PYTHON, Expression, Graph
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
"""NumPy's names of operators, where they differ from the table's."""

_DIFFERENT = {*ROUNDING, "lcm", "remainder", "sign", "signbit"}
"""Operators whose ufunc lacks some dtypes, or returns different results."""

UFUNCS: dict[str, np.ufunc] = {
    name: ufunc
    for name in OPERATORS
    if name not in _DIFFERENT
    and isinstance(ufunc := getattr(np, _NAMES.get(name, name), None), np.ufunc)
}
"""Operators that NumPy has as a ufunc."""

SPECIAL_CASES: dict[str, Callable[..., Any]] = {}
"""Functions registered from outside the core, for large arrays or for operations that NumPy lacks:

- `where(condition, x, y)`: select elements as `np.where` does, faster in large arrays;
- `16 bits(function)`: return a function of arrays that computes every step in float32;
- `reduce(operator, source, shape, dims)`: reduce with an operator that has no ufunc.
"""


def _rounding(ufunc: np.ufunc) -> Callable[..., Any]:
    """Wrap a rounding ufunc so that it returns integers unchanged.

    NumPy's ufuncs would convert them to floats, which lose precision beyond 2**53.
    """

    def rounded(x: Any, **options: Any) -> Any:
        integer = np.asarray(x).dtype.kind in "iu"
        return (np.positive if integer else ufunc)(x, **options)

    return rounded


def _sign(x: Any, **options: Any) -> Any:
    """Return the sign; bools, which the ufunc does not support, are read as 0 and 1."""
    x = np.asarray(x)
    return np.sign(x.view(np.uint8) if x.dtype == np.bool_ else x, **options)


def _sigmoid(x: Any, out: Array | None = None, casting: Any = "same_kind") -> Any:
    """Return `1 / (1 + exp(-x))`, with the options of a ufunc.

    If the exponential overflows, the result is 0. float16 is computed in float32, to keep subnormal
    results.
    """
    x = np.asarray(x)
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
"""Operators that are one call on arrays, with the options of ufuncs; `special/` adds more."""


def function_of(
    formula: Formula, functions: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any] | None:
    """Return the single function that computes a formula from its arguments in order, or None.

    Most operators have one, and a few gradients: the gradient of `exp` is a product.
    """
    try:
        graph = lowered(formula, functions)
    except TracingError:  # raised again when the formula is computed
        return None
    step, inputs = graph.expressions[-1], tuple(range(graph.arity))
    is_single = len(graph.expressions) == graph.arity + 1 and graph.outputs == (graph.arity,)
    return functions.get(step.operation) if is_single and step.operands == inputs else None


def as_0d_array(number: Number, dtype: np.dtype[Any]) -> Any:
    """Convert a number to a 0-D array, which NumPy reads twice as fast as a Python number."""
    fraction = not math.isfinite(number) or number != int(number)
    exact = np.float64 if dtype.kind in "iu" and fraction else dtype
    return no_warnings().run(np.asarray(number).astype, exact)


# --- Any formula, as source code ----------------------------------------------------------------

ATOMIC = ("sigmoid", "sign")
"""Operators that are not lowered further, since there is a function of arrays for them."""


_OPERATIONS = {**PYTHON, "div": "{0} / {1}"}
"""Operations that are written as Python operators."""

_MAX_DEPTH = 20
"""The depth at which a nested expression is assigned to a variable."""


def numpy_function(
    formula: Formula, functions: Mapping[str, Callable[..., Any]], dtype: np.dtype[Any]
) -> Callable[..., Any]:
    """Compile a formula to a function of NumPy arrays that returns new arrays.

    Args:
        formula: the formula to compute.
        functions: array functions for `ATOMIC` and all elementary functions except `where`.
        dtype: the dtype of the computation, and of the formula's constants.

    Raises:
        TracingError: the formula branches on a value, or uses an operation that arrays lack.
    """
    namespace: dict[str, Any] = {
        **functions,
        "where": SPECIAL_CASES.get("where", np.where),
        "as_bool": _as_bool,
        "copy": np.copy,
    }

    def constant_name(number: Number) -> str:
        name = f"c{len(namespace)}"
        namespace[name] = as_0d_array(number, dtype)
        return name

    graph = lowered(formula, ATOMIC)
    text = python_source(graph, "on_arrays", constant_name)
    exec(compile(text, f"<{formula.name} on arrays>", "exec"), namespace)
    function: Callable[..., Any] = namespace["on_arrays"]
    return function


def _as_bool(condition: Any) -> Any:
    """Convert an argument to bool, if it is not."""
    return condition if condition.dtype == np.bool_ else condition != 0


def python_source(
    graph: Graph,
    name: str,
    constant: Callable[[Number], str],
) -> str:
    """Render a graph as the source of a Python function.

    Args:
        graph: the graph of a formula.
        name: the name of the function.
        constant: renders a number.
    """
    uses = Counter(at for expression in graph.expressions for at in expression.operands)
    uses.update(graph.outputs)
    texts: list[str] = []
    operands: list[str] = []  # the same, parenthesized for use as an operand
    depths: list[int] = []
    lines: list[str] = []
    named = 0
    for position, expression in enumerate(graph.expressions):
        operation = expression.operation
        depth = 1 + max((depths[at] for at in expression.operands), default=-1)
        parts = [operands[at] for at in expression.operands]
        infix = False
        if operation == "argument":
            text = f"x{expression.number}"
        elif operation == "constant":
            text = constant(expression.number)
        elif operation == "ne" and _is_condition(graph, expression):
            text = f"as_bool({parts[0]})"
        elif operation in _OPERATIONS:
            text, infix = _OPERATIONS[operation].format(*parts), True
        else:
            text = f"{operation}({', '.join(texts[at] for at in expression.operands)})"
        if expression.operands and (uses[position] > 1 or depth > _MAX_DEPTH):
            lines.append(f"t{named} = {text}")
            text, depth, infix, named = f"t{named}", 0, False, named + 1
        texts.append(text)
        operands.append(f"({text})" if infix else text)
        depths.append(depth)
    results = []
    for number, at in enumerate(graph.outputs):
        computed = graph.expressions[at].operation not in ("argument", "constant")
        new = computed and at not in graph.outputs[:number]
        results.append(texts[at] if new else f"copy({texts[at]})")
    arguments = ", ".join(f"x{i}" for i in range(graph.arity))
    return "\n    ".join((f"def {name}({arguments}):", *lines, f"return {', '.join(results)}"))


def _is_condition(graph: Graph, expression: Expression) -> bool:
    """Return whether a comparison is `x != 0` for an argument x, that is, its bool."""
    left, right = expression.operands
    return graph.expressions[left].operation == "argument" and _is_zero(graph, right)


def _is_zero(graph: Graph, at: int) -> bool:
    """Return whether an expression is the constant 0, and not -0.0."""
    found = graph.expressions[at]
    zero = found.operation == "constant" and found.number == 0.0
    return zero and math.copysign(1.0, found.number) > 0.0
