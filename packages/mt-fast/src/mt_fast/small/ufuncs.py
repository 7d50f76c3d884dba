"""Compute few elements with NumPy's ufuncs, whose call overhead is lower than that of kernels.

Only operations of a single step that rounds once qualify, since these give the same bits.
"""

from __future__ import annotations

from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Formula, TracingError
from mt_operators.core.lowering import expanded
from mt_operators.core.tracing import graph_of
from mt_tensor.backends.extending import UFUNCS, FormulaRunner, function_of

EXACT_STEPS = {
    *("add", "sub", "mul", "div", "neg", "abs", "square", "sqrt"),
    *("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite"),
}
"""Operators that round once: NumPy gives the same bits as a kernel."""

EXACT = {name: UFUNCS[name] for name in EXACT_STEPS}
"""The ufuncs of these operators."""


def by_numpy(formula: Formula) -> FormulaRunner | None:
    """Return NumPy's function for a formula; None if its bits might differ."""
    exact = function_of(formula, EXACT) is not None or is_exact(formula)
    return FormulaRunner(formula) if exact else None


def is_exact(formula: Formula) -> bool:
    """Return whether each result is one operator of `EXACT_STEPS`, as in a product's gradient."""
    try:
        steps = expanded(graph_of(formula)).expressions[formula.arity :]
    except TracingError:  # compiling the kernel will raise it
        return False
    return len(steps) == formula.outputs and all(step.operation in EXACT_STEPS for step in steps)


SPECIAL_CASES["small"] = by_numpy
