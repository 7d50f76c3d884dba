"""Formulas as text that people read, in Python's notation.

>>> from mt_operators import OPERATORS
>>> written(OPERATORS["softplus"])
'maximum(x, 0) + log1p(exp(-abs(x)))'
>>> written_partials(OPERATORS["div"])
('1 / y', '-(out / y)')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from mt_operators.core.graph import PYTHON, Graph
from mt_operators.core.row import Operator
from mt_operators.core.tracing import graph_of, trace

COMPARISON, LOGIC, SUM, PRODUCT, ATOM = range(5)
"""How tightly a formula binds its parts; a part that binds less is put in parentheses."""

INFIX = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), COMPARISON),
    **dict.fromkeys(("and", "or"), LOGIC),
    **dict.fromkeys(("add", "sub"), SUM),
    **dict.fromkeys(("mul", "div", "floor_divide"), PRODUCT),
}
"""The operations that are written between their operands."""

SIGNS = {**PYTHON, "div": "{0} / {1}", "floor_divide": "{0} // {1}"}

LONGEST = 600
"""How many characters people read in one line."""

DIGITS = 6
"""To how many digits plain numbers are rounded."""


def written(operator: Operator) -> str:
    """Return the value of an operator as a formula of its arguments."""
    return formula_of(graph_of(operator.value), operator.parameters)


def written_partials(operator: Operator) -> tuple[str, ...]:
    """Return the partial derivatives as formulas of the arguments and the output, `out`."""
    names = (*operator.parameters, "out")
    return tuple(
        formula_of(trace(operator.name, partial, len(names)), names)
        for partial in operator.partials
    )


def formula_of(graph: Graph, names: Sequence[str]) -> str:
    """Return what a graph with one output computes, as a formula of arguments with these names.

    A formula that is too long is written in lines: the last is the formula, and those before it
    give names to what it uses more than once.
    """
    whole = _Writer(graph, names, shared=())
    if whole.length <= LONGEST:
        return whole.text()
    uses = Counter(i for expression in graph.expressions for i in expression.operands)
    shared = [i for i, count in uses.items() if count > 1 and graph.expressions[i].operands]
    return _Writer(graph, names, shared).text()


class _Writer:
    """The formulas of all expressions of a graph.

    Those at the positions `shared` get a name, t0 and so on, by which the others call them.
    """

    def __init__(self, graph: Graph, names: Sequence[str], shared: Collection[int]) -> None:
        self._graph = graph
        self._arguments = names
        self._names = {position: f"t{i}" for i, position in enumerate(sorted(shared))}
        lengths: list[int] = []  # at most; a formula that repeats its parts may be endless
        for expression in graph.expressions:
            parts = [lengths[i] for i in expression.operands]
            lengths.append(sum(parts) + len(expression.operation) + 4 * len(parts))
        self.length = lengths[graph.outputs[0]]

    def text(self) -> str:
        """Return the lines."""
        (output,) = self._graph.outputs
        lines = [f"{name} = {self._written(position)[0]}" for position, name in self._names.items()]
        return "\n".join((*lines, self._part(output)[0]))

    def _part(self, position: int) -> tuple[str, int]:
        """Return an expression, or its name, and how tightly it binds its parts."""
        name = self._names.get(position)
        return self._written(position) if name is None else (name, ATOM)

    def _written(self, position: int) -> tuple[str, int]:
        """Return an expression, and how tightly it binds its parts."""
        expression = self._graph.expressions[position]
        operation = expression.operation
        if operation == "argument":
            return self._arguments[int(expression.number)], ATOM
        if operation == "constant":
            return f"{expression.number:.{DIGITS}g}", PRODUCT if expression.number < 0 else ATOM
        parts = [self._part(operand) for operand in expression.operands]
        if operation == "neg":
            return f"-{_within(ATOM, *parts[0])}", PRODUCT
        if operation not in INFIX:
            return f"{operation}({', '.join(text for text, _ in parts)})", ATOM
        binding = INFIX[operation]
        # What is on the right binds tighter, as in a - (b - c); a < b < c would be read as a chain.
        first = _within(binding + (binding <= LOGIC), *parts[0])
        return SIGNS[operation].format(first, _within(binding + 1, *parts[1])), binding


def _within(binding: int, text: str, own: int) -> str:
    """Return a part of a formula that binds its parts as tightly as `binding`."""
    return text if own >= binding else f"({text})"
