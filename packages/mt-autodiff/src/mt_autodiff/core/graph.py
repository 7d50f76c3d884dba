"""The computation graph: variables and their histories.

A variable that was computed from others has a `History`: the function, the values that it saved
for its backward (its `Context`), and its inputs. A variable without a history is a *leaf*. A
*constant* is a variable whose derivative is not needed. Backpropagation follows histories
backwards, for Scalars here and for tensors in stage 2. By default it frees them on the way.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, Protocol

from mt_autodiff.core.errors import GradientError, GraphFreedError


class Variable(Protocol):
    """The interface that backpropagation requires. Variables are hashed by identity."""

    def __hash__(self) -> int:
        """Return a hash of the object's identity."""

    @property
    def parents(self) -> Iterable[Variable]:
        """The variables that this one was computed from."""

    def is_constant(self) -> bool:
        """Return whether no derivative is needed; called for variables without parents."""

    def completed(self, derivative: Any) -> Any:
        """Return the complete derivative, the sum over all uses, after hooks.

        A Scalar returns it unchanged; hooks may replace the gradient of a tensor.
        """

    def accumulate_derivative(self, derivative: Any) -> Any:
        """Return `completed(derivative)`; a leaf also adds it to its stored derivative."""

    def chain_rule(
        self, derivative: Any, needed: Container[Any] | None = None, retain_graph: bool = True
    ) -> Iterable[tuple[Variable, Any]]:
        """Return pairs of a parent and its partial derivative from this use; none for a leaf.

        Args:
            derivative: the derivative of the final result with respect to this variable.
            needed: the variables whose derivatives are needed; None for all parents.
            retain_graph: whether to keep the saved values for another call.
        """

    def is_freed(self) -> bool:
        """Return whether the history of the variable has been freed."""


class Context:
    """Values that a function's forward saves for its backward.

    Attributes:
        needs_input_grad: for each input of the function, whether its gradient is needed.
        saved_values: the arguments of `save_for_backward`. Other attributes may be set, too.
    """

    __slots__ = ("__dict__", "needs_input_grad", "saved_values")

    def __init__(self, needs_input_grad: tuple[bool, ...] = ()) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_values: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Save values until the graph is freed."""
        self.saved_values = values


class Differentiable(Protocol):
    """A function with a `backward` method."""

    def backward(self, ctx: Any, derivative: Any, /) -> Any:
        """Return the derivative with respect to each input, a tuple if there are several."""


class History:
    """The history of a variable that was computed from others.

    Attributes:
        last_fn: the function; None once the graph has been freed.
        ctx: the values that the function saved.
        inputs: the variables that it was applied to.
        name: the function's name, for messages and diagrams.
    """

    __slots__ = ("ctx", "inputs", "last_fn", "name")

    def __init__(
        self, last_fn: Differentiable | None, ctx: Context, inputs: Sequence[Any], name: str
    ) -> None:
        self.last_fn, self.ctx, self.inputs, self.name = last_fn, ctx, inputs, name

    def vjp(self, derivative: Any) -> tuple[Any, ...]:
        """Run the function's backward; return the VJP for each input, None where none is needed.

        Raises:
            GraphFreedError: the graph was freed by an earlier backward.
            GradientError: the number of derivatives is not that of the inputs.
        """
        ctx = self.ctx
        function = self.last_fn  # read last: a thread that frees the graph sets it to None first
        if function is None:
            raise self.freed()
        results: Any = function.backward(ctx, derivative)
        if not isinstance(results, tuple):
            results = (results,)
        return tuple(self.check_count(results, ctx.needs_input_grad))

    def check_count(self, results: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the results of a backward, checking that there is one for each input."""
        if len(results) != len(inputs):
            raise GradientError(
                f"the backward of {self.name!r} returned {len(results)} derivative(s) for "
                f"{len(inputs)} input(s); return one for each, None if it is not needed."
            )
        return results

    def chain_rule(
        self, derivative: Any, needed: Container[Any] | None = None, retain_graph: bool = True
    ) -> list[tuple[Any, Any]]:
        """Return pairs of an input that requires a derivative and its derivative; see `vjp`."""
        inputs, requires = self.inputs, self.ctx.needs_input_grad
        parts = self.vjp(derivative)
        if not retain_graph:  # `last_fn` first: see `vjp`
            self.last_fn = None
            self.ctx, self.inputs = _NOTHING_SAVED, ()
        return [
            (parent, part)
            for parent, required, part in zip(inputs, requires, parts, strict=True)
            if required and part is not None and (needed is None or parent in needed)
        ]

    def freed(self) -> GraphFreedError:
        """Return the error for a history that has been freed."""
        return GraphFreedError(
            f"the graph of {self.name!r} has been freed by an earlier backward(). Pass "
            "retain_graph=True to the earlier call to differentiate the graph again."
        )

    def is_freed(self) -> bool:
        """Return whether the saved values have been freed, so that `chain_rule` raises."""
        return self.last_fn is None


_NOTHING_SAVED = Context()
