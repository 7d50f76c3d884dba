"""The container of the operators: a mapping by name that is open to new rows.

The last file before the mathematics. The rows themselves are in `mt_operators.core.table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mt_operators.core.errors import (
    OperatorError,
    OperatorExistsError,
    UnknownOperatorError,
    nearest,
)
from mt_operators.core.formula import Operator, Source

CHECKS: list[Callable[[Operator], None]] = []
"""What each row that users add must pass; `mt_operators.validation` registers here."""


class OperatorTable(Mapping[str, Operator]):
    """Operators by name, open to new rows."""

    def __init__(self) -> None:
        self._rows: dict[str, Operator] = {}
        self._listeners: list[Callable[[Operator], None]] = []
        self._reserved: list[Callable[[str], bool]] = []

    def __getitem__(self, name: str) -> Operator:
        """Return the operator called `name`.

        Raises:
            UnknownOperatorError: there is none; the message names the nearest.
        """
        try:
            return self._rows[name]
        except KeyError:
            raise UnknownOperatorError(
                f"no operator is called {name!r}.{nearest(name, self._rows)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        """Whether an operator is called `name`."""
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in the order of the table."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of operators."""
        return len(self._rows)

    @property
    def aliases(self) -> dict[str, str]:
        """The other names of operators, and whose they are."""
        return {alias: row.name for row in self._rows.values() for alias in row.aliases}

    def add(
        self, name: str, function: Source, *partials: Source, trial: bool = True, **facts: Any
    ) -> Operator:
        """Add a row and return it.

        Args:
            name: see `Operator`.
            function: the value.
            *partials: the partial derivatives.
            trial: whether to trace the row at once, so that a mistake shows here and not in a
                backend. The built-in rows do without, for an import should be quick; their tests
                do it.
            **facts: the other arguments of `Operator`: `domain`, `result`, `note` and so on.

        Raises:
            OperatorExistsError: the name is taken, by an operator or by a method of a type that
                has a method for every operator.
            OperatorError: name, function, partial derivatives and domain do not fit; says of which,
                and what it must take.
            TracingError: they leave no graph, for example because they branch on a value.
        """
        row = Operator(name, function, partials, **facts)
        for each in (name, *row.aliases):
            if each in self._rows or any(taken(each) for taken in self._reserved):
                raise OperatorExistsError(
                    f"an operator or a method called {each!r} exists already: choose another name."
                )
        if name.startswith("_"):
            raise OperatorError(
                f"operator {name!r}: it becomes a method of this name, and such are not public; "
                "give a name without _ before it."
            )
        for check in CHECKS if trial else ():
            check(row)
        self._rows[name] = row
        for listener in self._listeners:
            listener(row)
        return row

    def for_each(
        self,
        install: Callable[[Operator], None],
        taken: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """Call `install` with every operator: those in the table now, and each one added later.

        This is how a later stage gives its own type a method for every row.

        Args:
            install: called with the operator.
            taken: whether a name cannot be given to an operator added later.
        """
        for row in self._rows.values():
            install(row)
        self._listeners.append(install)
        self._reserved.append(taken)
