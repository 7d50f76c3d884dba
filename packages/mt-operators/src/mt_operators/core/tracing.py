"""Tracing: run a function once on symbols, and keep the graph of what it computes.

Here the last files meet: functions that ask (`elementary.py`, `infix.py`), and a graph that holds
what they asked for. A
symbol stands for a number that is not known yet. Asked for an operator, by Python's or by a
function of `core/elementary.py`, it answers with the symbol of the result, and the expression
is entered into the graph, once however often it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from mt_operators.core.elementary import composition
from mt_operators.core.errors import TracingError
from mt_operators.core.graph import COMPARISONS, Expression, Graph, Number, pruned
from mt_operators.core.simplification import Term, simpler, simpler_choice


def trace(
    name: str,
    function: Callable[..., Any],
    arity: int,
    outputs: int | None = None,
) -> Graph:
    """Return the graph of what a function computes from its arguments.

    A function that asks its operands is one operation where another calls it. What it computes
    itself is traced here, unless it is elementary.

    Args:
        name: what errors call it.
        function: the function.
        arity: how many numbers it takes.
        outputs: how many it returns in a tuple; None if it returns one, bare.

    Raises:
        TracingError: it branches on a value, uses an operation that kernels do not have, or returns
            something else than its numbers.
    """
    recorder = Recorder(name, arity)
    returned = composition(function)(*recorder.arguments)
    results = (returned,) if outputs is None else returned
    if not isinstance(results, tuple) or len(results) != (outputs or 1):
        raise TracingError(
            f"formula {name!r} should return {outputs} value(s) but returned {returned!r}."
        )
    return recorder.graph(results)


class Recorder:
    """The expressions of one tracing, each of them once.

    Attributes:
        arguments: the symbols of the arguments.
        expressions: what has been recorded, an expression after those of its operands.
    """

    def __init__(self, name: str, arity: int) -> None:
        self.name = name
        self.expressions: list[Expression] = []
        self._positions: dict[Any, int] = {}
        self.arguments = [self.record("argument", number=i) for i in range(arity)]

    def graph(self, results: Sequence[Any]) -> Graph:
        """Return the graph of some values that have been computed."""
        outputs = [self.symbol(result).position for result in results]
        return pruned(self.expressions, outputs, len(self.arguments))

    def record(
        self,
        operation: str,
        operands: tuple[Symbol, ...] = (),
        number: Number = 0,
        truth: bool = False,
    ) -> Symbol:
        """Return the symbol of an expression, which is entered if it is new."""
        # Equal numbers may differ: 0.0 and -0.0 do, and nan equals nothing.
        value = float.hex(number) if isinstance(number, float) else number
        positions = tuple([operand.position for operand in operands])
        key = (operation, positions, value)
        position = self._positions.setdefault(key, len(self.expressions))
        if position == len(self.expressions):
            self.expressions.append(Expression(operation, positions, number, truth))
        return Symbol(self, position)

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Raise for something that no graph can hold."""
        raise TracingError(
            f"formula {self.name!r} {what}, so that no kernel can be written for it; {instead}."
        )

    def symbol(self, value: Any) -> Symbol:
        """Return a value of the formula as a symbol."""
        if isinstance(value, Symbol):
            return value
        if not isinstance(value, Number):
            self.refuse(
                f"computes with {value!r} of type {type(value).__name__}",
                "use plain numbers and the functions of mt_operators.core.elementary",
            )
        whole = isinstance(value, int) and abs(value) > 2**53  # exact as an int only
        return self.record("constant", number=value if whole else float(value))

    def number(self, value: Any) -> Symbol:
        """Return a value as a number: 1 for true and 0 for false."""
        symbol = self.symbol(value)
        return self.choice(symbol, 1.0, 0.0) if symbol.expression.truth else symbol

    def truth(self, value: Any) -> Symbol:
        """Return a value as a truth value: whether it is not zero."""
        symbol = self.symbol(value)
        return symbol if symbol.expression.truth else self.operation("ne", symbol, 0.0)

    def operation(self, name: str, *values: Any) -> Symbol:
        """Record an operation on numbers, unless what it yields is known exactly.

        Only equality compares truth values too.
        """
        symbols = [self.symbol(value) for value in values]
        if name in ("eq", "ne") and all(symbol.expression.truth for symbol in symbols):
            return self.record(name, tuple(symbols), truth=True)
        operands = tuple([self.number(symbol) for symbol in symbols])
        same = simpler(name, *operands)
        return self.record(name, operands, truth=name in COMPARISONS) if same is None else same

    def logic(self, name: str, *values: Any) -> Symbol:
        """Record `&` or `|` of truth values, which arguments may be."""
        for value in values:
            symbol = self.symbol(value)
            if not symbol.expression.truth and symbol.position >= len(self.arguments):
                self.refuse(
                    f"joins numbers with {'&' if name == 'and' else '|'}",
                    "join comparisons: (x != 0) & (y != 0)",
                )
        return self.record(name, tuple(map(self.truth, values)), truth=True)

    def choice(self, condition: Any, if_true: Any, if_false: Any) -> Symbol:
        """Record a choice. Both sides are numbers, or both are truth values."""
        if not isinstance(condition, Symbol):
            return self.symbol(if_true if condition else if_false)
        sides = [self.symbol(if_true), self.symbol(if_false)]
        truth = all(side.expression.truth for side in sides)
        if not truth:
            sides = [self.number(side) for side in sides]
        operands = (self.truth(condition), *sides)
        same = simpler_choice(*operands)
        return self.record("where", operands, truth=truth) if same is None else same


