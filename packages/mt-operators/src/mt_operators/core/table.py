"""The operator table: scalar functions and their derivatives.

Each row has a name, the value, and for each argument the partial derivative, from the arguments and
the value, `out`. Every later stage uses these rows unchanged, for Scalars, tensors, compiled loops
and GPU kernels. A new row is a new operator everywhere, with its gradient.

Conventions: outside its domain an operator returns nan. At a kink the derivative is the mean of its
one-sided derivatives: 0 for `abs` at 0, and 1/2 for each of two equal arguments of `maximum`. Where
torch uses one side, so does the table: 0 for `relu`. Step functions have derivative 0, also where
they jump. The derivative of `relu`, `maximum` and `minimum` at nan is 1, so that nan propagates. Of
0.0 and -0.0, `maximum` and `minimum` may return either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from mt_operators.core.elementary import (
    cos,
    dispatched,
    div,
    exp,
    log,
    maximum,
    minimum,
    pow,
    sin,
    sqrt,
    tanh,
    where,
)
from mt_operators.core.errors import OperatorExistsError, UnknownOperatorError, nearest
from mt_operators.core.row import Function, Operator, one, parameters_of, zero

# --- The container ------------------------------------------------------------------------------

CHECKS: list[Callable[[Operator], None]] = []
"""Functions that validate the rows that users add."""


class OperatorTable(Mapping[str, Operator]):
    """Operators by name, to which rows can be added."""

    def __init__(self) -> None:
        self._rows: dict[str, Operator] = {}
        self._listeners: list[Callable[[Operator], None]] = []
        self._reserved: list[Callable[[str], bool]] = []

    def __getitem__(self, name: str) -> Operator:
        """Return the operator `name`.

        Raises:
            UnknownOperatorError: there is no such operator; aliases are not looked up.
        """
        try:
            return self._rows[name]
        except KeyError:
            raise UnknownOperatorError(
                f"no operator is called {name!r}.{nearest(name, self._rows)}"
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the operator `name`, or a default without searching for similar names."""
        return self._rows.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def aliases(self) -> dict[str, str]:
        """The aliases of operators, mapped to their names."""
        return {alias: row.name for row in self._rows.values() for alias in row.aliases}

    def add(
        self, name: str, function: Function, *partials: Function, check: bool = True, **options: Any
    ) -> Operator:
        """Add a row and return it.

        Args:
            name: the name, as in `Operator`.
            function: computes the value.
            *partials: the partial derivatives.
            check: whether to validate the row; the tests validate the built-in rows.
            **options: the other arguments of `Operator`.

        Raises:
            OperatorError: the row is invalid.
            OperatorExistsError: the name or an alias is already in use.
            TracingError: a function cannot be traced.
        """
        row = Operator(name, function, partials, **options)
        for validate in CHECKS if check else ():
            validate(row)
        for each in (name, *row.aliases):
            if each in self._rows or any(is_reserved(each) for is_reserved in self._reserved):
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
        is_reserved: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """Call `install` with every operator of the table, now and whenever one is added.

        Types use this to define a method per row. From then on, `add` rejects every name for which
        `is_reserved` returns True.
        """
        for row in self._rows.values():
            install(row)
        self._listeners.append(install)
        self._reserved.append(is_reserved)


OPERATORS = OperatorTable()
"""The table of all operators."""

# --- Helpers for adding rows ----------------------------------------------------------------------

FROM_0 = ((0.0, math.inf),)

define = partial(OPERATORS.add, check=False)
define_real = partial(define, result="real")


def define_steps(name: str, function: Function, **options: Any) -> None:
    """Add a step function, whose derivatives are 0."""
    define(name, function, *[zero] * len(parameters_of(function)), selects=True, **options)


define_bool = partial(define_steps, result="bool")

# --- Arithmetic ---------------------------------------------------------------------------------

define("id", lambda x: x, one, note="the argument itself")
define("neg", lambda x: -x, lambda x, out: -1.0, aliases=("negative",), note="-x")
define("add", lambda x, y: x + y, one, one, identity=0, note="x + y")
define("sub", lambda x, y: x - y, one, lambda x, y, out: -1.0, note="x - y")
define(
    "mul",
    lambda x, y: x * y,
    lambda x, y, out: y,
    lambda x, y, out: x,
    identity=1,
    aliases=("multiply",),
    note="x * y",
)
define_real(
    "div",
    div,
    lambda x, y, out: div(1.0, y),
    lambda x, y, out: -div(out, y),
    note="x / y; IEEE 754's infinity or nan where y is zero",
)
define_real(
    "inv",
    lambda x: div(1.0, x),
    lambda x, out: -(out * out),
    aliases=("reciprocal",),
    note="1 / x",
)
define("square", lambda x: x * x, lambda x, out: 2.0 * x, note="x * x")
define(
    "pow",
    pow,
    # x ** 0 is 1 for every x, so its derivative is 0. Replace an x for which x ** -1 would be nan
    # or overflow, also in float32, by 1.
    lambda x, y, out: y * pow(where(y == 0.0, where(abs(x) > 1e-37, x, 1.0), x), y - 1.0),
    # The derivative of 0 ** y is 0 for y >= 0: use log(1) instead of the infinite log(0).
    lambda x, y, out: out * log(where(x == 0.0, where(y >= 0.0, 1.0, x), x)),
    note="x to the power y; nan for x < 0 unless y is an integer",
)
define_real("sqrt", sqrt, lambda x, out: div(0.5, out), domain=FROM_0, note="the square root")
define_real(
    "rsqrt",
    lambda x: div(1.0, sqrt(x)),
    lambda x, out: -0.5 * (out * out * out),
    domain=FROM_0,
    note="1 / sqrt(x)",
)

