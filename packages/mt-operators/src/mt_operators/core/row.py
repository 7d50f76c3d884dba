"""A row of the operator table: a function of numbers with its partial derivatives.

A partial derivative takes the arguments and the value, `out`. Two examples:

    >>> mul = Operator("mul", lambda x, y: x * y, (lambda x, y, out: y, lambda x, y, out: x))
    >>> mul.function(2.0, 3.0), mul.partials[0](2.0, 3.0, 6.0), mul.partials[1](2.0, 3.0, 6.0)
    (6.0, 3.0, 2.0)
    >>> from mt_operators.core.elementary import tanh
    >>> row = Operator("tanh", tanh, (lambda x, out: 1.0 - out * out,))
    >>> out = row.function(0.5)
    >>> round(out, 6), round(row.partials[0](0.5, out), 6)
    (0.462117, 0.786448)

The gradient with respect to an argument is the *upstream gradient*, which is the gradient of the
final result with respect to the value, times the partial derivative: the chain rule.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

from mt_operators.core.elementary import where

Function = Callable[..., Any]
"""A function of numbers that uses only arithmetic, comparisons, `&`, `|` and elementary functions,
and not `if`, `and` or `or`, so that it also runs on symbols and arrays."""

Result = Literal["number", "real", "bool", "integer"]
"""The kind of an operator's result; see `Operator`."""

Interval = tuple[float, float]
EVERYWHERE: Interval = (-math.inf, math.inf)


def zero(*_: Any) -> float:
    """Return 0: the derivative with respect to an argument that does not affect the value."""
    return 0.0


def one(*_: Any) -> float:
    """Return 1: the derivative with respect to a summand."""
    return 1.0


def parameters_of(function: Function) -> tuple[str, ...]:
    """Return the names of a function's arguments."""
    return tuple(inspect.signature(function).parameters)


class Operator:
    """One row of the operator table.

    Attributes:
        name: the standard name, torch's if torch has the operator.
        function: computes the value.
        partials: for each argument the partial derivative, from the arguments and the value.
        domain: for each argument the interval outside of which the value is nan.
        result: `"number"` keeps integers, `"real"` converts them to floats, `"bool"` is True or
            False, and `"integer"` accepts and returns integers only.
        selects: whether the value is a selected argument, as for `maximum`. Partial derivatives of
            0 then give gradients of 0, even if the upstream gradient is infinite or nan.
        identity: the identity element, such as 0 for `add`, or None.
        aliases: other names.
        note: one line of documentation.
    """

    def __init__(
        self,
        name: str,
        function: Function,
        partials: tuple[Function, ...],
        domain: tuple[Interval, ...] = (),
        result: Result = "number",
        selects: bool = False,
        identity: float | None = None,
        aliases: tuple[str, ...] = (),
        note: str = "",
    ) -> None:
        self.name, self.function, self.partials = name, function, partials
        self.domain = domain or (EVERYWHERE,) * len(partials)
        self.result, self.selects, self.identity = result, selects, identity
        self.aliases, self.note = aliases, note
        self._gradients: dict[tuple[bool, ...], Formula] = {}

    def __repr__(self) -> str:
        return f"Operator({self.name!r}, {self.note!r})"

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.partials)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return parameters_of(self.function)

    def vjp(self, upstream: Any, slope: Any) -> Any:
        """Return the vector-Jacobian product: for numbers, the upstream gradient times a slope."""
        return where(slope == 0.0, 0.0, upstream * slope) if self.selects else upstream * slope

    @cached_property
    def value(self) -> Formula:
        """The value as a formula."""
        return Formula(self.name, self.arity, 1, self.function)

    def gradient(self, needed: tuple[bool, ...]) -> Formula:
        """Return a formula that computes the needed gradients in one pass over memory.

        The arguments of the formula are the upstream gradient, the arguments of the operator, and
        the value.

        Args:
            needed: for each argument of the operator, whether its gradient is needed.
        """
        if needed not in self._gradients:
            partials = [p for p, need in zip(self.partials, needed, strict=True) if need]
            vjp = self.vjp

            def gradients(upstream: Any, *known: Any) -> Any:
                parts = [0.0 if p is zero else vjp(upstream, p(*known)) for p in partials]
                return parts[0] if len(parts) == 1 else tuple(parts)

            which = "".join(str(i) for i, need in enumerate(needed) if need)
            names = (_unique_name("upstream", self.parameters), *self.parameters)
            self._gradients[needed] = Formula(
                f"{self.name}_gradient_{which}",
                self.arity + 2,
                len(partials),
                gradients,
                (*names, _unique_name("output", names)),
            )
        return self._gradients[needed]


class Formula:
    """A named function of numbers for compilers, such as a value or a gradient.

    Attributes:
        name: a name for messages and kernels.
        arity: the number of arguments.
        outputs: the number of results; several are returned as a tuple.
        function: the function.
        cache: values that later stages derive from the formula, such as its graph, by name.
    """

    def __init__(
        self, name: str, arity: int, outputs: int, function: Function, names: Sequence[str] = ()
    ) -> None:
        self.name, self.arity, self.outputs, self.function = name, arity, outputs, function
        self.cache: dict[str, Any] = {}
        self._names = tuple(names)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments: as given, else those of the function, else x0, x1, ..."""
        names = self._names or parameters_of(self.function)
        return names if len(names) == self.arity else tuple(f"x{i}" for i in range(self.arity))

    def __repr__(self) -> str:
        return f"Formula({self.name!r}, arity={self.arity}, outputs={self.outputs})"


def _unique_name(name: str, names: Sequence[str]) -> str:
    """Make a name unique: the gradient of a gradient has two upstream gradients."""
    while name in names:
        name += "_"
    return name
