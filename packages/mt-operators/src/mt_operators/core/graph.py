"""The graph of a formula: its arguments, constants and operations, without duplicates.

A compiler needs to know which operations a function applies, in which order. This is the graph of
`1.0 - x * x`, built by hand; `tracing.py`, the next file, builds it from the function.

    >>> x, one = Expression("argument", number=0), Expression("constant", number=1.0)
    >>> square, difference = Expression("mul", (0, 0)), Expression("sub", (2, 1))
    >>> print(Graph(arity=1, expressions=(x, square, one, difference), outputs=(3,)))
    e0 = argument 0
    e1 = mul e0 e0
    e2 = 1.0
    e3 = sub e2 e1
    return e3

Code that compiles, differentiates or prints a formula iterates over its expressions in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

Number = bool | int | float

ARITHMETIC = ("add", "sub", "mul", "neg", "abs")
"""Python operators that return numbers."""

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
"""Python operators that return bools."""

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|"}
_SIGNS |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}

PYTHON = {"neg": "-{0}", **{name: f"{{0}} {sign} {{1}}" for name, sign in _SIGNS.items()}}
"""Format strings of the operations that are Python operators, for compilers."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One value of a graph.

    Attributes:
        operation: `"argument"`, `"constant"`, `"and"` or `"or"` of bools, or the name of an
            operator of the table.
        operands: the positions of its operands in the graph, which precede its own.
        number: the index of the argument, or the value of the constant.
        is_bool: whether the value is a bool; arguments are numbers.
    """

    operation: str
    operands: tuple[int, ...] = ()
    number: Number = 0
    is_bool: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a formula.

    Attributes:
        arity: the number of arguments, which are the first expressions.
        expressions: the expressions, in an order of evaluation.
        outputs: the positions of the results.
    """

    arity: int
    expressions: tuple[Expression, ...]
    outputs: tuple[int, ...]

    @property
    def reads(self) -> tuple[int, ...]:
        """The indices of the arguments that an output depends on, in ascending order."""
        used = {operand for expression in self.expressions for operand in expression.operands}
        return tuple(i for i in range(self.arity) if i in used or i in self.outputs)

    def single_output(self, output: int) -> Graph:
        """Return the graph of the output with this index, without unused expressions."""
        return pruned(self.expressions, [self.outputs[output]], self.arity)

    def __str__(self) -> str:
        """Return one line per expression."""
        lines = []
        for position, expression in enumerate(self.expressions):
            match expression.operation:
                case "constant":
                    text = str(expression.number)
                case "argument":
                    text = f"argument {expression.number}"
                case operation:
                    text = " ".join((operation, *(f"e{i}" for i in expression.operands)))
            lines.append(f"e{position} = {text}")
        return "\n".join((*lines, "return " + ", ".join(f"e{i}" for i in self.outputs)))


def pruned(expressions: Sequence[Expression], outputs: Sequence[int], arity: int) -> Graph:
    """Return the graph of some outputs, without unused expressions; all arguments are kept.

    Args:
        expressions: the expressions; the first `arity` are the arguments.
        outputs: the positions of the outputs in `expressions`.
        arity: the number of arguments.
    """
    needed = set(range(arity))
    pending = list(outputs)
    while pending:
        position = pending.pop()
        if position not in needed:
            needed.add(position)
            pending.extend(expressions[position].operands)
    new = {old: position for position, old in enumerate(sorted(needed))}
    chosen = [
        replace(expressions[old], operands=tuple(new[i] for i in expressions[old].operands))
        for old in new
    ]
    return Graph(arity, tuple(chosen), tuple(new[i] for i in outputs))
