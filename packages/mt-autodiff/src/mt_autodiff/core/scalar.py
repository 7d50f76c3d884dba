"""`Scalar`: a float that records how it was computed, the first `Variable`.

Python operators and elementary functions look up the operator in `SCALAR_OPERATORS`, which the
next file fills from the operator table.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, Self, SupportsFloat

from mt_autodiff.core.backpropagation import backpropagate
from mt_autodiff.core.errors import AutodiffError, NoGradientError
from mt_autodiff.core.graph import History
from mt_operators.core.infix import Infix

if TYPE_CHECKING:
    from mt_autodiff.methods import Methods
else:  # that file registers its methods when it is imported
    Methods = object

_ids = itertools.count(1)

_adding = threading.RLock()
"""Lock for adding to the derivative of a leaf, which threads may share."""


class Scalar(Infix, Methods):
    """A float with automatic differentiation.

    Every operator of the table is a method (`x.tanh()`), and Python operators accept numbers on
    either side, as constants. Comparisons return a constant Scalar, 1.0 or 0.0. Conversions such
    as `float`, `int` and `round` return Python numbers and record nothing. A copy, by `copy` or
    `pickle`, is a new leaf.

    Args:
        data: the value, a number.
        name: a name for messages and diagrams.
        requires_grad: whether its derivative is needed; if not, the Scalar is a constant.

    Attributes:
        data: the value; assignments are not recorded.
        derivative: the derivative that `backward` has accumulated, or None.
        history: the recorded computation; None for a leaf.

    Raises:
        TypeError: `data` is not a number, or `name` is not a string.
    """

    __slots__ = ("_data", "derivative", "history", "name", "requires_grad", "unique_id")

    def __init__(
        self, data: SupportsFloat, name: str | None = None, requires_grad: bool = True
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a Scalar must be a string; {name!r} was given.")
        self._data = data if type(data) is float else _as_float(data)
        self.unique_id = next(_ids)
        self.name = name
        self.requires_grad = requires_grad
        self.derivative: Any = None
        self.history: History | None = None

    @property
    def data(self) -> float:
        """The value."""
        return self._data

    @data.setter
    def data(self, value: SupportsFloat) -> None:
        self._data = _as_float(value)

    # --- The Variable protocol ------------------------------------------------------------------

    @property
    def parents(self) -> Iterable[Scalar]:
        """The Scalars that this one was computed from; none for a constant."""
        return self.history.inputs if self.history and self.requires_grad else ()

    def is_leaf(self) -> bool:
        """Return whether this Scalar is not the result of a recorded computation."""
        return self.history is None

    def is_constant(self) -> bool:
        """Return whether no derivative with respect to this Scalar is needed."""
        return not self.requires_grad

    def completed(self, derivative: Any) -> Any:
        """Return the derivative unchanged."""
        return derivative

    def chain_rule(
        self, derivative: Any, needed: Container[Any] | None = None, retain_graph: bool = True
    ) -> Iterable[tuple[Scalar, Any]]:
        """Return pairs of a parent and its partial derivative from this use."""
        return self.history.chain_rule(derivative, needed, retain_graph) if self.history else ()

    def accumulate_derivative(self, derivative: Any) -> Any:
        """Add a derivative to `self.derivative` if this is a leaf, and return the derivative."""
        derivative = self.completed(derivative)
        if self.history is None:
            with _adding:
                known = self.derivative
                self.derivative = derivative if known is None else known + derivative
        return derivative

    def is_freed(self) -> bool:
        """Return whether the history of this Scalar has been freed."""
        return self.history is not None and self.history.is_freed()

    # --- Differentiation ------------------------------------------------------------------------

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether a derivative is needed, and return self.

        Raises:
            AutodiffError: the Scalar was computed from others, and `requires_grad` is False.
        """
        if self.history and not requires_grad:
            raise AutodiffError(
                f"{self!r} was computed from others, so requires_grad cannot be switched off. "
                "Use x.detach(), which is a constant."
            )
        self.requires_grad = requires_grad
        return self

    def copy_(self, other: SupportsFloat) -> Self:
        """Copy the value of `other` without recording, and return self."""
        self.data = other
        return self

    def detach(self) -> Scalar:
        """Return a constant Scalar of the same value."""
        return constant(self.data)

    def clone(self) -> Scalar:
        """Return a Scalar of the same value; the derivative flows through it."""
        return SCALAR_OPERATORS["id"](self)

    def backward(
        self,
        d_output: float | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Add the derivative of this Scalar to every leaf that it was computed from.

        Several calls accumulate: set `x.derivative = None` to reset.

        Args:
            d_output: the initial derivative; 1 if None.
            retain_graph: whether to keep the graph for another call; `create_graph` if None.
            create_graph: whether to record the derivatives, for higher derivatives.

        Raises:
            NoGradientError: this Scalar is a constant.
            CyclicGraphError: a variable was computed from itself.
            GraphFreedError: the graph was freed by an earlier call.
            GradientError: a function's backward returned invalid gradients, or, with
                `create_graph`, an input has changed.
            TypeError: `d_output` is not a number.
        """
        self.check_recorded()
        start: Any = 1.0 if d_output is None else d_output
        start = as_scalar(start) if create_graph else _as_float(start)
        backpropagate(self, start, retain_graph, create_graph)

    def check_recorded(self) -> None:
        """Raise `NoGradientError` if this Scalar is a constant."""
        if not self.requires_grad:
            raise NoGradientError(
                f"{self!r} has no derivative: it was computed from constants only, or inside "
                "no_grad(). Create its inputs with Scalar(value), or call requires_grad_() on them."
            )

    # --- Python operators -----------------------------------------------------------------------

    def __operator__(self, name: str, operands: tuple[Any, ...]) -> Scalar:
        """Apply and record an operator; return NotImplemented if an operand is not a number."""
        for operand in operands:
            if not isinstance(operand, _NUMBERS) and not hasattr(operand, "__float__"):
                return NotImplemented  # type: ignore[no-any-return]
        return SCALAR_OPERATORS[name](*operands)

    def where(self, condition: SupportsFloat, other: SupportsFloat) -> Scalar:
        """Return this Scalar if the condition holds, else `other`."""
        return SCALAR_OPERATORS["where"](condition, self, other)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        return self.data

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        made_by = f", made by {self.history.name}" if self.history else ""
        return f"Scalar({self.data!r}{name}{made_by})"

    if TYPE_CHECKING:  # the next file registers a method for each row of the table

        def __getattr__(self, name: str) -> Callable[..., Scalar]: ...


def _as_float(value: Any) -> float:
    """Convert a number to float; reject strings."""
    if isinstance(value, str | bytes | bytearray) or not hasattr(value, "__float__"):
        raise TypeError(
            f"a Scalar holds a number; {value!r} of type {type(value).__name__} was given."
        )
    return float(value)


def constant(value: SupportsFloat) -> Scalar:
    """Return a constant Scalar."""
    return Scalar(value, requires_grad=False)


def as_scalar(value: SupportsFloat) -> Scalar:
    """Convert a number to a constant Scalar; return a Scalar unchanged."""
    return value if isinstance(value, Scalar) else constant(value)


SCALAR_OPERATORS: dict[str, Callable[..., Scalar]] = {}
"""Every operator of the table on Scalars, by name."""

_NUMBERS = (Scalar, int, float)
