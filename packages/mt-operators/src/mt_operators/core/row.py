"""A row of the operator table: a function of numbers with its partial derivatives.

    >>> from mt_operators.core.elementary import tanh
    >>> row = Operator("tanh", tanh, (lambda x, out: 1.0 - out * out,))
    >>> out = row.function(0.5)
    >>> round(out, 6), round(row.partials[0](0.5, out), 6)
    (0.462117, 0.786448)

The gradient of an argument is the *upstream gradient*, that of the final result with respect to the
value, times the partial derivative: the chain rule.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from mt_operators.core.elementary import where
from mt_operators.core.errors import OperatorExistsError, UnknownOperatorError, nearest

Function = Callable[..., Any]
"""A function of numbers, written with arithmetic, comparisons, `&`, `|`, elementary functions, and
without `if`, `and`, `or`, so that it also runs on symbols and on whole arrays."""

Result = Literal["number", "real", "bool", "integer"]
"""What an operator returns: `number` keeps integers integers, `real` makes them floats, and
`integer` takes and returns integers only."""

Interval = tuple[float, float]
EVERYWHERE: Interval = (-math.inf, math.inf)


def zero(*_: Any) -> float:
    """Partial derivative with respect to an argument that the value does not vary with."""
    return 0.0


def one(*_: Any) -> float:
    """Partial derivative with respect to an argument that is added as it is."""
    return 1.0


def parameters_of(function: Function) -> tuple[str, ...]:
    """Return the names of a function's arguments."""
    return tuple(inspect.signature(function).parameters)


class Formula:
    """A named function of numbers, which a backend runs over whole arrays.

    Attributes:
        name: for messages and the names of kernels.
        arity: the number of arguments.
        outputs: the number of results: one is returned bare, several as a tuple.
        function: the function.
        cache: what later stages derive from the formula, such as its graph, by name.
    """

    def __init__(
        self, name: str, arity: int, outputs: int, function: Function, names: Sequence[str] = ()
    ) -> None:
        self.name, self.arity, self.outputs, self.function = name, arity, outputs, function
        self.cache: dict[str, Any] = {}
        self._names = tuple(names)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments: those given, or those of the function."""
        names = self._names or parameters_of(self.function)
        return names if len(names) == self.arity else tuple(f"x{i}" for i in range(self.arity))

    def __repr__(self) -> str:
        return f"Formula({self.name!r}, arity={self.arity}, outputs={self.outputs})"


class Operator:
    """One row of the operator table.

    Attributes:
        name: the standard name, torch's where torch has the operator.
        function: the value.
        partials: for each argument the partial derivative, from the arguments and the value.
        domain: for each argument the interval outside of which the value is nan.
        result: see `Result`.
        selects: whether the partial derivatives only say which argument the value comes from, as
            those of `maximum` do. The gradient of the others is 0, also where 0 times the upstream
            gradient is nan.
        identity: the value that leaves the other argument unchanged: the sum of no numbers is 0.
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
        """Return the vector-Jacobian product, for numbers the upstream gradient times a slope."""
        return where(slope == 0.0, 0.0, upstream * slope) if self.selects else upstream * slope

    @cached_property
    def value(self) -> Formula:
        """The value as a formula."""
        return Formula(self.name, self.arity, 1, self.function)

    def gradient(self, needed: tuple[bool, ...]) -> Formula:
        """Return a formula of the gradients that are needed, computed in one pass over memory.

        It takes the upstream gradient, the arguments and the value.
        """
        if needed not in self._gradients:
            partials = [p for p, need in zip(self.partials, needed, strict=True) if need]
            vjp = self.vjp

            def gradients(upstream: Any, *known: Any) -> Any:
                parts = [0.0 if p is zero else vjp(upstream, p(*known)) for p in partials]
                return parts[0] if len(parts) == 1 else tuple(parts)

            which = "".join(str(i) for i, need in enumerate(needed) if need)
            names = (_unlike("upstream", self.parameters), *self.parameters)
            self._gradients[needed] = Formula(
                f"{self.name}_gradient_{which}",
                self.arity + 2,
                len(partials),
                gradients,
                (*names, _unlike("output", names)),
            )
        return self._gradients[needed]


def _unlike(name: str, taken: Sequence[str]) -> str:
    """Return a name that is not taken: the gradient of a gradient has two upstream gradients."""
    while name in taken:
        name += "_"
    return name


CHECKS: list[Callable[[Operator], None]] = []
"""Called with each row that users add, to raise if it cannot work."""


class OperatorTable(Mapping[str, Operator]):
    """Operators by name, to which rows can be added."""

    def __init__(self) -> None:
        self._rows: dict[str, Operator] = {}
        self._listeners: list[Callable[[Operator], None]] = []
        self._reserved: list[Callable[[str], bool]] = []

    def __getitem__(self, name: str) -> Operator:
        """Return the operator called `name`."""
        try:
            return self._rows[name]
        except KeyError:
            raise UnknownOperatorError(
                f"no operator is called {name!r}.{nearest(name, self._rows)}"
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the operator called `name`, or a default without looking for similar names."""
        return self._rows.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def aliases(self) -> dict[str, str]:
        """The other names of operators, each with the name in the table."""
        return {alias: row.name for row in self._rows.values() for alias in row.aliases}

    def add(
        self, name: str, function: Function, *partials: Function, check: bool = True, **facts: Any
    ) -> Operator:
        """Add a row and return it.

        Args:
            name: see `Operator`.
            function: the value.
            *partials: the partial derivatives.
            check: whether to validate the row; the built-in rows are validated by their tests.
            **facts: the other arguments of `Operator`.
        """
        row = Operator(name, function, partials, **facts)
        for validate in CHECKS if check else ():
            validate(row)
        for each in (name, *row.aliases):
            if each in self._rows or any(taken(each) for taken in self._reserved):
                raise OperatorExistsError(
                    f"an operator or a method called {each!r} exists already: choose another name."
                )
        self._rows[name] = row
        for listener in self._listeners:
            listener(row)
        return row

    def for_each(
        self,
        install: Callable[[Operator], None],
        taken: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """Call `install` with every operator of the table, now and whenever one is added.

        So a type gets a method for every row. No row may be added whose name is `taken` there.
        """
        for row in self._rows.values():
            install(row)
        self._listeners.append(install)
        self._reserved.append(taken)
