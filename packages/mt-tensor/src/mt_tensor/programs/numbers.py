"""Numbers of Python that are others at each call, such as a learning rate or a count of steps.

While a function is written down, such a number is replaced by one that remembers how it was
computed. So a program computes it anew, from what it is by then. Who compares it gets an answer,
which a program asks for again; who wants to know which number it is, to use it as an extent, say,
is refused, for that would be frozen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from mt_tensor.core.dtypes import NumberLike
from mt_tensor.core.tensor import Tensor


class Undecided(Exception):  # noqa: N818 - it never reaches users
    """Somebody asked which number a varying one is.

    Attributes:
        origins: where it comes from: keys of what varies.
    """

    def __init__(self, origins: frozenset[Any]) -> None:
        super().__init__("a number that varies was asked which one it is")
        self.origins = origins


class Varying(NumberLike):
    """A number and how it is computed.

    Compared with another number it answers, and the answer is noted: a program is for those numbers
    for which the answers are the same.

    Attributes:
        value: which number it is now.
        text: how it is computed, in Python, of names that a program knows.
        origins: what it is computed from: keys of what varies.
        answers: questions, in Python, and how they were answered; one list for all of a program.
    """

    __slots__ = ("answers", "origins", "text", "value")

    def __init__(
        self,
        value: Any,
        text: str,
        origins: frozenset[Any],
        answers: list[tuple[str, bool]],
    ) -> None:
        self.value = value
        self.text = text
        self.origins = origins
        self.answers = answers

    def _refuse(self, *_: Any) -> NoReturn:
        raise Undecided(self.origins)

    __float__ = __int__ = __index__ = __complex__ = _refuse
    __hash__ = __str__ = __repr__ = __round__ = __trunc__ = _refuse
    __floor__ = __ceil__ = _refuse

    def __format__(self, form: str) -> NoReturn:
        self._refuse()

    def __bool__(self) -> bool:
        self.answers.append((f"bool({self.text})", bool(self.value)))
        return bool(self.value)

    def _like(self, value: Any, text: str, origins: frozenset[Any] | None = None) -> Varying:
        return Varying(value, text, self.origins if origins is None else origins, self.answers)

    def _with(
        self, name: str, other: Any, compute: Callable[[Any, Any], Any], swapped: bool
    ) -> Any:
        """Return what an operator of Python makes of this number and another."""
        known = _read(other)
        if known is None:
            return NotImplemented
        value, text = known
        origins = self.origins | other.origins if isinstance(other, Varying) else self.origins
        if swapped:
            return self._like(compute(value, self.value), f"({text} {name} {self.text})", origins)
        return self._like(compute(self.value, value), f"({self.text} {name} {text})", origins)

    def _beside(self, tensor: Tensor) -> Tensor:
        """Return the number as a tensor beside another, if it takes that one's type."""
        if not tensor.is_floating_point() or tensor.dtype.is_narrow:
            self._refuse()
        return tensor._full((), self)  # type: ignore[arg-type]

    def __neg__(self) -> Varying:
        return self._like(-self.value, f"(-{self.text})")

    def __pos__(self) -> Varying:
        return self

    def __abs__(self) -> Varying:
        return self._like(abs(self.value), f"abs({self.text})")


def _read(number: Any) -> tuple[Any, str] | None:
    """Return a number and how it is written; None if it is none."""
    if isinstance(number, Varying):
        return number.value, number.text
    if number.__class__ not in (bool, int, float):
        return None
    finite = number - number == 0
    return number, f"({number!r})" if finite else f"float('{number!r}')"


def _compare(method: str, name: str, compute: Callable[[Any, Any], bool]) -> None:
    def compared(self: Varying, other: Any) -> Any:
        known = _read(other)
        if known is None:
            return NotImplemented
        answer = compute(self.value, known[0])
        self.answers.append((f"({self.text} {name} {known[1]})", answer))
        return answer

    setattr(Varying, f"__{method}__", compared)


def _give(method: str, name: str, compute: Callable[[Any, Any], Any]) -> None:
    def forward(self: Varying, other: Any) -> Any:
        if isinstance(other, Tensor):
            return compute(self._beside(other), other)
        return self._with(name, other, compute, False)

    def backward(self: Varying, other: Any) -> Any:
        if isinstance(other, Tensor):
            return compute(other, self._beside(other))
        return self._with(name, other, compute, True)

    setattr(Varying, f"__{method}__", forward)
    setattr(Varying, f"__r{method}__", backward)


for _method, _name, _compute in (
    ("add", "+", operator.add),
    ("sub", "-", operator.sub),
    ("mul", "*", operator.mul),
    ("truediv", "/", operator.truediv),
    ("floordiv", "//", operator.floordiv),
    ("mod", "%", operator.mod),
    ("pow", "**", operator.pow),
):
    _give(_method, _name, _compute)
for _method, _name, _compute in (
    ("lt", "<", operator.lt),
    ("le", "<=", operator.le),
    ("gt", ">", operator.gt),
    ("ge", ">=", operator.ge),
    ("eq", "==", operator.eq),
    ("ne", "!=", operator.ne),
):
    _compare(_method, _name, _compute)


def is_numbers(value: Any) -> bool:
    """Whether something is a number, or a tuple of numbers."""
    if isinstance(value, tuple):
        return bool(value) and all(type(x) in (int, float) for x in value)
    return type(value) in (int, float)
