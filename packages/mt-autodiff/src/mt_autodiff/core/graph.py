"""The recorded computation: variables, and how each one came about.

The first idea of this stage: values remember. `Variable` is all that backpropagation asks of a
value, before there is any such value; `Scalar` comes three files on. A variable that was computed
from others has a `History`: the function that made it, what that function saved (its `Context`) and
its inputs. Following histories backwards is all that backpropagation needs, whatever the values
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from mt_autodiff.core.errors import GradientError, GraphFreedError


class Variable(Protocol):
    """What backpropagation needs to know of a value.

    A variable can be the key of a dict, in which it is equal to none but itself.
    """

    def __hash__(self) -> int:
        """A number that goes with the object, whatever its value."""

    @property
    def parents(self) -> Iterable[Variable]:
        """The variables that this one was computed from."""

    def is_constant(self) -> bool:
        """Whether no derivative is wanted with respect to this value."""

    def completed(self, derivative: Any) -> Any:
        """Return the derivative with which to go on, now that all shares of it are added up.

        That is `derivative` itself, unless a hook on this variable replaces it; Scalars have none,
        tensors of stage 2 do.
        """

    def chain_rule(self, derivative: Any) -> Iterable[tuple[Variable, Any]]:
        """Return each parent with its share of the derivative; nothing for an input.

        Args:
            derivative: the derivative of the final result with respect to this variable.
        """

    def accumulate_derivative(self, derivative: Any) -> None:
        """Take note of the derivative of the final result; inputs add it to what they store."""

    def free_graph(self) -> None:
        """Forget what was saved for `chain_rule`, so that memory can be reused."""


class Context:
    """What a function's forward keeps for its backward.

    Attributes:
        needs_input_grad: for each input of the function, whether its gradient is wanted.
        saved_values: what `save_for_backward` was given. Any other attribute may be set too.
    """

    __slots__ = ("__dict__", "needs_input_grad", "saved_values")

    def __init__(self, needs_input_grad: tuple[bool, ...] = ()) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_values: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep values until the graph is freed."""
        self.saved_values = values


class Differentiable(Protocol):
    """A function that a history can be differentiated through."""

    def backward(self, ctx: Any, derivative: Any, /) -> Any:
        """Return the derivative for each input, a tuple if there are several."""


class History:
    """How a variable was computed.

    Attributes:
        last_fn: the function; None once the graph has been freed.
        ctx: what the function saved.
        inputs: the variables that it was applied to.
        name: the function's name, for messages and pictures.
    """

    __slots__ = ("ctx", "inputs", "last_fn", "name")

    def __init__(
        self, last_fn: Differentiable | None, ctx: Context, inputs: Sequence[Any], name: str
    ) -> None:
        self.last_fn = last_fn
        self.ctx = ctx
        self.inputs = inputs
        self.name = name

    def shares(self, derivative: Any) -> tuple[Any, ...]:
        """Return the derivative for each input, None where there is none.

        Raises:
            GraphFreedError: the graph was freed by an earlier backward.
            GradientError: the function's backward returned another number of derivatives than
                it has inputs.
        """
        ctx = self.ctx
        function = self.last_fn  # read last: a thread that frees the graph forgets it first
        if function is None:
            raise self.freed()
        results: Any = function.backward(ctx, derivative)
        if not isinstance(results, tuple):
            results = (results,)
        return tuple(self.one_for_each(results, ctx.needs_input_grad))

    def one_for_each(self, results: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        """Return `results`, what a backward returned, if there is one for each of the inputs.

        Raises:
            GradientError: there is not.
        """
        if len(results) != len(inputs):
            raise GradientError(
                f"the backward of {self.name!r} returned {len(results)} derivative(s) for "
                f"{len(inputs)} input(s); return one for each, None where none is needed."
            )
        return results

    def chain_rule(self, derivative: Any) -> list[tuple[Any, Any]]:
        """Return each input that wants a derivative, with its derivative.

        Raises:
            GraphFreedError: the graph was freed by an earlier backward.
            GradientError: the function's backward returned another number of derivatives than
                it has inputs.
        """
        inputs, needs = self.inputs, self.ctx.needs_input_grad
        shares = self.shares(derivative)
        return [
            (parent, share)
            for parent, needed, share in zip(inputs, needs, shares, strict=True)
            if needed and share is not None
        ]

    def freed(self) -> GraphFreedError:
        """Return the error for a history that has been freed."""
        return GraphFreedError(
            f"the graph behind {self.name!r} has been freed by an earlier backward(). "
            "Pass retain_graph=True to the earlier call to differentiate it again."
        )

    def free(self) -> None:
        """Forget function, saved values and inputs; `chain_rule` raises from now on."""
        self.last_fn = None
        self.ctx = _NOTHING_SAVED
        self.inputs = ()


_NOTHING_SAVED = Context()
