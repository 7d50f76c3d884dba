"""`Scalar`: a float that records how it was computed.

Every row of the operator table is lifted here: its value runs on the floats inside, and its
partial derivatives, run on the same floats, are its backward. Under `create_graph` the partial
derivatives run on Scalars instead, and so record themselves: that is all that higher derivatives
take.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self, SupportsFloat

from mt_autodiff.backpropagation import backpropagate, derivatives
from mt_autodiff.errors import NoGradientError
from mt_autodiff.graph import Context, Differentiable, History
from mt_autodiff.mode import is_grad_enabled, set_grad_enabled
from mt_operators import OPERATORS, Operator, lift
from mt_operators.errors import no_attribute

_ids = itertools.count(1)


class Scalar:
    """A float that takes part in automatic differentiation.

        >>> x = Scalar(2.0)
        >>> y = x * x + x
        >>> y.backward()
        >>> x.derivative
        5.0

    Every operator of the table is a method (`x.tanh()`), and Python's arithmetic and comparison
    operators work with plain numbers on either side. A comparison yields a Scalar 1.0 or 0.0.

    Args:
        data: the value.
        name: what to call it in messages and pictures.
        requires_grad: whether its derivative is wanted. True for a Scalar made by hand; a plain
            number in an expression becomes a constant.

    Attributes:
        data: the value.
        derivative: the derivative that `backward` has accumulated; None before.
        history: how it was computed; None for a leaf.
    """

    __slots__ = ("data", "derivative", "history", "name", "requires_grad", "unique_id")

    def __init__(
        self, data: SupportsFloat, name: str | None = None, requires_grad: bool = True
    ) -> None:
        self.data = float(data)
        self.unique_id = next(_ids)
        self.name = name
        self.requires_grad = requires_grad
        self.derivative: Any = None
        self.history: History | None = None

    # --- What backpropagation asks (the Variable protocol) --------------------------------------

    @property
    def parents(self) -> Iterable[Scalar]:
        """The Scalars that this one was computed from."""
        return self.history.inputs if self.history else ()

    def is_leaf(self) -> bool:
        """Whether nothing recorded produced this Scalar."""
        return self.history is None

    def is_constant(self) -> bool:
        """Whether no derivative is wanted with respect to this Scalar."""
        return not self.requires_grad

    def chain_rule(self, derivative: Any) -> Iterable[tuple[Scalar, Any]]:
        """Yield each parent with its share of the derivative."""
        return self.history.chain_rule(derivative) if self.history else ()

    def accumulate_derivative(self, derivative: Any) -> None:
        """Add to `derivative`, of a leaf."""
        if self.is_leaf():
            self.derivative = (
                derivative if self.derivative is None else self.derivative + derivative
            )

    def free_graph(self) -> None:
        """Forget what was saved for the chain rule."""
        if self.history:
            self.history.free()

    # --- Differentiation ------------------------------------------------------------------------

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether a derivative is wanted, and return self."""
        self.requires_grad = requires_grad
        return self

    def backward(
        self,
        d_output: float | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Add the derivative of this Scalar to every leaf that it was computed from.

        Several calls accumulate: set `x.derivative = None` to begin anew.

        Args:
            d_output: what to multiply all derivatives with; 1 if not given.
            retain_graph: whether the graph can be differentiated again.
            create_graph: whether the derivatives become Scalars that can be differentiated.

        Raises:
            NoGradientError: nothing was recorded for this Scalar.
            GraphFreedError: an earlier call freed the graph.
        """
        self._check_recorded()
        start: Any = 1.0 if d_output is None else d_output
        backpropagate(
            self, _constant(start) if create_graph else float(start), retain_graph, create_graph
        )

    def grad(self, *inputs: Scalar, create_graph: bool = False) -> tuple[Scalar, ...]:
        """Return the derivatives with respect to `inputs` and accumulate nothing.

        The graph stays, and with `create_graph` the results can be differentiated again:

            >>> x = Scalar(2.0)
            >>> (first,) = (x * x * x).grad(x, create_graph=True)
            >>> (second,) = first.grad(x)
            >>> first.data, second.data
            (12.0, 12.0)

        Raises:
            NoGradientError: nothing was recorded for this Scalar.
        """
        self._check_recorded()
        start: Any = _constant(1.0) if create_graph else 1.0
        with set_grad_enabled(create_graph):
            found = {v.unique_id: d for v, d in derivatives(self, start, retain_graph=True)}
        return tuple(as_scalar(found.get(variable.unique_id, 0.0)) for variable in inputs)

    def _check_recorded(self) -> None:
        if not self.requires_grad:
            raise NoGradientError(
                f"{self!r} has no derivative: it was computed from constants only, or inside "
                "no_grad(). Make its inputs with Scalar(value), or call requires_grad_() on them."
            )

    # --- Python's operators ---------------------------------------------------------------------

    def __add__(self, other: Any) -> Scalar:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Scalar:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Scalar:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Scalar:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Scalar:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Scalar:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Scalar:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Scalar:
        return _binary("div", other, self)

    def __pow__(self, other: Any) -> Scalar:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Scalar:
        return _binary("pow", other, self)

    def __neg__(self) -> Scalar:
        return _LIFTED["neg"](self)

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        return _LIFTED["abs"](self)

    def __lt__(self, other: Any) -> Scalar:
        return _binary("lt", self, other)

    def __le__(self, other: Any) -> Scalar:
        return _binary("le", self, other)

    def __gt__(self, other: Any) -> Scalar:
        return _binary("gt", self, other)

    def __ge__(self, other: Any) -> Scalar:
        return _binary("ge", self, other)

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        return _binary("eq", self, other)

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return _binary("ne", self, other)

    __hash__ = object.__hash__

    def where(self, condition: SupportsFloat, other: SupportsFloat) -> Scalar:
        """Return this Scalar where the condition holds, and `other` elsewhere."""
        return _LIFTED["where"](condition, self, other)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        return self.data

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        made_by = f", made by {self.history.name}" if self.history else ""
        return f"Scalar({self.data!r}{name}{made_by})"

    if TYPE_CHECKING:  # the table's methods are installed below, for each row of the table

        def __getattr__(self, name: str) -> Callable[..., Scalar]: ...

    else:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name)


def _constant(value: SupportsFloat) -> Scalar:
    return Scalar(value, requires_grad=False)


def as_scalar(value: SupportsFloat) -> Scalar:
    """Return `value` itself if it is a Scalar, else a constant Scalar of it."""
    return value if isinstance(value, Scalar) else _constant(value)


def _binary(name: str, left: Any, right: Any) -> Scalar:
    """Apply an operator, or leave it to the other operand's type if that is no number."""
    other = right if isinstance(left, Scalar) else left
    if not isinstance(other, Scalar | int | float) and not hasattr(other, "__float__"):
        return NotImplemented  # type: ignore[no-any-return]
    return _LIFTED[name](left, right)


def _recorded(
    function: Differentiable, ctx: Context, inputs: tuple[Scalar, ...], value: float, name: str
) -> Scalar:
    """Return the Scalar `value`, with its history if any input wants a derivative."""
    result = _constant(value)
    if any(ctx.needs_input_grad):
        result.requires_grad = True
        result.history = History(function, ctx, inputs, name)
    return result


def _context(inputs: Iterable[Scalar]) -> Context:
    enabled = is_grad_enabled()
    return Context(tuple(enabled and scalar.requires_grad for scalar in inputs))


class ScalarFunction:
    """A function of Scalars with its own backward; subclass it to add one by hand.

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
        """Compute the value from floats, and save on `ctx` what backward needs."""
        raise TypeError("a ScalarFunction must define a static method forward(ctx, *inputs).")

    @staticmethod
    def backward(ctx: Context, derivative: Any) -> Any:
        """Return the derivative for each input, a tuple if there are several."""
        raise TypeError("a ScalarFunction must define a static method backward(ctx, derivative).")

    @classmethod
    def apply(cls, *values: SupportsFloat) -> Scalar:
        """Run forward on the values, and record it."""
        inputs = tuple(as_scalar(value) for value in values)
        ctx = _context(inputs)
        value = cls.forward(ctx, *(scalar.data for scalar in inputs))
        return _recorded(cls, ctx, inputs, value, cls.__name__)


class LiftedOperator:
    """A row of the operator table, lifted to Scalars."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._recording_partials: list[Callable[..., Any]] | None = None

    def __call__(self, *values: SupportsFloat) -> Scalar:
        """Apply the operator and record it."""
        if len(values) != self.operator.arity:
            raise TypeError(
                f"{self.operator.name} takes {self.operator.arity} argument(s); "
                f"{len(values)} were given."
            )
        inputs = tuple(as_scalar(value) for value in values)
        out = float(self.operator.function(*(scalar.data for scalar in inputs)))
        ctx = _context(inputs)
        ctx.save_for_backward(inputs, out)
        return _recorded(self, ctx, inputs, out, self.operator.name)

    def backward(self, ctx: Context, derivative: Any, /) -> tuple[Any, ...]:
        """Return the derivative for each input: floats, or Scalars if given a Scalar."""
        inputs, out = ctx.saved_values
        if isinstance(derivative, Scalar):
            known = (*inputs, self(*inputs))  # recorded, so that it can be differentiated again
            partials = self._partials_on_scalars()
        else:
            known = (*(scalar.data for scalar in inputs), out)
            partials = self.operator.partials
        return tuple(
            derivative * partial(*known) if needed else None
            for partial, needed in zip(partials, ctx.needs_input_grad, strict=True)
        )

    def _partials_on_scalars(self) -> Iterable[Callable[..., Any]]:
        if self._recording_partials is None:
            self._recording_partials = [lift(p, _LIFTED) for p in self.operator.partials]
        return self._recording_partials


_LIFTED: dict[str, LiftedOperator] = {}
"""How Scalars spell the elementary functions: each is an operator of the table."""


def _install(operator: Operator) -> None:
    """Lift one row of the table and make it a method of Scalar."""
    lifted = _LIFTED[operator.name] = LiftedOperator(operator)
    if operator.name in Scalar.__dict__:
        return

    def method(self: Scalar, *others: SupportsFloat) -> Scalar:
        return lifted(self, *others)

    method.__name__ = operator.name
    method.__qualname__ = f"Scalar.{operator.name}"
    method.__doc__ = f"{operator.note}."
    setattr(Scalar, operator.name, method)


OPERATORS.for_each(_install, taken=lambda name: hasattr(Scalar, name))
