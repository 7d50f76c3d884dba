"""The operator table lifted to Scalars.

A Scalar can record; this is what it records. Every row's value runs on the floats inside, and its
partial derivatives, run on the same floats, are its backward. Under `create_graph` the partial
derivatives run on Scalars instead, as they stand: asked for their operators, Scalars record them.
That is all that higher derivatives take.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsFloat

from mt_autodiff.core.errors import GradientError, WholeNumberError
from mt_autodiff.core.graph import Context, History
from mt_autodiff.core.mode import is_grad_enabled
from mt_autodiff.core.scalar import LIFTED, Scalar, constant
from mt_operators import OPERATORS, Operator


class LiftedOperator:
    """A row of the operator table, lifted to Scalars."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def __call__(self, *values: SupportsFloat) -> Scalar:
        """Apply the operator to Scalars and numbers. A truth value is a constant.

        Raises:
            TypeError: there is not one value for each argument.
            WholeNumberError: the operator works on whole numbers only.
        """
        operator = self.operator
        inputs = tuple([v if isinstance(v, Scalar) else constant(v) for v in values])
        if len(inputs) != len(operator.partials):
            raise TypeError(
                f"{operator.name} takes {operator.arity} argument(s); {len(inputs)} were given."
            )
        if operator.result == "whole":
            raise WholeNumberError(
                f"{operator.name} works on whole numbers, and a Scalar holds a float: call "
                f"OPERATORS[{operator.name!r}].function with integers."
            )
        if operator.result == "truth":
            return constant(operator.function(*[scalar._data for scalar in inputs]))
        return self.record(inputs)

    def record(self, inputs: tuple[Scalar, ...]) -> Scalar:
        """Return the value of the operator, which remembers how it was computed.

        It has a history if recording is on and an input wants its derivative. What is saved for
        backward are the inputs, and the floats that the partial derivatives take: those of the
        inputs, and the value. Otherwise it is a constant.
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
        """Return the derivative for each input: floats, or Scalars if given a Scalar."""
        inputs, known = ctx.saved_values
        partials, share = self.operator.partials, self.operator.share
        if isinstance(derivative, Scalar):
            _check_unchanged(self.operator.name, inputs, known)
            known = (*inputs, self(*inputs))  # recorded, so that it can be differentiated again
        return tuple(
            [
                share(derivative, partials[i](*known)) if needed else None
                for i, needed in enumerate(ctx.needs_input_grad)
            ]
        )


def _check_unchanged(name: str, inputs: Iterable[Scalar], known: Iterable[float]) -> None:
    """Raise if an input has changed since: a recorded derivative would be that at another point."""
    for scalar, before in zip(inputs, known, strict=False):
        if scalar._data != before and before == before:
            raise GradientError(
                f"{scalar!r} was changed after {name!r} was computed from {before!r}. Change "
                "values after the backward, or compute anew what is differentiated twice."
            )


def _install(operator: Operator) -> None:
    """Lift one row of the table and make it a method of Scalar, by all of its names."""
    lifted = LIFTED[operator.name] = LiftedOperator(operator)

    def method(self: Scalar, *others: SupportsFloat) -> Scalar:
        return lifted(self, *others)

    method.__name__ = operator.name
    method.__qualname__ = f"Scalar.{operator.name}"
    method.__doc__ = f"{operator.note}."
    for name in (operator.name, *operator.aliases):
        if name not in Scalar.__dict__:
            setattr(Scalar, name, method)


OPERATORS.for_each(_install, taken=lambda name: hasattr(Scalar, name))
