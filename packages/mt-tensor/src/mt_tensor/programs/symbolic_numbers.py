"""Numbers of an optimizer that differ at each step: its rate, counts and averages of plain numbers.

While a program is recorded, such a number is replaced, during a step of the optimizer only, by one
that remembers how it is computed. So the program computes it anew, from what it is by then. A
comparison is answered, and becomes a guard of the program, which holds for numbers that give the
same answers. Where the value itself is needed, as an index or by `math`, the guard is that value.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mt_tensor.core.dtypes import NumberLike
from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.pytree import leaves_in, map_leaves
from mt_tensor.programs.snapshot import Place, Snapshot, same

Guards = list[tuple[str, bool]]
"""Questions about numbers, in Python, and their answers."""


class Varying(NumberLike):
    """A number, and how it is computed.

    Attributes:
        value: the number while the program is recorded.
        text: how it is computed, in Python, of names that a program knows.
        guards: what the program depends on; one list for all numbers of a program.
    """

    __slots__ = ("guards", "text", "value")

    def __init__(self, value: Any, text: str, guards: Guards) -> None:
        self.value = value
        self.text = text
        self.guards = guards

    def fixed(self) -> Any:
        """Return the value; the program is for this number only."""
        self.guards.append((f"(repr({self.text}) == {repr(self.value)!r})", True))
        return self.value

    def __bool__(self) -> bool:
        self.guards.append((f"bool({self.text})", bool(self.value)))
        return bool(self.value)

    def _like(self, value: Any, text: str) -> Varying:
        return Varying(value, text, self.guards)

    def _with(
        self, name: str, other: Any, compute: Callable[[Any, Any], Any], swapped: bool
    ) -> Any:
        """Return what an operator of Python makes of this number and another."""
        known = _read(other)
        if known is None:
            return NotImplemented
        value, text = known
        if swapped:
            return self._like(compute(value, self.value), f"({text} {name} {self.text})")
        return self._like(compute(self.value, value), f"({self.text} {name} {text})")

    def beside(self, tensor: Tensor) -> Tensor:
        """Return the number as a tensor beside another, of that one's dtype."""
        varies = tensor.is_floating_point() and not tensor.dtype.is_narrow
        return tensor._full((), self if varies else self.fixed())  # type: ignore[arg-type]

    def __neg__(self) -> Varying:
        return self._like(-self.value, f"(-{self.text})")

    def __pos__(self) -> Varying:
        return self

    def __abs__(self) -> Varying:
        return self._like(abs(self.value), f"abs({self.text})")


def _read(number: Any) -> tuple[Any, str] | None:
    """Return a number and its text; None if it is no number."""
    if isinstance(number, Varying):
        return number.value, number.text
    if number.__class__ not in (bool, int, float):
        return None
    finite = number - number == 0
    return number, f"({number!r})" if finite else f"float('{number!r}')"


def _fix(method: str) -> None:
    def fixed(self: Varying, *arguments: Any) -> Any:
        return getattr(self.fixed(), method)(*arguments)

    setattr(Varying, method, fixed)


def _compare(method: str, name: str, compute: Callable[[Any, Any], bool]) -> None:
    def compared(self: Varying, other: Any) -> Any:
        known = _read(other)
        if known is None:
            return NotImplemented
        answer = compute(self.value, known[0])
        self.guards.append((f"({self.text} {name} {known[1]})", answer))
        return answer

    setattr(Varying, method, compared)


def _give(method: str, name: str, compute: Callable[[Any, Any], Any]) -> None:
    def forward(self: Varying, other: Any) -> Any:
        if isinstance(other, Tensor):
            return compute(self.beside(other), other)
        return self._with(name, other, compute, False)

    def backward(self: Varying, other: Any) -> Any:
        if isinstance(other, Tensor):
            return compute(other, self.beside(other))
        return self._with(name, other, compute, True)

    setattr(Varying, f"__{method}__", forward)
    setattr(Varying, f"__r{method}__", backward)


for _method in (
    *("float", "int", "index", "complex", "hash", "str", "repr", "format"),
    *("round", "trunc", "floor", "ceil"),
):
    _fix(f"__{_method}__")
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
    _compare(f"__{_method}__", _name, _compute)


def is_numbers(value: Any) -> bool:
    """Whether something is a number, or a tuple of numbers."""
    if isinstance(value, tuple):
        return bool(value) and all(type(x) in (int, float) for x in value)
    return type(value) in (int, float)


def plain(value: Any) -> Any:
    """Return the values of numbers that vary, also in containers, and anything else as it is."""
    return map_leaves(value, lambda x: x.value if isinstance(x, Varying) else x)


class Numbers:
    """The numbers of optimizers that a program takes as inputs, and what becomes of them.

    Attributes:
        guards: what the program depends on.
        taken: the places of the numbers, by `Place.id`, with what lay there before the call.
        now: what lies there since the last step, as `Varying` numbers.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.guards: Guards = []
        self.taken: dict[Any, tuple[Place, Any]] = {}
        self.now: dict[Any, Any] = {}
        self._before = {place.id: value for place, value in snapshot.places if is_numbers(value)}
        self._count = itertools.count(1)

    @contextmanager
    def varying(self, optimizer: Any) -> Iterator[None]:
        """Replace the numbers in the groups and states of an optimizer inside a `with` block."""
        for place in _places_of(optimizer):
            key, value = place.id, place.get()
            if key not in self.taken and key in self._before and same(value, self._before[key]):
                several = isinstance(value, tuple)
                marks = tuple(
                    [
                        Varying(each, f"n{next(self._count)}", self.guards)
                        for each in (value if several else (value,))
                    ]
                )
                self.taken[key] = place, value
                self.now[key] = marks if several else marks[0]
            if key in self.taken and same(value, plain(self.now[key])):
                place.set(self.now[key])
        try:
            yield
        finally:
            for place in _places_of(optimizer):
                value = place.get()
                if place.id in self.taken:
                    self.now[place.id] = value
                if any(isinstance(leaf, Varying) for leaf in leaves_in(value)):
                    place.set(plain(value))

    def stored(self) -> list[tuple[Place, Any]] | None:
        """Return the places of other numbers than before; None if a step did not store them."""
        stored = []
        for key, (place, before) in self.taken.items():
            now = self.now[key]
            if not same(place.get(), plain(now)):
                return None
            if not same(plain(now), before):
                stored.append((place, now))
        return stored


def _places_of(optimizer: Any) -> list[Place]:
    """Return the places of the settings and states of an optimizer."""
    holders = (*optimizer.param_groups, *optimizer.state.values())
    return [Place(each, key, True) for each in holders for key in each if key != "params"]
