"""Lifting to text: an operator's source as a formula that people read.

The shortest example of lifting. The arguments are names, the elementary functions write down that
they were called, and so what the source returns is its own formula:

    >>> from mt_operators import OPERATORS
    >>> written(OPERATORS["softplus"])
    'maximum(x, 0) + log1p(exp(-abs(x)))'
    >>> written_partials(OPERATORS["div"])
    ('1 / y', '-(out / y)')
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from types import FunctionType
from typing import Any

from mt_operators.elementary import ELEMENTARY
from mt_operators.formula import Operator, Source
from mt_operators.lifting import NAMED, Lifting, lift

COMPARISON, LOGIC, SUM, PRODUCT, ATOM = range(5)
"""How tightly a formula binds its parts; a part that binds less is put in parentheses."""

LONGEST = 600
"""How many characters people read; in a longer formula the functions it calls are only named."""

DIGITS = 6
"""To how many digits plain numbers are rounded."""


def written(operator: Operator) -> str:
    """Return the value of an operator as a formula of its arguments."""
    return formula_of(operator.function, operator.parameters)


def written_partials(operator: Operator) -> tuple[str, ...]:
    """Return the partial derivatives as formulas of the arguments and the output, `out`."""
    names = (*operator.parameters, "out")
    return tuple(formula_of(partial, names) for partial in operator.partials)


def formula_of(source: Source, names: tuple[str, ...]) -> str:
    """Return what a source computes as a formula of arguments with these names.

    Raises:
        LiftingError: it cannot be lifted.
        TypeError: it does with its arguments what cannot be written, or returns no number.
    """
    for name in NAMED.values():
        if name not in _SPELLING:
            _SPELLING[name] = _call(name)
    text = _text(lift(source, _SPELLING)(*map(Text, names)))
    if len(text) > LONGEST:
        text = _text(_Outline(_SPELLING).function(source)(*map(Text, names)))  # type: ignore[arg-type]
    return str(text)


class _Outline(Lifting):
    """A lifting of one function, in which others are not written out."""

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, FunctionType) and value.__name__ not in self.spelling:
            return _call(value.__name__)
        return super()._value(name, value)


def _call(name: str) -> Callable[..., Text]:
    def call(*values: Any) -> Text:
        listed = [part for value in values for part in (", ", _text(value))]
        return Text(f"{name}(", *listed[1:], ")")

    return call


_SPELLING: dict[str, Callable[..., Text]] = {
    **{name: _call(name) for name in ELEMENTARY},
    "div": lambda x, y: _join(x, "/", y, PRODUCT),
    "floor_divide": lambda x, y: _join(x, "//", y, PRODUCT),
}
"""The elementary functions, and the operators of the table, as text."""


class Text:
    """A formula; arithmetic and comparisons with it write longer formulas.

    It keeps the parts that it is made of, and is only put together to be shown: a part may occur so
    often that the whole text is of millions of characters.
    """

    __hash__ = None  # type: ignore[assignment]  # == writes a comparison

    def __init__(self, *parts: str | Text, binding: int = ATOM) -> None:
        self.parts = parts
        self.binding = binding
        self._length = sum(map(len, parts))

    def __len__(self) -> int:
        """Return the number of characters."""
        return self._length

    def __str__(self) -> str:
        """Put the text together."""
        return "".join(map(str, self.parts))

    def within(self, binding: int) -> tuple[str | Text, ...]:
        """Return it as parts of a formula that binds its parts as tightly as `binding`."""
        return (self,) if self.binding >= binding else ("(", self, ")")

    def __add__(self, other: Any) -> Text:
        return _join(self, "+", other, SUM)

    def __radd__(self, other: Any) -> Text:
        return _join(other, "+", self, SUM)

    def __sub__(self, other: Any) -> Text:
        return _join(self, "-", other, SUM)

    def __rsub__(self, other: Any) -> Text:
        return _join(other, "-", self, SUM)

    def __mul__(self, other: Any) -> Text:
        return _join(self, "*", other, PRODUCT)

    def __rmul__(self, other: Any) -> Text:
        return _join(other, "*", self, PRODUCT)

    def __truediv__(self, other: Any) -> Text:
        return _join(self, "/", other, PRODUCT)

    def __rtruediv__(self, other: Any) -> Text:
        return _join(other, "/", self, PRODUCT)

    def __neg__(self) -> Text:
        return Text("-", *self.within(ATOM), binding=PRODUCT)

    def __pos__(self) -> Text:
        return self

    def __abs__(self) -> Text:
        return Text("abs(", self, ")")

    def __pow__(self, other: Any) -> Text:
        raise TypeError("it uses **, which is not IEEE 754's power on floats: call pow(x, y).")

    __rpow__ = __pow__

    def __bool__(self) -> bool:
        raise TypeError(
            "it branches on a value (if, and, or, not, a chained comparison): choose with "
            "where(condition, if_true, if_false), and join conditions with & and |."
        )

    def __lt__(self, other: Any) -> Text:
        return _join(self, "<", other, COMPARISON)

    def __le__(self, other: Any) -> Text:
        return _join(self, "<=", other, COMPARISON)

    def __gt__(self, other: Any) -> Text:
        return _join(self, ">", other, COMPARISON)

    def __ge__(self, other: Any) -> Text:
        return _join(self, ">=", other, COMPARISON)

    def __eq__(self, other: object) -> Text:  # type: ignore[override]
        return _join(self, "==", other, COMPARISON)

    def __ne__(self, other: object) -> Text:  # type: ignore[override]
        return _join(self, "!=", other, COMPARISON)

    def __and__(self, other: Any) -> Text:
        return _join(self, "&", other, LOGIC)

    def __rand__(self, other: Any) -> Text:
        return _join(other, "&", self, LOGIC)

    def __or__(self, other: Any) -> Text:
        return _join(self, "|", other, LOGIC)

    def __ror__(self, other: Any) -> Text:
        return _join(other, "|", self, LOGIC)


def _join(left: Any, symbol: str, right: Any, binding: int) -> Text:
    """Write an operation; what is on its right binds tighter, as in `a - (b - c)`."""
    left, right = _text(left), _text(right)
    first = binding + (binding <= LOGIC)  # a < b < c would be read as a chain
    return Text(*left.within(first), f" {symbol} ", *right.within(binding + 1), binding=binding)


def _text(value: Any) -> Text:
    if isinstance(value, Text):
        return value
    if not isinstance(value, Real):
        raise TypeError(f"a value of type {type(value).__name__} stands where a number should.")
    return Text(f"{value:.{DIGITS}g}", binding=PRODUCT if value < 0 else ATOM)
