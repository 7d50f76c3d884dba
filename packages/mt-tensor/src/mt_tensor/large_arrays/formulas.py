"""The NumPy source of formulas."""

from __future__ import annotations

from mt_operators import Formula
from mt_operators.core.lowering import lowered
from mt_tensor.core.numpy_functions import ATOMIC, python_source


def numpy_source(formula: Formula) -> str:
    """Return the source of a formula as a function of NumPy arrays.

    Raises:
        TracingError: the formula branches on a value, or uses a function that arrays do not
            support.
        TypeError: the argument is not a formula.
    """
    if not isinstance(formula, Formula):
        raise TypeError(
            f"numpy_source() takes a formula, such as row.value or row.gradient((True,)); "
            f"{formula!r} was given."
        )
    return python_source(lowered(formula, ATOMIC), formula.name, repr)
