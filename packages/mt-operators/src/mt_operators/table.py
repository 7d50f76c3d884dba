"""The operator table: the one place where the mathematics is written.

Each row gives an operator's name, its value and the partial derivative for each argument, in terms
of the arguments and the output. Every stage and backend lifts these rows, so a row added here (and
a row of samples in `mt_operators.testing`) is a new operator everywhere, with its gradient.

How to write a row: arithmetic, comparisons and the functions of `mt_operators.elementary`; no `if`,
`and`, `or` on values (choose with `where`), so that the source runs on whole arrays too. A partial
derivative may use any elementary function. It is evaluated with the stage's own spelling: that is
how `cos` in the derivative of `sin` finds the right cosine, and how derivatives can be
differentiated again. The function of another row (`sigmoid` below) is taken for that operator,
with its own derivative, wherever computations are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mt_operators.elementary import (
    ELEMENTARY,
    cos,
    div,
    exp,
    floor,
    log,
    maximum,
    minimum,
    pow,
    sin,
    sqrt,
    tanh,
    where,
)
from mt_operators.errors import OperatorExistsError, UnknownOperatorError, nearest
from mt_operators.formula import Operator, one, zero
from mt_operators.lifting import NAMED, Spelling, lift


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

    def add(self, name: str, function: Callable[..., Any], *partials: Any, **rest: Any) -> Operator:
        """Add a row and return it; the arguments are those of `Operator`.

        Raises:
            OperatorExistsError: the name is taken, by an operator or by a method of a type that
                has a method for every operator.
            OperatorError: function and partial derivatives do not fit.
            LiftingError: they use something that cannot be lifted.
        """
        if name in self._rows or any(taken(name) for taken in self._reserved):
            raise OperatorExistsError(
                f"an operator or a method called {name!r} exists already: choose another name."
            )
        row = Operator(name, function, partials, **rest)
        for source in (function, *partials):
            lift(source, ELEMENTARY)  # a trial, so that a mistake shows here and not in a backend
        self._rows[name] = row
        NAMED.setdefault(function, name)
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

    def lifted(self, spelling: Spelling) -> dict[str, Callable[..., Any]]:
        """Return the value function of every operator, lifted to `spelling`."""
        return {name: lift(row.function, spelling) for name, row in self._rows.items()}


OPERATORS = OperatorTable()
"""The table of all operators."""

define = OPERATORS.add


# --- Arithmetic ---------------------------------------------------------------------------------

define("id", lambda x: x, one, note="the argument itself")
define("neg", lambda x: -x, lambda x, out: -1.0, note="-x")
define("add", lambda x, y: x + y, one, one, identity=0, note="x + y")
define("sub", lambda x, y: x - y, one, lambda x, y, out: -1.0, note="x - y")
define("mul", lambda x, y: x * y, lambda x, y, out: y, lambda x, y, out: x, identity=1, note="x y")
define(
    "div",
    div,
    lambda x, y, out: div(1.0, y),
    lambda x, y, out: -div(out, y),
    result="real",
    note="x / y; IEEE 754's infinity or nan where y is zero",
)
define("inv", lambda x: div(1.0, x), lambda x, out: -(out * out), result="real", note="1 / x")
define(
    "pow",
    pow,
    # x ** 0 is 1 for every x, so its derivative is 0: 1 stands in for x where 0 ** -1 is infinite.
    lambda x, y, out: y * pow(where(x == 0.0, where(y == 0.0, 1.0, x), x), y - 1.0),
    # 0 ** y stays 0 while y > 0, so its derivative is 0: log(1) stands in for the infinite log(0).
    lambda x, y, out: out * log(where(x == 0.0, where(y >= 0.0, 1.0, x), x)),
    note="x to the power y",
)
define("square", lambda x: x * x, lambda x, out: 2.0 * x, note="x x")
# A builtin cannot be lifted itself, but code that calls it can: it asks the value's __abs__.
define("abs", lambda x: abs(x), lambda x, out: _sign(x), note="|x|; derivative 0 at 0")  # noqa: PLW0108

# --- Exponentials and their kin -----------------------------------------------------------------

define("exp", exp, lambda x, out: out, result="real", note="e to the power x")
define("log", log, lambda x, out: div(1.0, x), result="real", note="natural logarithm")
define("sqrt", sqrt, lambda x, out: div(0.5, out), result="real", note="square root")
define("sin", sin, lambda x, out: cos(x), result="real", note="sine, x in radians")
define("cos", cos, lambda x, out: -sin(x), result="real", note="cosine, x in radians")
define("tanh", tanh, lambda x, out: 1.0 - out * out, result="real", note="hyperbolic tangent")


def sigmoid(x: float) -> float:
    """Return `1 / (1 + exp(-x))`, for rows that are written with it."""
    decay = exp(-abs(x))  # at most 1, so that neither tail overflows
    return div(where(x >= 0.0, 1.0, decay), 1.0 + decay)


define(
    "sigmoid",
    sigmoid,
    lambda x, out: out * (1.0 - out),
    result="real",
    note="1 / (1 + exp(-x))",
)

# --- Kinks and choices --------------------------------------------------------------------------


def _sign(x: float) -> float:
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0))


define(
    "relu",
    lambda x: maximum(x, 0.0),
    lambda x, out: where(x > 0.0, 1.0, 0.0),
    note="max(x, 0); derivative 0 at 0",
)
define(
    "maximum",
    maximum,
    lambda x, y, out: where(x > y, 1.0, where(x == y, 0.5, 0.0)),
    lambda x, y, out: where(y > x, 1.0, where(x == y, 0.5, 0.0)),
    note="the larger; nan if either is nan; equal arguments share the derivative",
)
define(
    "minimum",
    minimum,
    lambda x, y, out: where(x < y, 1.0, where(x == y, 0.5, 0.0)),
    lambda x, y, out: where(y < x, 1.0, where(x == y, 0.5, 0.0)),
    note="the smaller; nan if either is nan; equal arguments share the derivative",
)
define(
    "where",
    where,
    zero,
    lambda condition, x, y, out: where(condition, 1.0, 0.0),
    lambda condition, x, y, out: where(condition, 0.0, 1.0),
    note="x where the condition holds, else y",
)
define("floor", floor, zero, note="the largest whole number not above x; derivative 0")

# --- Comparisons and logic: piecewise constant, so every derivative is zero ---------------------

define("lt", lambda x, y: x < y, zero, zero, result="truth", note="x < y")
define("le", lambda x, y: x <= y, zero, zero, result="truth", note="x <= y")
define("gt", lambda x, y: x > y, zero, zero, result="truth", note="x > y")
define("ge", lambda x, y: x >= y, zero, zero, result="truth", note="x >= y")
define("eq", lambda x, y: x == y, zero, zero, result="truth", note="x == y; nan equals nothing")
define("ne", lambda x, y: x != y, zero, zero, result="truth", note="x != y")
define(
    "is_close", lambda x, y: abs(x - y) < 1e-2, zero, zero, result="truth", note="|x - y| < 1/100"
)
define(
    "logical_and",
    lambda x, y: (x != 0) & (y != 0),
    zero,
    zero,
    result="truth",
    identity=1,
    note="whether both are non-zero",
)
define(
    "logical_or",
    lambda x, y: (x != 0) | (y != 0),
    zero,
    zero,
    result="truth",
    identity=0,
    note="whether either is non-zero",
)
define("logical_not", lambda x: x == 0, zero, result="truth", note="whether x is zero")
