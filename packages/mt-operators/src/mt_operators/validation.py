"""Validate the rows that users add, to report mistakes before a backend runs them."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Iterator
from typing import Any, NoReturn, get_args

from mt_operators.core.elementary import definition
from mt_operators.core.errors import OperatorError, TracingError
from mt_operators.core.infix import Infix
from mt_operators.core.row import Function, Operator, Result
from mt_operators.core.table import CHECKS
from mt_operators.core.tracing import trace

TYPES: dict[str, tuple[Any, str]] = {
    "selects": (bool, "True or False"),
    "aliases": (tuple, "a tuple of names"),
    "identity": (int | float | None, "a number, or None"),
    "note": (str, "a line of text"),
}
"""The types of some attributes of an operator, with descriptions."""

_ANY = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""The exceptions that a function may raise when it is called with symbols."""


def validate(row: Operator) -> None:
    """Check a row and trace its functions.

    Raises:
        OperatorError: an attribute of the row is invalid, or a function has the wrong arguments.
        TracingError: a function cannot be traced.
    """
    for problem in _problems(row):
        raise OperatorError(f"operator {row.name!r}: {problem}.")
    for what, function, names, arguments in _functions(row):
        problem = _wrong_arguments(function, names)
        if problem:
            raise OperatorError(
                f"operator {row.name!r}: {what} {problem}. It is called with {arguments}: write "
                f"it as lambda {', '.join(names)}: ..."
            )
        try:
            trace(row.name, function, len(names))
            definition(function)(*[_WithoutPower()] * len(names))
        except _ANY as error:
            reason = str(error) if isinstance(error, TypeError) else repr(error)
            raise TracingError(
                f"operator {row.name!r}: {what} cannot be traced: {reason}"
            ) from error


CHECKS.append(validate)


def _problems(row: Operator) -> Iterator[str]:
    """Yield descriptions of the problems of a row and how to fix them."""
    name: object = row.name
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        yield "this is not a valid name; give a Python identifier that is not a keyword"
    elif name.startswith("_"):
        yield "operators become public methods; give a name without a leading underscore"
    if row.result not in get_args(Result):
        yield f"its result is {row.result!r}; give one of {', '.join(get_args(Result))}"
    for attribute, (types, expected) in TYPES.items():
        value: object = getattr(row, attribute)
        if not isinstance(value, types):
            yield f"its {attribute} is {value!r}; give {expected}"
    try:
        count = len(row.parameters)
    except (TypeError, ValueError):
        yield f"its function is {row.function!r}; give a function of numbers"
        return
    if not count:
        yield "its function takes no argument; give a function of at least one number"
    yield from _mismatches(row, count)


def _mismatches(row: Operator, count: int) -> Iterator[str]:
    """Yield arity mismatches and invalid intervals."""
    intervals: Any = row.domain
    if not all(isinstance(each, tuple) and len(each) == 2 for each in intervals):
        yield f"its domain is {intervals!r}; give a pair (low, high) for each argument"
        return
    for what, items in (
        ("partial derivative(s)", row.partials),
        ("interval(s) as its domain", row.domain),
    ):
        if count != len(items):
            yield (
                f"its function takes {count} argument(s) but {len(items)} {what} were given; "
                "give one for each"
            )
    for low, high in row.domain:
        if not low < high:
            yield f"the interval ({low}, {high}) of its domain is empty; give the lower end first"


class _WithoutPower(Infix):
    """A value that every operation returns unchanged, except `**`, which raises.

    `**` is the power of IEEE 754 on symbols and tensors, but not on Python floats.
    """

    def __operator__(self, _name: str, _operands: tuple[Any, ...]) -> _WithoutPower:
        """Return the value itself."""
        return self

    def __pow__(self, _: Any) -> NoReturn:
        raise TypeError("it uses **, which is not IEEE 754's power on floats; call pow(x, y)")

    __rpow__ = __pow__


def _functions(row: Operator) -> Iterator[tuple[str, Function, tuple[str, ...], str]]:
    """Yield each function of a row: description, function, argument names and their description."""
    yield "its function", row.function, row.parameters, "the arguments of the operator"
    names = (*row.parameters, "out")
    for parameter, partial in zip(row.parameters, row.partials, strict=True):
        arguments = "the arguments of the operator and its output"
        yield f"its partial derivative with respect to {parameter!r}", partial, names, arguments


def _wrong_arguments(function: Function, names: tuple[str, ...]) -> str:
    """Return a description of a function's wrong arguments, or an empty string."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"is {function!r}, not a function"
    try:
        signature.bind(*names)
    except TypeError:
        return f"takes {signature}"
    return ""
