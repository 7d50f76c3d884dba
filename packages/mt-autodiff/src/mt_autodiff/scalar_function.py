"""`ScalarFunction`: functions of Scalars with a backward written by hand.

A composition of operators needs no backward of its own. Write one for a function that the operator
table lacks, or when you know a better form of the derivative.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, SupportsFloat

from mt_autodiff.core.errors import ForwardError, GradientError
from mt_autodiff.core.graph import Context, History
from mt_autodiff.core.mode import is_grad_enabled
from mt_autodiff.core.scalar import Scalar, as_scalar


class ScalarFunction:
    """The base class of functions of Scalars with their own backward; call `apply`.

    Forward and backward compute with floats, so there is no second derivative.

    >>> class Cube(ScalarFunction):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, derivative):
    ...         (x,) = ctx.saved_values
    ...         return derivative * 3 * x**2
    >>> x = Scalar(2.0)
    >>> Cube.apply(x).backward()
    >>> x.derivative
    12.0
    """

    @staticmethod
    def forward(ctx: Context, *inputs: float) -> float:
        """Compute the value from floats, and save values for `backward` on `ctx`."""
        raise NotImplementedError(
            "a ScalarFunction must define a static method forward(ctx, *inputs)."
        )

    @staticmethod
    def backward(ctx: Context, derivative: float) -> Any:
        """Return `derivative` times the partial derivative for each input; a tuple if several."""
        raise NotImplementedError(
            "a ScalarFunction must define a static method backward(ctx, derivative)."
        )

    @classmethod
    def apply(cls, *values: SupportsFloat) -> Scalar:
        """Run forward on the values, record the call, and return the result.

        Raises:
            ForwardError: the forward did not return a number.
            TypeError: a value is not a number.
        """
        inputs = tuple(as_scalar(value) for value in values)
        recording = is_grad_enabled()
        ctx = Context(tuple(recording and scalar.requires_grad for scalar in inputs))
        value: object = cls.forward(ctx, *(scalar.data for scalar in inputs))
        if not isinstance(value, Real):
            raise ForwardError(
                f"the forward of {cls.__name__!r} returned {value!r} of type "
                f"{type(value).__name__}; it must return a float."
            )
        result = as_scalar(float(value))
        if any(ctx.needs_input_grad):
            result.requires_grad = True
            result.history = History(_CheckedBackward(cls), ctx, inputs, cls.__name__)
        return result


class _CheckedBackward:
    """The backward of a ScalarFunction, with checks of its arguments and results."""

    def __init__(self, function: type[ScalarFunction]) -> None:
        self.function = function

    def backward(self, ctx: Context, derivative: Any, /) -> Any:
        """Return the derivative for each input."""
        name = self.function.__name__
        if not isinstance(derivative, Real):
            raise GradientError(
                f"the backward of {name!r} computes with floats, so its derivative cannot be "
                "differentiated again (create_graph=True). Compose the function from operators."
            )
        results = self.function.backward(ctx, float(derivative))
        for result in results if isinstance(results, tuple) else (results,):
            if not isinstance(result, Real | None):
                raise GradientError(
                    f"the backward of {name!r} returned {result!r} of type {type(result).__name__} "
                    "as a derivative; return a number or None for each input."
                )
        return results
