"""Readable formulas of operators, in Python's notation.

>>> from mt_operators import OPERATORS
>>> value_formula(OPERATORS["softplus"])
'maximum(x, 0) + log1p(exp(-abs(x)))'
>>> partial_formulas(OPERATORS["div"])
('1 / y', '-(out / y)')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from mt_operators.core.graph import PYTHON, Graph
from mt_operators.core.row import Operator
from mt_operators.core.tracing import graph_of, trace

COMPARISON, LOGIC, SUM, PRODUCT, ATOM = range(5)
"""Levels of operator precedence; a part with a lower level is put in parentheses."""

INFIX = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), COMPARISON),
    **dict.fromkeys(("and", "or"), LOGIC),
    **dict.fromkeys(("add", "sub"), SUM),
    **dict.fromkeys(("mul", "div", "floor_divide"), PRODUCT),
}
"""The precedence of the operations that are written between their operands."""

SIGNS = {**PYTHON, "div": "{0} / {1}", "floor_divide": "{0} // {1}"}

MAX_LENGTH = 600
"""The longest formula, in characters, that is written on one line."""

DIGITS = 6
"""The number of significant digits of constants."""


def value_formula(operator: Operator) -> str:
    """Return the value of an operator as a formula of its arguments."""
    return formula_of(graph_of(operator.value), operator.parameters)


def partial_formulas(operator: Operator) -> tuple[str, ...]:
    """Return the partial derivatives as formulas of the arguments and the output, `out`."""
    names = (*operator.parameters, "out")
    return tuple(
        formula_of(trace(operator.name, partial, len(names)), names)
        for partial in operator.partials
    )


def formula_of(graph: Graph, names: Sequence[str]) -> str:
    """Return the formula of a graph with one output, with the given argument names.

    A formula that is too long is split: earlier lines name the parts that it uses more than once.
    """
    writer = _Writer(graph, names, shared=())
    if writer.length <= MAX_LENGTH:
        return writer.text()
    uses = Counter(i for expression in graph.expressions for i in expression.operands)
    shared = [i for i, count in uses.items() if count > 1 and graph.expressions[i].operands]
    return _Writer(graph, names, shared).text()


class _Writer:
    """The writer of formulas of a graph's expressions.

    The expressions at the positions `shared` get the names t0, t1, ...
    """

    def __init__(self, graph: Graph, names: Sequence[str], shared: Collection[int]) -> None:
        self._graph = graph
        self._arguments = names
        self._names = {position: f"t{i}" for i, position in enumerate(sorted(shared))}
        lengths: list[int] = []  # upper bounds; written formulas could grow exponentially
        for expression in graph.expressions:
            parts = [lengths[i] for i in expression.operands]
            lengths.append(sum(parts) + len(expression.operation) + 4 * len(parts))
        self.length = lengths[graph.outputs[0]]

    def text(self) -> str:
        """Return the lines of the formula."""
        (output,) = self._graph.outputs
        lines = [f"{name} = {self._text_of(position)[0]}" for position, name in self._names.items()]
        return "\n".join((*lines, self._part(output)[0]))

    def _part(self, position: int) -> tuple[str, int]:
        """Return an expression, or its name, and its precedence."""
        name = self._names.get(position)
        return self._text_of(position) if name is None else (name, ATOM)

    def _text_of(self, position: int) -> tuple[str, int]:
        """Return an expression and its precedence."""
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
        # The right side needs a higher level, as in a - (b - c); a < b < c would be a chain.
        first = _within(binding + (binding <= LOGIC), *parts[0])
        return SIGNS[operation].format(first, _within(binding + 1, *parts[1])), binding


def _within(binding: int, text: str, precedence: int) -> str:
    """Return a part of a formula, in parentheses if its precedence is below `binding`."""
    return text if precedence >= binding else f"({text})"