# --- Smooth functions ---------------------------------------------------------------------------

define_real("exp", exp, lambda x, out: out, note="e to the power x")
define_real("log", log, lambda x, out: div(1.0, x), domain=FROM_0, note="the natural logarithm")
define_real("sin", sin, lambda x, out: cos(x), note="the sine, x in radians")
define_real("cos", cos, lambda x, out: -sin(x), note="the cosine, x in radians")
define_real("tanh", tanh, lambda x, out: 1.0 - out * out, note="the hyperbolic tangent")


@dispatched  # so that rows that use it record one operator, with its own derivative
def sigmoid(x: float) -> float:
    """Return `1 / (1 + exp(-x))`."""
    decay = exp(-abs(x))  # at most 1, so that neither tail overflows
    return div(where(x >= 0.0, 1.0, decay), 1.0 + decay)


define_real(
    "sigmoid",
    sigmoid,
    lambda x, out: out * (1.0 - out),
    aliases=("expit",),
    note="1 / (1 + exp(-x))",
)

# --- Kinks and selection ------------------------------------------------------------------------


@dispatched
def sign(x: float) -> float:
    """Return 1, 0 or -1 for positive, zero or negative `x`; nan for nan."""
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, abs(x)))  # abs: +0 for either zero


define(
    "abs",
    lambda x: abs(x),  # noqa: PLW0108 - `abs` itself has no signature
    lambda x, out: sign(x),
    aliases=("absolute",),
    note="|x|; derivative 0 at 0",
)
define_steps(
    "sign",
    sign,
    aliases=("sgn",),
    note="1, 0 or -1 for positive, zero or negative x; derivative 0",
)
define(
    "relu",
    lambda x: maximum(x, 0.0),
    lambda x, out: where(out <= 0.0, 0.0, 1.0),
    selects=True,
    note="max(x, 0); derivative 0 at 0",
)
define(
    "maximum",
    maximum,
    lambda x, y, out: where(x < y, 0.0, where(x == y, 0.5, 1.0)),
    lambda x, y, out: where(y < x, 0.0, where(x == y, 0.5, 1.0)),
    selects=True,
    note="the larger; nan if either is nan; derivative 1/2 for each of equal arguments",
)
define(
    "minimum",
    minimum,
    lambda x, y, out: where(x > y, 0.0, where(x == y, 0.5, 1.0)),
    lambda x, y, out: where(y > x, 0.0, where(x == y, 0.5, 1.0)),
    selects=True,
    note="the smaller; nan if either is nan; derivative 1/2 for each of equal arguments",
)
define(
    "where",
    where,
    zero,
    lambda condition, x, y, out: where(condition, 1.0, 0.0),
    lambda condition, x, y, out: where(condition, 0.0, 1.0),
    selects=True,
    note="x where the condition holds, else y",
)

# --- Comparisons and logic ----------------------------------------------------------------------

define_bool("lt", lambda x, y: x < y, aliases=("less",), note="x < y")
define_bool("le", lambda x, y: x <= y, aliases=("less_equal",), note="x <= y")
define_bool("gt", lambda x, y: x > y, aliases=("greater",), note="x > y")
define_bool("ge", lambda x, y: x >= y, aliases=("greater_equal",), note="x >= y")
define_bool("eq", lambda x, y: x == y, note="x == y; nan equals nothing")
define_bool("ne", lambda x, y: x != y, aliases=("not_equal",), note="x != y")
define_bool("is_close", lambda x, y: abs(x - y) < 1e-2, note="|x - y| < 1/100")
define_bool("isnan", lambda x: x != x, note="whether x is nan")
define_bool("isinf", lambda x: abs(x) == math.inf, note="whether x is infinite")
define_bool("isfinite", lambda x: abs(x) < math.inf, note="whether x is neither infinite nor nan")
define_bool(
    "logical_and", lambda x, y: (x != 0) & (y != 0), identity=1, note="whether both are nonzero"
)
define_bool(
    "logical_or", lambda x, y: (x != 0) | (y != 0), identity=0, note="whether either is nonzero"
)
define_bool(
    "logical_xor",
    lambda x, y: (x != 0) != (y != 0),
    identity=0,
    note="whether exactly one is nonzero",
)
define_bool("logical_not", lambda x: x == 0, note="whether x is zero")