LOGIC = {"logical_and": "and", "logical_or": "or"}
"""What `&` and `|` of truth values are called in a graph."""


class Symbol(Term):
    """A number that is not known yet; what is done with it is recorded."""

    __slots__ = ("position", "recorder")

    def __init__(self, recorder: Recorder, position: int) -> None:
        self.recorder = recorder
        self.position = position

    def __repr__(self) -> str:
        """Show the expression's name in the printed graph."""
        return f"<symbol e{self.position}>"

    @property
    def expression(self) -> Expression:
        """What it stands for."""
        return self.recorder.expressions[self.position]

    @property
    def operation(self) -> str:
        """What it comes from."""
        return self.expression.operation

    @property
    def operands(self) -> tuple[Symbol, ...]:
        """What the operation was applied to."""
        return tuple([Symbol(self.recorder, position) for position in self.expression.operands])

    @property
    def constant(self) -> Number | None:
        """Its value, if that is known."""
        expression = self.expression
        return expression.number if expression.operation == "constant" else None

    def is_same(self, other: Symbol) -> bool:
        """Whether both are one expression."""
        return self.position == other.position

    def __operator__(self, name: str, operands: tuple[Any, ...]) -> Symbol:
        """Record an operator."""
        if name == "where":
            return self.recorder.choice(*operands)
        if name in LOGIC:
            return self.recorder.logic(LOGIC[name], *operands)
        return self.recorder.operation(name, *operands)

    __hash__ = None  # type: ignore[assignment]  # == records a comparison

    def __pos__(self) -> Symbol:
        return self.recorder.number(self)

    # --- What needs a value, and there is none --------------------------------------------------

    def __bool__(self) -> bool:  # noqa: PLE0304 - it raises
        self.recorder.refuse(
            "branches on a value (if, and, or, not, a chained comparison)",
            "choose with where(condition, if_true, if_false), and join conditions with & and |",
        )

    def __float__(self) -> float:
        self.recorder.refuse(
            "asks for the value of a float, as the functions of math do",
            "use the functions of mt_operators.core.elementary",
        )

    def __index__(self) -> int:  # noqa: PLE0305 - it raises
        self.recorder.refuse(
            "asks for the value of an integer", "use arithmetic and elementary functions only"
        )

    def _unknown(self, *_: Any) -> NoReturn:
        self.recorder.refuse(
            "uses an operator that does not mean the same on floats and in kernels (//, %, ~, ^, "
            "<<, >>, round(), int(), ...)",
            "call floor_divide(x, y) and the like of mt_operators.core.elementary",
        )

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _unknown
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _unknown
    __invert__ = __round__ = __trunc__ = __floor__ = __ceil__ = __int__ = _unknown
