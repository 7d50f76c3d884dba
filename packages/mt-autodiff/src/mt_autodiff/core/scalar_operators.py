"""The operators of the table on Scalars.

The function of a row runs on the floats of its arguments; the backward evaluates its partial
derivatives on the same floats. With `create_graph` they are evaluated on Scalars, which records
them for higher derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsFloat

from mt_autodiff.core.errors import GradientError, IntegerOperatorError
from mt_autodiff.core.graph import Context, History
from mt_autodiff.core.mode import is_grad_enabled
from mt_autodiff.core.registration import register_method
from mt_autodiff.core.scalar import SCALAR_OPERATORS, Scalar, constant
from mt_operators import OPERATORS, Operator


class ScalarOperator:
    """A row of the operator table as a function of Scalars."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def __call__(self, *values: SupportsFloat) -> Scalar:
        """Apply the operator to Scalars and numbers; a bool result is a constant."""
        operator = self.operator
        inputs = tuple([v if isinstance(v, Scalar) else constant(v) for v in values])
        if len(inputs) != len(operator.partials):
            raise TypeError(
                f"{operator.name}() takes {operator.arity} argument(s); {len(inputs)} were given."
            )
        if operator.result == "integer":
            raise IntegerOperatorError(
                f"{operator.name}() works on integers, and a Scalar holds a float: call "
                f"OPERATORS[{operator.name!r}].function with integers."
            )
        if operator.result == "bool":
            return constant(operator.function(*[scalar._data for scalar in inputs]))
        return self.record(inputs)

    def record(self, inputs: tuple[Scalar, ...]) -> Scalar:
        """Return the value of the operator, with a history if an input needs its derivative.

        The history saves the inputs, and the arguments of the partial derivatives: the floats of
        the inputs and the value. If recording is off, the result is a constant.
        """
        known = [scalar._data for scalar in inputs]
        result = constant(self.operator.function(*known))
        needs = tuple([scalar.requires_grad for scalar in inputs])
        if is_grad_enabled() and True in needs:
            ctx = Context(needs)
            ctx.save_for_backward(inputs, (*known, result._data))
            result.requires_grad = True
            result.history = History(self, ctx, inputs, self.operator.name)
        return result

    def backward(self, ctx: Context, derivative: Any, /) -> tuple[Any, ...]:
        """Return the derivative with respect to each input: floats, or Scalars for a Scalar."""
        inputs, known = ctx.saved_values
        partials, vjp = self.operator.partials, self.operator.vjp
        if isinstance(derivative, Scalar):
            _check_unchanged(self.operator.name, inputs, known)
            known = (*inputs, self(*inputs))  # recorded, for higher derivatives
        return tuple(
            [
                vjp(derivative, partials[i](*known)) if needed else None
                for i, needed in enumerate(ctx.needs_input_grad)
            ]
        )


def _check_unchanged(name: str, inputs: Iterable[Scalar], known: Iterable[float]) -> None:
    """Raise GradientError if an input has changed since the forward pass."""
    for scalar, before in zip(inputs, known, strict=False):
        if scalar._data != before and before == before:
            raise GradientError(
                f"{scalar!r} was changed after {name!r} was computed from {before!r}. Change "
                "values after the backward, or compute the result again."
            )


def _install(operator: Operator) -> None:
    """Register a row of the table as a method of Scalar, under all of its names."""
    function = SCALAR_OPERATORS[operator.name] = ScalarOperator(operator)

    def method(self: Scalar, *others: SupportsFloat) -> Scalar:
        return function(self, *others)

    method.__name__ = operator.name
    method.__qualname__ = f"Scalar.{operator.name}"
    method.__doc__ = f"Return {operator.note}."
    method.__wrapped__ = operator.function  # type: ignore[attr-defined] # the names of operands
    for name in (operator.name, *operator.aliases):
        if name not in Scalar.__dict__:
            register_method(Scalar, name, method)


OPERATORS.for_each(_install, is_reserved=lambda name: hasattr(Scalar, name))
