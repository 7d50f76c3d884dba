"""The graph of a formula: its arguments, constants and operations, each expression once.

What functions ask is known by now; this is where the answers of symbols are written down. A
function of the operator table computes; a compiler needs to *see* it. Run once on symbols
(`mt_operators.tracing`), it leaves a graph:

    >>> from mt_operators import OPERATORS
    >>> print(OPERATORS["tanh"].gradient((True,)).graph)
    e0 = argument 0
    e1 = argument 1
    e2 = argument 2
    e3 = mul e2 e2
    e4 = 1.0
    e5 = sub e4 e3
    e6 = mul e0 e5
    return e6

Everything that compiles, differentiates or prints a formula is a walk over its graph
(`evaluation`, `differentiation`, `text`, and the kernel generators of later stages). The graph
knows nothing of element types or machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

Number = bool | int | float

ARITHMETIC = ("add", "sub", "mul", "neg", "abs")
"""Operations that come from Python's operators and yield numbers."""

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
"""Operations that come from Python's operators and yield truth values."""

PYTHON = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "neg": "-{0}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
}
"""Templates of the operations that every stage writes with Python's operators."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One value of a graph.

    Attributes:
        operation: `"argument"`, `"constant"`, `"and"` or `"or"` of truth values, or the name of an
            operator of the table.
        operands: the positions of its operands in the graph, all before its own.
        number: the number of the argument, or the value of the constant.
        truth: whether it is a truth value. An argument counts as a number.
    """

    operation: str
    operands: tuple[int, ...] = ()
    number: Number = 0
    truth: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """What a formula computes.

    Attributes:
        arity: how many arguments it takes; they are the first expressions.
        expressions: in an order in which they can be evaluated; all of them are needed for an
            output, except perhaps arguments.
        outputs: the positions of the results.
    """

    arity: int
    expressions: tuple[Expression, ...]
    outputs: tuple[int, ...]

    @property
    def reads(self) -> tuple[int, ...]:
        """Which arguments an output depends on."""
        used = {at for expression in self.expressions for at in expression.operands}
        return tuple(i for i in range(self.arity) if i in used or i in self.outputs)

    def narrowed(self, arguments: Sequence[int]) -> Graph:
        """Return the same of some of its arguments, among which are all that it reads."""
        places = (*arguments, *range(self.arity, len(self.expressions)))
        return _renumbered(self.expressions, self.outputs, places, len(arguments))

    def only(self, output: int) -> Graph:
        """Return the graph of one of its outputs."""
        return pruned(self.expressions, [self.outputs[output]], self.arity)

    def __str__(self) -> str:
        """Show one expression a line."""
        lines = []
        for position, expression in enumerate(self.expressions):
            if expression.operation == "constant":
                text = str(expression.number)
            elif expression.operation == "argument":
                text = f"argument {expression.number}"
            else:
                text = " ".join((expression.operation, *(f"e{at}" for at in expression.operands)))
            lines.append(f"e{position} = {text}")
        return "\n".join((*lines, "return " + ", ".join(f"e{at}" for at in self.outputs)))


def pruned(expressions: Sequence[Expression], outputs: Sequence[int], arity: int) -> Graph:
    """Return the graph of some outputs, without what none of them needs."""
    needed = set(range(arity))
    waiting = list(outputs)
    while waiting:
        position = waiting.pop()
        if position not in needed:
            needed.add(position)
            waiting.extend(expressions[position].operands)
    return _renumbered(expressions, outputs, sorted(needed), arity)


def _renumbered(
    expressions: Sequence[Expression], outputs: Sequence[int], places: Sequence[int], arity: int
) -> Graph:
    """Return the graph of the expressions at some places, of which the first are the arguments."""
    moved = {old: new for new, old in enumerate(places)}
    arguments = [Expression("argument", number=i) for i in range(arity)]
    rest = [
        replace(expressions[old], operands=tuple(moved[at] for at in expressions[old].operands))
        for old in places[arity:]
    ]
    return Graph(arity, (*arguments, *rest), tuple(moved[at] for at in outputs))
