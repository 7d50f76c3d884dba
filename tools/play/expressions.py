"""Expressions that somebody types: what they may say, and what they are worth.

Nothing of a text is ever run. It is parsed, only numbers, names, arithmetic, comparisons and
operators of the table are accepted, and these are computed one by one, on floats, Scalars or
whatever the operators take. All of it is limited: length, nesting, how many names, and how large a
number; an exponent is a float, and so takes no longer if it is large.
"""

from __future__ import annotations

import ast
import keyword
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mt_operators import OPERATORS
from mt_operators.core.errors import nearest

LONGEST = 200
"""How many characters an expression may have."""

DEEPEST = 30
"""How many expressions may lie inside each other."""

MOST_NAMES = 6
"""How many variables there may be."""

LARGEST = 1e9
"""How large a number may be that is written in an expression."""

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
"""The operators of the table that Python's signs stand for."""


class ExpressionError(ValueError):
    """A text is no expression that can be computed; says why, and what can be written instead."""


@dataclass(frozen=True)
class Expression:
    """An expression that can be computed.

    Attributes:
        text: as it was typed.
        tree: what it says: constants, names, and operators of the table by their names.
        names: its variables, in the order in which they occur.
    """

    text: str
    tree: Node
    names: tuple[str, ...]

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return what it is worth, if its variables have these values."""
        return _value(self.tree, values)


@dataclass(frozen=True)
class Node:
    """A part of an expression: a number, a variable, or an operator with its arguments.

    Attributes:
        content: the number, the name of the variable, or that of the operator.
        arguments: of an operator; empty otherwise.
    """

    content: float | str
    arguments: tuple[Node, ...] = ()


def _value(node: Node, values: Mapping[str, Any]) -> Any:
    if isinstance(node.content, float):
        return node.content
    if not node.arguments:
        return values[node.content]
    return OPERATORS[node.content].function(*[_value(each, values) for each in node.arguments])


def parse(text: str) -> Expression:
    """Return what a text says.

    Raises:
        ExpressionError: it is no expression, or goes beyond what is accepted.
    """
    if not text.strip():
        raise ExpressionError("nothing is written: write an expression such as x * y + exp(-x).")
    if len(text) > LONGEST:
        raise ExpressionError(
            f"an expression has at most {LONGEST} characters; this one has {len(text)}."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        said = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        raise ExpressionError(
            f"{text.strip()!r} is no expression: {said}. Write one such as x * y + exp(-x)."
        ) from None
    names: dict[str, None] = {}
    tree = _read(body, names, 1)
    if len(names) > MOST_NAMES:
        raise ExpressionError(
            f"an expression has at most {MOST_NAMES} variables; here are {len(names)}: "
            f"{', '.join(names)}."
        )
    return Expression(text.strip(), tree, tuple(names))


def _read(node: ast.expr, names: dict[str, None], depth: int) -> Node:
    """Return what a part of a text says, and add the variables in it to the names."""
    if depth > DEEPEST:
        raise ExpressionError(f"expressions lie inside each other at most {DEEPEST} times.")

    def read(*parts: ast.expr) -> tuple[Node, ...]:
        return tuple(_read(part, names, depth + 1) for part in parts)

    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Node(_limited(number))
        case ast.Name(id=name):
            names.setdefault(_checked(name))
            return Node(name)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _read(operand, names, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _read(operand, names, depth + 1)
            constant = isinstance(inner.content, float)
            return Node(-inner.content) if constant else Node("neg", (inner,))  # type: ignore[operator]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in BINARY:
            return Node(BINARY[type(sign)], read(left, right))
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in BINARY:
            return Node(BINARY[type(sign)], read(left, right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            operator = _operator(name)
            if len(arguments) != operator.arity:
                raise ExpressionError(
                    f"{name} takes {operator.arity} argument(s), "
                    f"{', '.join(operator.parameters)}; {len(arguments)} were given."
                )
            return Node(operator.name, read(*arguments))
    raise ExpressionError(
        f"{ast.unparse(node)!r} cannot be computed here: write numbers, variables, "
        "+ - * / // % **, comparisons and operators of the table, such as tanh(x)."
    )


def _limited(number: float) -> float:
    if not abs(number) <= LARGEST:
        raise ExpressionError(f"a number is at most {LARGEST:g} here; a larger one was given.")
    return float(number)


def _checked(name: str) -> str:
    if name in OPERATORS:
        raise ExpressionError(f"{name} is an operator: write {name}(...) with its arguments.")
    if not (name.isascii() and len(name) <= 8 and name[0] != "_") or keyword.iskeyword(name):
        raise ExpressionError(
            f"a variable has a name of at most 8 Latin letters and digits, such as x or w1; "
            f"{name!r} was given."
        )
    return name


def _operator(name: str) -> Any:
    known = {key for key, row in OPERATORS.items() if row.result != "integer"}
    name = OPERATORS.aliases.get(name, name)
    if name not in known:
        why = "takes whole numbers only" if name in OPERATORS else "is no operator of the table"
        raise ExpressionError(f"{name} {why}.{nearest(name, known)}")
    return OPERATORS[name]


def number(text: str) -> float:
    """Return a number that somebody typed for a variable; infinity and nan are numbers, too.

    Raises:
        ExpressionError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        raise ExpressionError(f"{text.strip()!r} is no number: write one such as 0.5.") from None
    if math.isfinite(value) and abs(value) > LARGEST:
        raise ExpressionError(f"a number is at most {LARGEST:g} here; {value:g} was given.")
    return value


def numbers(text: str, most: int) -> list[float]:
    """Return numbers that somebody typed in a row, with spaces or commas between them.

    Raises:
        ExpressionError: there are none, or too many, or one of them is no number.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"numbers have at most {LONGEST} characters; these have {len(text)}.")
    words = text.replace(",", " ").split()
    if not 1 <= len(words) <= most:
        raise ExpressionError(f"write 1 to {most} numbers, such as `3 1 4`; here are {len(words)}.")
    return [number(word) for word in words]
