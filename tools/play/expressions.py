"""Parse and evaluate expressions that users type.

No text is ever executed. It is parsed; only numbers, names, arithmetic, comparisons and operators
of the table are accepted; and these are evaluated one by one, on floats, Scalars or any type that
the operators support. Length, nesting, the number of names and the size of numbers are limited;
exponents are floats, so that large ones take no longer.
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
"""The maximum number of characters of an expression."""

DEEPEST = 30
"""The maximum depth of nested expressions."""

MOST_NAMES = 6
"""The maximum number of variables."""

LARGEST = 1e9
"""The maximum absolute value of a number in an expression."""

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
"""The operators of the table for Python's signs."""


class ExpressionError(ValueError):
    """Invalid input; the message says why, and what to write instead."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression.

    Attributes:
        text: the text as typed.
        tree: its tree of constants, names, and operators of the table.
        names: its variables, in order of occurrence.
    """

    text: str
    tree: Node
    names: tuple[str, ...]

    def value(self, values: Mapping[str, Any]) -> Any:
        """Evaluate it with these values of the variables."""
        return _value(self.tree, values)


@dataclass(frozen=True)
class Node:
    """A part of an expression: a number, a variable, or an operator with its arguments.

    Attributes:
        content: the number, the name of the variable, or that of the operator.
        arguments: the arguments of an operator; else empty.
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
    """Parse a text.

    Raises:
        ExpressionError: it is not an expression, or exceeds a limit.
    """
    if not text.strip():
        raise ExpressionError("the expression is empty: write one such as x * y + exp(-x).")
    if len(text) > LONGEST:
        raise ExpressionError(
            f"an expression may have at most {LONGEST} characters; this one has {len(text)}."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be parsed"
        raise ExpressionError(
            f"{text.strip()!r} is not an expression: {reason}. Write one such as x * y + exp(-x)."
        ) from None
    names: dict[str, None] = {}
    tree = _read(body, names, 1)
    if len(names) > MOST_NAMES:
        raise ExpressionError(
            f"an expression may have at most {MOST_NAMES} variables; this one has {len(names)}: "
            f"{', '.join(names)}."
        )
    return Expression(text.strip(), tree, tuple(names))


def _read(node: ast.expr, names: dict[str, None], depth: int) -> Node:
    """Convert a syntax tree to a node, and add its variables to the names."""
    if depth > DEEPEST:
        raise ExpressionError(f"expressions may be nested at most {DEEPEST} levels deep.")

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
                    f"{', '.join(operator.parameters)}, not {len(arguments)}."
                )
            return Node(operator.name, read(*arguments))
    raise ExpressionError(
        f"{ast.unparse(node)!r} is not supported: write numbers, variables, "
        "+ - * / // % **, comparisons and operators of the table, such as tanh(x)."
    )


def _limited(number: float) -> float:
    if not abs(number) <= LARGEST:
        raise ExpressionError(f"a number may be at most {LARGEST:g}.")
    return float(number)


def _checked(name: str) -> str:
    if name in OPERATORS:
        raise ExpressionError(f"{name} is an operator: write {name}(...) with its arguments.")
    if not (name.isascii() and len(name) <= 8 and name[0] != "_") or keyword.iskeyword(name):
        raise ExpressionError(
            f"a variable must have a name of at most 8 Latin letters and digits, such as x or w1, "
            f"not {name!r}."
        )
    return name


def _operator(name: str) -> Any:
    known = {key for key, row in OPERATORS.items() if row.result != "integer"}
    name = OPERATORS.aliases.get(name, name)
    if name not in known:
        why = "takes only integers" if name in OPERATORS else "is not an operator of the table"
        raise ExpressionError(f"{name} {why}.{nearest(name, known)}")
    return OPERATORS[name]


def number(text: str) -> float:
    """Parse a number that a user typed for a variable; infinity and nan are allowed.

    Raises:
        ExpressionError: it is not a number.
    """
    try:
        value = float(text)
    except ValueError:
        raise ExpressionError(f"{text.strip()!r} is not a number: write one such as 0.5.") from None
    if math.isfinite(value) and abs(value) > LARGEST:
        raise ExpressionError(f"a number may be at most {LARGEST:g}, not {value:g}.")
    return value


def numbers(text: str, most: int) -> list[float]:
    """Parse a list of numbers, separated by spaces or commas.

    Raises:
        ExpressionError: there are none, or too many, or one is invalid.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"the list may have at most {LONGEST} characters, not {len(text)}.")
    words = text.replace(",", " ").split()
    if not 1 <= len(words) <= most:
        raise ExpressionError(f"write 1 to {most} numbers, such as `3 1 4`, not {len(words)}.")
    return [number(word) for word in words]
