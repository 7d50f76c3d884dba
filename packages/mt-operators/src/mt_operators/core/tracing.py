"""Tracing: run a function once on symbols, and record its graph.

A symbol represents an unknown number. Applying a Python operator or an elementary function to it
adds an expression to the graph, unless it exists there, and returns the symbol of the expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from mt_operators.core.elementary import definition
from mt_operators.core.errors import TracingError
from mt_operators.core.graph import COMPARISONS, Expression, Graph, Number, pruned
from mt_operators.core.infix import Infix
from mt_operators.core.row import Formula

LOGIC = {"logical_and": "and", "logical_or": "or"}
"""The names of `&` and `|` of bools in a graph."""

REWRITES: list[Callable[[str, Sequence[Symbol]], Symbol | None]] = []
"""Rules that return a simpler symbol of exactly the same value for an operation, or None."""


def trace(name: str, function: Callable[..., Any], arity: int, outputs: int | None = None) -> Graph:
    """Trace a function and return its graph.

    Args:
        name: the function's name for messages.
        function: the function; if it is `dispatched`, its definition is traced.
        arity: the number of its arguments.
        outputs: the length of the tuple that it returns; None if it returns a single number.
    """
    recorder = Recorder(name, arity)
    returned = definition(function)(*recorder.arguments)
    results = (returned,) if outputs is None else returned
    if not isinstance(results, tuple) or len(results) != (outputs or 1):
        raise TracingError(
            f"formula {name!r} should return {outputs} value(s) but returned {returned!r}."
        )
    return recorder.graph(results)


def graph_of(formula: Formula) -> Graph:
    """Return the graph of a formula, which is traced once and then cached."""
    graph: Graph | None = formula.cache.get("graph")
    if graph is None:
        outputs = formula.outputs if formula.outputs > 1 else None
        graph = trace(formula.name, formula.function, formula.arity, outputs)
        formula.cache["graph"] = graph
    return graph


def drop_unused(formula: Formula, always: Iterable[int] = (0,)) -> tuple[Formula, tuple[int, ...]]:
    """Remove unused arguments of a formula; return the new formula and the indices kept.

    Arguments in `always` are kept, since a result takes its number of elements from an argument.
    """
    reads = tuple(sorted({*always, *graph_of(formula).reads}))
    indices = [reads.index(i) if i in reads else None for i in range(formula.arity)]

    def reading(*operands: Any) -> Any:
        return formula.function(*[0.0 if i is None else operands[i] for i in indices])

    names = [formula.parameters[i] for i in reads]
    return Formula(formula.name, len(reads), formula.outputs, reading, names), reads


class Recorder:
    """Record the expressions of a function that is traced, without duplicates."""

    def __init__(self, name: str, arity: int) -> None:
        self.name = name
        self.expressions: list[Expression] = []
        self._positions: dict[Any, int] = {}
        self.arguments = [self.record("argument", number=i) for i in range(arity)]

    def graph(self, results: Sequence[Any]) -> Graph:
        """Return the graph with these results."""
        outputs = [self.symbol(result).position for result in results]
        return pruned(self.expressions, outputs, len(self.arguments))

    def record(
        self,
        operation: str,
        operands: Sequence[Symbol] = (),
        number: Number = 0,
        is_bool: bool = False,
    ) -> Symbol:
        """Add an expression if it is new, and return its symbol."""
        # Distinguish 0.0 from -0.0, and recognize nan, which differs from itself.
        value = float.hex(number) if isinstance(number, float) else number
        positions = tuple([operand.position for operand in operands])
        key = (operation, positions, value)
        position = self._positions.setdefault(key, len(self.expressions))
        if position == len(self.expressions):
            self.expressions.append(Expression(operation, positions, number, is_bool))
        return Symbol(self, position)

    def refuse(self, problem: str, fix: str) -> NoReturn:
        """Raise TracingError with the name of the formula, a problem and its fix."""
        raise TracingError(f"formula {self.name!r} {problem}, so it cannot be compiled; {fix}.")

    def symbol(self, value: Any) -> Symbol:
        """Convert a value to a symbol."""
        if isinstance(value, Symbol):
            return value
        if not isinstance(value, Number):
            self.refuse(
                f"computes with {value!r} of type {type(value).__name__}",
                "use plain numbers and the functions of mt_operators.functions",
            )
        large = isinstance(value, int) and abs(value) > 2**53  # exact as an int only
        return self.record("constant", number=value if large else float(value))

    def as_number(self, value: Any) -> Symbol:
        """Convert a value to a number: True to 1, and False to 0."""
        symbol = self.symbol(value)
        return self.choice(symbol, 1.0, 0.0) if symbol.expression.is_bool else symbol

    def as_bool(self, value: Any) -> Symbol:
        """Convert a value to a bool: whether it is not zero."""
        symbol = self.symbol(value)
        return symbol if symbol.expression.is_bool else self.operation("ne", symbol, 0.0)

    def operation(self, name: str, *values: Any) -> Symbol:
        """Record an operation on numbers; equality also compares bools."""
        symbols = [self.symbol(value) for value in values]
        if name not in ("eq", "ne") or not all(symbol.expression.is_bool for symbol in symbols):
            symbols = [self.as_number(symbol) for symbol in symbols]
        return self._simplified(name, symbols, is_bool=name in COMPARISONS)

    def logic(self, name: str, *values: Any) -> Symbol:
        """Record `&` or `|` of bools; arguments of the traced function may be bools."""
        for value in values:
            symbol = self.symbol(value)
            if not symbol.expression.is_bool and symbol.position >= len(self.arguments):
                self.refuse(
                    f"combines numbers with {'&' if name == 'and' else '|'}",
                    "combine comparisons: (x != 0) & (y != 0)",
                )
        return self.record(name, [self.as_bool(value) for value in values], is_bool=True)

    def choice(self, condition: Any, if_true: Any, if_false: Any) -> Symbol:
        """Record a selection between two numbers or two bools."""
        if not isinstance(condition, Symbol):
            return self.symbol(if_true if condition else if_false)
        sides = [self.symbol(if_true), self.symbol(if_false)]
        is_bool = all(side.expression.is_bool for side in sides)
        if not is_bool:
            sides = [self.as_number(side) for side in sides]
        return self._simplified("where", [self.as_bool(condition), *sides], is_bool)

    def _simplified(self, name: str, operands: Sequence[Symbol], is_bool: bool) -> Symbol:
        for rewrite in REWRITES:
            simpler = rewrite(name, operands)
            if simpler is not None:
                return simpler
        return self.record(name, operands, is_bool=is_bool)


def _refusal(problem: str, fix: str) -> Callable[..., Any]:
    """Return a method of Symbol that raises TracingError."""

    def method(self: Symbol, *_: Any) -> NoReturn:
        self.recorder.refuse(problem, fix)

    return method


class Symbol(Infix):
    """An unknown number that records the operators applied to it."""

    __slots__ = ("position", "recorder")

    def __init__(self, recorder: Recorder, position: int) -> None:
        self.recorder = recorder
        self.position = position

    def __repr__(self) -> str:
        return f"<symbol e{self.position}>"

    @property
    def expression(self) -> Expression:
        """The expression in the graph."""
        return self.recorder.expressions[self.position]

    def __operator__(self, name: str, operands: tuple[Any, ...]) -> Symbol:
        """Record an operator."""
        if name == "where":
            return self.recorder.choice(*operands)
        if name in LOGIC:
            return self.recorder.logic(LOGIC[name], *operands)
        return self.recorder.operation(name, *operands)

    __hash__ = None  # type: ignore[assignment]  # == records a comparison

    def __pos__(self) -> Symbol:
        return self.recorder.as_number(self)

    __bool__ = _refusal(
        "branches on a value (if, and, or, not, a chained comparison)",
        "use where(condition, if_true, if_false), and combine conditions with & and |",
    )
    __float__ = _refusal(
        "converts a value to float, as the functions of math do",
        "use the functions of mt_operators.functions",
    )
    __index__ = _refusal(
        "converts a value to an integer", "use arithmetic and elementary functions only"
    )
    _ambiguous = _refusal(
        "uses an operator that differs between floats and kernels (//, %, ~, ^, <<, >>, round(), "
        "int(), ...)",
        "call floor_divide(x, y) and similar functions of mt_operators.functions",
    )
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _ambiguous
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _ambiguous
    __invert__ = __round__ = __trunc__ = __floor__ = __ceil__ = __int__ = _ambiguous
