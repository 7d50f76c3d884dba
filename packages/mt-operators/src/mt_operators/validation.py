"""Trying a row when it is added, so that a mistake shows here and not in a backend.

What an operator is has just been said, and next comes the table that holds them. Each function of
the row is run on symbols: that finds whatever leaves no graph. What is wrong is said of the
function in which it is, with the form it must have.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NoReturn

from mt_operators.core.elementary import composition
from mt_operators.core.errors import OperatorError, TracingError
from mt_operators.core.formula import Operator, Source
from mt_operators.core.infix import Infix
from mt_operators.core.registry import CHECKS
from mt_operators.core.tracing import trace

_ANY = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""What a function may raise on symbols that it cannot work on."""


def try_row(row: Operator) -> None:
    """Try the value and each partial derivative of a row.

    Raises:
        OperatorError: one does not take what it will be given.
        TracingError: one leaves no graph.
    """
    for what, source, names, arguments in _sources(row):
        problem = _misfit(source, names)
        if problem:
            raise OperatorError(
                f"operator {row.name!r}: {what} {problem}. It is given {arguments}: write it as "
                f"lambda {', '.join(names)}: ..."
            )
        try:
            trace(row.name, source, len(names))
            composition(source)(*[_Powerless()] * len(names))
        except _ANY as error:
            reason = str(error) if isinstance(error, TypeError) else repr(error)
            raise TracingError(
                f"operator {row.name!r}: {what} cannot be traced: {reason}"
            ) from error


class _Powerless(Infix):
    """A value that is the result of whatever is done with it, but has no `**`.

    On symbols and on tensors `**` is the power of IEEE 754, but not on the floats of Python.
    """

    def __operator__(self, _name: str, _operands: tuple[Any, ...]) -> _Powerless:
        """Return the value itself."""
        return self

    def __pow__(self, _: Any) -> NoReturn:
        raise TypeError("it uses **, which is not IEEE 754's power on floats; call pow(x, y)")

    __rpow__ = __pow__


def _sources(row: Operator) -> Iterator[tuple[str, Source, tuple[str, ...], str]]:
    """Yield each function of a row: what it is, itself, what its arguments are, also in words."""
    yield "its function", row.function, row.parameters, "the arguments of the operator"
    names = (*row.parameters, "out")
    for parameter, partial in zip(row.parameters, row.partials, strict=True):
        arguments = "the arguments of the operator and its output"
        yield f"its partial derivative by {parameter!r}", partial, names, arguments


def _misfit(source: Source, names: tuple[str, ...]) -> str:
    """Return what is wrong with the arguments of a function; nothing if it takes those given."""
    try:
        signature = inspect.signature(source)
    except (TypeError, ValueError):
        return f"is {source!r}, and no function"
    try:
        signature.bind(*names)
    except TypeError:
        return f"takes {signature}"
    return ""


CHECKS.append(try_row)
