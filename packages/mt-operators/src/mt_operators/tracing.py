"""Tracing: run a formula once on symbols, and keep the expressions that it computes.

A compiler needs to *see* a formula, and the operator table holds Python functions. So the formula
is lifted with elementary functions that compute nothing and write down what they were asked for,
and is run once on symbolic arguments. What comes out is a `Graph`: the arguments, the constants and
each operation on them, every expression once however often it is used.

    >>> from mt_operators import OPERATORS
    >>> print(trace(OPERATORS["tanh"].gradient((True,))))
    e0 = argument 0
    e1 = argument 1
    e2 = argument 2
    e3 = mul e2 e2
    e4 = 1.0
    e5 = sub e4 e3
    e6 = mul e0 e5
    return e6

The graph knows nothing of element types or machines. Later stages write it down: as calls of NumPy
(`mt_tensor.backends.numpy.source`), as the statements of a kernel for a CPU or a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from mt_operators.elementary import ELEMENTARY
from mt_operators.errors import TracingError
from mt_operators.formula import Formula
from mt_operators.lifting import NAMED, lift
from mt_operators.table import OPERATORS

Number = bool | int | float

ARITHMETIC = ("add", "sub", "mul", "neg", "abs")
"""Operations that come from Python's operators and yield numbers."""

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

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
"""Operations that come from Python's operators and yield truth values."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One value of a graph.

    Attributes:
        operation: `"argument"`, `"constant"`, an arithmetic operation, comparison or logic of this
            module, or the name of an elementary function.
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


def trace(formula: Formula, atomic: Collection[str] = ()) -> Graph:
    """Return the expressions that a formula computes from its arguments.

    Args:
        formula: what to run on symbols.
        atomic: operators of the table that are to be one expression where the formula uses them,
            or is one of them, instead of those that they are written with.

    Raises:
        TracingError: the formula branches on a value, uses an operation that kernels do not have,
            or returns something else than its numbers.
    """
    recorder = _Recorder(formula)
    arguments = [recorder.record("argument", number=i) for i in range(formula.arity)]
    spelling = recorder.spelling(atomic)
    name = NAMED.get(formula.function, "")
    function = spelling[name] if name in atomic else lift(formula.function, spelling)
    returned = function(*arguments)
    results = (returned,) if formula.outputs == 1 else returned
    if not isinstance(results, tuple) or len(results) != formula.outputs:
        raise TracingError(
            f"formula {formula.name!r} should return {formula.outputs} value(s) but returned "
            f"{returned!r}."
        )
    outputs = tuple(recorder.symbol(result).position for result in results)
    return _pruned(formula.arity, recorder.expressions, outputs)


def narrowed(formula: Formula) -> tuple[Formula, tuple[int, ...]]:
    """Return a formula that takes only the arguments that it reads, and which these are.

    A gradient takes the upstream gradient, all arguments of its operator and the output, but seldom
    reads them all: that of a product does not read the output. The first argument stays even if it
    is not read, for a formula without arguments would not say how many elements there are.

    Raises:
        TracingError: as `trace`.
    """
    reads = (0, *(i for i in trace(formula).reads if i > 0))
    places = [reads.index(i) if i in reads else None for i in range(formula.arity)]
    function = formula.function

    def reading(*given: Any) -> Any:
        return function(*[0.0 if place is None else given[place] for place in places])

    return Formula(formula.name, len(reads), formula.outputs, reading), reads


def _pruned(arity: int, expressions: list[Expression], outputs: tuple[int, ...]) -> Graph:
    """Return the graph without what no output needs."""
    needed = set(range(arity))
    waiting = list(outputs)
    while waiting:
        position = waiting.pop()
        if position not in needed:
            needed.add(position)
            waiting.extend(expressions[position].operands)
    moved = {old: new for new, old in enumerate(sorted(needed))}
    kept = tuple(
        Expression(e.operation, tuple(moved[at] for at in e.operands), e.number, e.truth)
        for e in (expressions[old] for old in moved)
    )
    return Graph(arity, kept, tuple(moved[at] for at in outputs))


class _Recorder:
    """The expressions of one tracing, each kept once."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.expressions: list[Expression] = []
        self._positions: dict[Any, int] = {}

    def spelling(self, atomic: Collection[str]) -> dict[str, Callable[..., Any]]:
        """Return elementary functions, and some operators, that record their calls."""
        functions = {**ELEMENTARY, **{name: OPERATORS[name].function for name in atomic}}
        return {name: self._recording(name, known) for name, known in functions.items()}

    def _recording(self, name: str, known: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            if not any(isinstance(value, Symbol) for value in values):
                return known(*values)
            return self.where(*values) if name == "where" else self.apply(name, *values)

        return call

    def record(
        self,
        operation: str,
        operands: tuple[int, ...] = (),
        number: Number = 0,
        truth: bool = False,
    ) -> Symbol:
        """Return the symbol of an expression, which is entered if it is new."""
        # Equal numbers may differ: 0.0 and -0.0 do, and nan equals nothing.
        key = (operation, operands, float.hex(number) if isinstance(number, float) else number)
        position = self._positions.get(key)
        if position is None:
            position = self._positions[key] = len(self.expressions)
            self.expressions.append(Expression(operation, operands, number, truth))
        return Symbol(self, position)

    def expression(self, symbol: Symbol) -> Expression:
        """Return what a symbol stands for."""
        return self.expressions[symbol.position]

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Raise for something that no kernel can be written for."""
        raise TracingError(
            f"formula {self.formula.name!r} {what}, so that no kernel can be written for it; "
            f"{instead}."
        )

    def symbol(self, value: Any) -> Symbol:
        """Return a value of the formula as a symbol."""
        if isinstance(value, Symbol):
            return value
        if not isinstance(value, Number):
            self.refuse(
                f"computes with {value!r} of type {type(value).__name__}",
                "use plain numbers and the functions of mt_operators.elementary",
            )
        whole = isinstance(value, int) and abs(value) > 2**53  # exact as an int only
        return self.record("constant", number=value if whole else float(value))

    def number(self, value: Any) -> Symbol:
        """Return a value as a number: 1 for true and 0 for false."""
        symbol = self.symbol(value)
        return self.where(symbol, 1.0, 0.0) if self.expression(symbol).truth else symbol

    def truth(self, value: Any) -> Symbol:
        """Return a value as a truth value: whether it is not zero."""
        symbol = self.symbol(value)
        return symbol if self.expression(symbol).truth else self.apply("ne", symbol, 0.0)

    def apply(self, operation: str, *values: Any) -> Symbol:
        """Record an operation on numbers, unless what it yields is known exactly."""
        operands = tuple(self.number(value) for value in values)
        same = self._same(operation, operands)
        if same is not None:
            return same
        return self.record(
            operation,
            tuple(operand.position for operand in operands),
            truth=operation in COMPARISONS,
        )

    def logic(self, operation: str, *values: Any) -> Symbol:
        """Record `&` or `|` of truth values."""
        operands = []
        for value in values:
            symbol = self.symbol(value)
            if not self.expression(symbol).truth and symbol.position >= self.formula.arity:
                self.refuse(
                    f"joins numbers with {'&' if operation == 'and' else '|'}",
                    "join comparisons: (x != 0) & (y != 0)",
                )
            operands.append(self.truth(symbol).position)
        return self.record(operation, tuple(operands), truth=True)

    def where(self, condition: Any, if_true: Any, if_false: Any) -> Symbol:
        """Record a choice. Both sides are numbers, or both are truth values."""
        if not isinstance(condition, Symbol):
            return self.symbol(if_true if condition else if_false)
        sides = [self.symbol(if_true), self.symbol(if_false)]
        truth = all(self.expression(side).truth for side in sides)
        if not truth:
            sides = [self.number(side) for side in sides]
        condition = self.truth(condition)
        sides = [self._decided(condition, side, place) for place, side in enumerate(sides, 1)]
        if sides[0].position == sides[1].position:
            return sides[0]
        gate = self._gate(condition)
        if gate is not None:
            passed, otherwise = self._beyond(gate, sides[1]), sides[0]
            open_first = (passed, otherwise) if gate.opens else (otherwise, passed)
            return self.where(gate.condition, *open_first)
        operands = (condition, *sides)
        return self.record("where", tuple(o.position for o in operands), truth=truth)

    def _decided(self, condition: Symbol, side: Symbol, place: int) -> Symbol:
        """Return what is left of a side that is chosen by the same condition once more."""
        found = self.expression(side)
        while found.operation == "where" and found.operands[0] == condition.position:
            side = Symbol(self, found.operands[place])
            found = self.expression(side)
        return side

    def _gate(self, condition: Symbol) -> _Gate | None:
        """Return what decides whether a slope is 0, if there is nothing else to the slope.

        The condition is that `where(gate, slope, 0)` is 0, as in `mt_operators.formula.gated`.
        """
        asked = self.expression(condition)
        if asked.operation != "eq" or self._constant(Symbol(self, asked.operands[1])) != 0.0:
            return None
        slope = self.expressions[asked.operands[0]]
        if slope.operation != "where":
            return None
        gate, *slopes = (Symbol(self, at) for at in slope.operands)
        known = [self._constant(side) for side in slopes]
        if None in known or known.count(0.0) != 1:
            return None
        return _Gate(gate, opens=known[1] == 0.0)

    def _beyond(self, gate: _Gate, product: Symbol) -> Symbol:
        """Return a product as it is where a gate is open: there `x * where(gate, 1, 0)` is `x`."""
        found = self.expression(product)
        if found.operation == "mul":
            factor = self.expressions[found.operands[1]]
            if factor.operation == "where" and factor.operands[0] == gate.condition.position:
                left, slope = found.operands[0], factor.operands[1 if gate.opens else 2]
                return self.apply("mul", Symbol(self, slope), Symbol(self, left))
        return product

    def _constant(self, symbol: Symbol) -> Number | None:
        expression = self.expression(symbol)
        return expression.number if expression.operation == "constant" else None

    def _same_of_one(self, operation: str, operand: Expression) -> Symbol | None:
        """Return the simpler symbol for an operation on one number."""
        inner = [Symbol(self, at) for at in operand.operands]
        if operand.operation == "neg" and operation in ("neg", "abs"):
            return inner[0] if operation == "neg" else self.apply("abs", *inner)
        if operand.operation == "where" and operation == "neg":
            condition, *sides = inner
            numbers = [self._constant(side) for side in sides]
            if None not in numbers:
                return self.where(condition, *(-number for number in numbers if number is not None))
        return None

    def _same(self, operation: str, operands: tuple[Symbol, ...]) -> Symbol | None:
        """Return the simpler symbol with exactly this value, nan and signed zeros included."""
        if len(operands) == 1:
            return self._same_of_one(operation, self.expression(operands[0]))
        if len(operands) != 2:
            return None
        left, right = operands
        a, b = self._constant(left), self._constant(right)
        if operation == "mul":
            if a == 1.0:
                return right
            if a == -1.0:
                return self.apply("neg", right)
            if b == -1.0:
                return self.apply("neg", left)
        if operation in ("mul", "div") and b == 1.0:
            return left
        if operation == "sub" and b == 0.0 and math.copysign(1.0, b) > 0.0:
            return left
        return None


@dataclass(frozen=True, slots=True)
class _Gate:
    """What decides whether a gradient passes: a condition, and whether it must hold or must not."""

    condition: Symbol
    opens: bool


class Symbol:
    """A value that is not known yet; Python's operators on it are recorded."""

    __slots__ = ("_recorder", "position")

    __hash__ = None  # type: ignore[assignment]  # == records a comparison

    def __init__(self, recorder: _Recorder, position: int) -> None:
        self._recorder = recorder
        self.position = position

    def __repr__(self) -> str:
        """Show the expression's name in the printed graph."""
        return f"<symbol e{self.position}>"

    # --- Arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Symbol:
        return self._recorder.apply("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self._recorder.apply("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return self._recorder.apply("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._recorder.apply("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return self._recorder.apply("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return self._recorder.apply("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return self._recorder.apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._recorder.apply("div", other, self)

    def __pow__(self, other: Any) -> Symbol:
        return self._recorder.apply("pow", self, other)

    def __rpow__(self, other: Any) -> Symbol:
        return self._recorder.apply("pow", other, self)

    def __neg__(self) -> Symbol:
        return self._recorder.apply("neg", self)

    def __pos__(self) -> Symbol:
        return self._recorder.number(self)

    def __abs__(self) -> Symbol:
        return self._recorder.apply("abs", self)

    # --- Comparisons and logic ------------------------------------------------------------------

    def __lt__(self, other: Any) -> Symbol:
        return self._recorder.apply("lt", self, other)

    def __le__(self, other: Any) -> Symbol:
        return self._recorder.apply("le", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return self._recorder.apply("gt", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return self._recorder.apply("ge", self, other)

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return self._recorder.apply("eq", self, other)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return self._recorder.apply("ne", self, other)

    def __and__(self, other: Any) -> Symbol:
        return self._recorder.logic("and", self, other)

    def __rand__(self, other: Any) -> Symbol:
        return self._recorder.logic("and", other, self)

    def __or__(self, other: Any) -> Symbol:
        return self._recorder.logic("or", self, other)

    def __ror__(self, other: Any) -> Symbol:
        return self._recorder.logic("or", other, self)

    # --- What needs a value, and there is none --------------------------------------------------

    def __bool__(self) -> bool:  # noqa: PLE0304 - it raises
        self._recorder.refuse(
            "branches on a value (if, and, or, not, a chained comparison)",
            "choose with where(condition, if_true, if_false), and join conditions with & and |",
        )

    def __float__(self) -> float:
        self._recorder.refuse(
            "asks for the value of a float, as the functions of math do",
            "use the functions of mt_operators.elementary",
        )

    def __index__(self) -> int:  # noqa: PLE0305 - it raises
        self._recorder.refuse(
            "asks for the value of an integer", "use arithmetic and elementary functions only"
        )

    def _unknown(self, *_: Any) -> NoReturn:
        self._recorder.refuse(
            "uses an operator that kernels do not have (//, %, ~, ^, <<, >>, ...)",
            "write it with arithmetic, comparisons, & and |, and mt_operators.elementary",
        )

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _unknown
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _unknown
    __invert__ = __round__ = __trunc__ = __floor__ = __ceil__ = __int__ = _unknown
