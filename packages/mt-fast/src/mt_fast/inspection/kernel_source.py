"""Show the source of kernels without running them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_fast.core.elementwise import elementwise_source
from mt_fast.core.reductions import fold_rows
from mt_fast.folds.kernels import columns
from mt_operators import OPERATORS
from mt_operators.core.tracing import drop_unused
from mt_tensor import bool_
from mt_tensor.extending import as_dtype, operator_of

LOOPS = ("flat", "rows")
LAYOUTS = (*LOOPS, "fold", "columns")


def source(
    operation: str | Callable[..., Any],
    *,
    gradient: tuple[bool, ...] | None = None,
    dtype: str = "float32",
    layout: str = "flat",
    repeats: tuple[bool, ...] | None = None,
) -> str:
    """Return the source of the kernel that the backend compiles for an operator.

    Args:
        operation: the operator's name in the table, or a function returned by `mt_tensor.fuse`.
        gradient: for the fused backward, which arguments require a gradient; None for the value.
        dtype: the dtype of the arguments.
        layout: the form of the loop: `"flat"` for contiguous tensors, `"rows"` for contiguous rows,
            `"fold"` and `"columns"` for the reduction over the last and the first dimension, for
            operators that reduce.
        repeats: for each argument, whether it repeats one element along a row, as a broadcast one
            does; None if no argument does.

    Raises:
        UnknownOperatorError: no operator has this name.
        FusionError: the function was not returned by `fuse`.
        DTypeError: the dtype is unknown.
        ValueError: the layout is unknown or does not support the other arguments, `gradient` or
            `repeats` does not match the operator, or kernels do not compute in this dtype.
        TracingError: the operator cannot be compiled.
    """
    operator = OPERATORS[operation] if isinstance(operation, str) else operator_of(operation)
    name = operator.name
    element = as_dtype(dtype)
    stored = bool_ if operator.result == "bool" else element
    if layout not in LAYOUTS:
        raise ValueError(
            f"source: layout must be one of {', '.join(LAYOUTS)}; {layout!r} was given."
        )
    if element.is_narrow:
        raise ValueError(
            f"source: kernels do not compute in {dtype}, but in float32: pass dtype='float32'."
        )
    if layout not in LOOPS:
        if operator.arity != 2 or gradient is not None or repeats is not None:
            raise ValueError(
                f"source: layout {layout!r} is for reductions by an operator of two arguments, "
                f"without gradient or repeats; {name!r} has {operator.arity} argument(s)."
            )
        return (fold_rows if layout == "fold" else columns)(operator, stored).text
    if gradient is not None and (len(gradient) != operator.arity or not any(gradient)):
        raise ValueError(
            f"source: gradient must have a bool for each of the {operator.arity} argument(s) of "
            f"{name!r}, at least one of them True; {gradient} was given."
        )
    repeated = (False,) * operator.arity if repeats is None else repeats
    if len(repeated) != operator.arity:
        raise ValueError(
            f"source: repeats must have a bool for each of the {operator.arity} argument(s) of "
            f"{name!r}; {repeats} was given."
        )
    formula, inputs = operator.value, [element] * operator.arity
    if name == "where":
        inputs[0] = bool_
    if gradient is not None:  # backward passes only the arguments that the formula reads
        formula, reads = drop_unused(operator.gradient(gradient))
        repeated = tuple([(False, *repeated, False)[i] for i in reads])
        inputs = [(element, *inputs, element)[i] for i in reads]
    roles = tuple(["element" if repeat else "row" for repeat in repeated])
    outputs = (stored,) * formula.outputs
    return elementwise_source(formula, tuple(inputs), outputs, layout, roles).text
