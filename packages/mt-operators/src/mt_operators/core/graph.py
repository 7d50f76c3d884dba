"""The graph of a formula: its arguments, constants and operations, each expression once.

So far a function can only be run. A compiler must see which operations it applies in which order.
This is the graph of `1.0 - x * x`, made by hand; `tracing.py`, the next file, makes it from the
function.

    >>> x, one = Expression("argument", number=0), Expression("constant", number=1.0)
    >>> square, difference = Expression("mul", (0, 0)), Expression("sub", (2, 1))
    >>> print(Graph(arity=1, expressions=(x, square, one, difference), outputs=(3,)))
    e0 = argument 0
    e1 = mul e0 e0
    e2 = 1.0
    e3 = sub e2 e1
    return e3

Code that compiles, differentiates or prints a formula goes through these expressions in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

Number = bool | int | float

ARITHMETIC = ("add", "sub", "mul", "neg", "abs")
"""Operations of Python that return numbers."""

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
"""Operations of Python that return bools."""

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|"}
_SIGNS |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}

PYTHON = {"neg": "-{0}", **{name: f"{{0}} {sign} {{1}}" for name, sign in _SIGNS.items()}}
"""How every compiler writes the operations that are Python's operators."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One value of a graph.

    Attributes:
        operation: `"argument"`, `"constant"`, `"and"` or `"or"` of bools, or the name of an
            operator of the table.
        operands: the positions of its operands in the graph, all before its own.
        number: the number of the argument, or the value of the constant.
        is_bool: whether it is a bool. An argument counts as a number.
    """

    operation: str
    operands: tuple[int, ...] = ()
    number: Number = 0
    is_bool: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """What a formula computes.

    Attributes:
        arity: the number of arguments, which are the first expressions.
        expressions: in an order in which they can be evaluated.
        outputs: the positions of the results.
    """

    arity: int
    expressions: tuple[Expression, ...]
    outputs: tuple[int, ...]

    @property
    def reads(self) -> tuple[int, ...]:
        """The arguments that an output depends on."""
        used = {operand for expression in self.expressions for operand in expression.operands}
        return tuple(i for i in range(self.arity) if i in used or i in self.outputs)

    def only(self, output: int) -> Graph:
        """Return the graph of one of its outputs."""
        return pruned(self.expressions, [self.outputs[output]], self.arity)

    def __str__(self) -> str:
        """Show one expression a line."""
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
    """Return the graph of some outputs, without expressions that none of them needs."""
    needed = set(range(arity))
    waiting = list(outputs)
    while waiting:
        position = waiting.pop()
        if position not in needed:
            needed.add(position)
            waiting.extend(expressions[position].operands)
    new = {old: position for position, old in enumerate(sorted(needed))}
    chosen = [
        replace(expressions[old], operands=tuple(new[i] for i in expressions[old].operands))
        for old in new
    ]
    return Graph(arity, tuple(chosen), tuple(new[i] for i in outputs))
